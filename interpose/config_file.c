/* SPDX-License-Identifier: MIT */
/*
 * config_file.c - see config_file.h. The whole file is read into memory; inih splits it into sections, names
 * and values. Lines are handed to inih one by one through `feed_line`, which also knows the line's number
 * (the packaged inih does not tell), keeps long section names whole (inih cuts them at 49 characters), and
 * sees to it that every bad line is said: one that inih neither skipped nor handed back was not `name =
 * value`.
 *
 * inih is linked in, and with a line buffer on the stack it does not allocate.
 * Locking: none. Cost: boot only, some us a line.
 * Read next: rule_parse.c, symbol_map.c.
 */
#include "config.h"
#include "config_file.h"
#include "complain.h"
#include "fmt.h"
#include "glob.h"
#include "rule.h"
#include "symbol_map.h"
#include "textfile.h"

#include <errno.h>
#include <ini.h>
#include <string.h>

enum { FILE_MOST = 1 << 20, LINE_MOST = 1000, WHY_BYTES = 256, PATH_MOST = 4096 };

enum place { PLACE_TOP, PLACE_POOL, PLACE_RULES, PLACE_UNKNOWN };

enum key { KEY_PARENT, KEY_KIND, KEY_SIZE, KEY_OVER };

struct reader {
    config_file *file;
    const char *at; /* next byte of the text */
    unsigned line;  /* number of the line handed out last */
    bool open;      /* that line must come back through take_value */
    bool content;   /* a line that is not empty or a comment has been seen */
    bool rules_seen;
    enum place place;
    config_pool *pool; /* of PLACE_POOL */
};

#define wrong(r, ...) ((r)->file->errors++, complain((r)->file->path, (r)->line, __VA_ARGS__))

/* --- pools ---------------------------------------------------------------------------------------- */

int config_file_pool(const config_file *f, const char *name)
{
    for (unsigned i = 0; i < f->pool_count; i++)
        if (strcmp(f->pools[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool name_ok(struct reader *r, const char *name, size_t length)
{
    if (!length)
        return wrong(r, "pool without a name, expected [pool NAME]"), false;
    if (length > POOL_NAME_MAX)
        return wrong(r, "pool name of %zu characters, expected at most %d", length, POOL_NAME_MAX), false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || strchr("=:;[]", name[i]))
            return wrong(r, "pool name '%.*s' has one of = : ; [ ] or a control character, expected none",
                         (int)length, name),
                   false;
    if (length == 1 && *name == '-')
        return wrong(r, "pool name '-' is taken, it means no pool, expected another name"), false;
    return true;
}

/* A section [pool NAME]: the keys that follow are its. */
static void open_pool(struct reader *r, const char *name, size_t length)
{
    config_file *f = r->file;
    char text[POOL_NAME_MAX + 1] = "";
    r->pool = NULL;
    r->place = PLACE_UNKNOWN; /* its keys are skipped when the section is bad */
    if (!name_ok(r, name, length))
        return;
    memcpy(text, name, length);
    int known = config_file_pool(f, text);
    if (known >= 0)
        return wrong(r, "pool %s is declared in line %u already, expected one section a pool", text,
                     f->pools[known].line);
    if (f->pool_count == CONFIG_POOLS_MAX)
        return wrong(r, "too many pools, expected at most %d", CONFIG_POOLS_MAX);
    r->pool = &f->pools[f->pool_count++];
    *r->pool = (config_pool){.kind = POOL_HEAP, .over = OVER_WARN, .line = r->line};
    memcpy(r->pool->name, text, sizeof text);
    r->place = PLACE_POOL;
}

/* The kinds a process may have; arenas and hunks are for the library's users. */
static bool set_kind(config_pool *p, const char *value)
{
    static const pool_kind kinds[] = {POOL_HEAP, POOL_RETAIL, POOL_CLUMP};
    static const char *const names[] = {"heap", "retail", "clump"};
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0)
            return p->kind = kinds[i], true;
    return false;
}

static bool set_over(config_pool *p, const char *value)
{
    static const char *const names[] = {
        [OVER_WARN] = "warn", [OVER_FAIL] = "fail", [OVER_SPILL] = "spill", [OVER_ABORT] = "abort"};
    for (int i = 0; i < 4; i++)
        if (strcmp(value, names[i]) == 0)
            return p->over = (pool_over)i, true;
    return false;
}

static void set_parent(struct reader *r, const char *value)
{
    size_t length = strlen(value);
    if (!name_ok(r, value, length))
        return;
    if (strcmp(r->pool->name, "Global") == 0)
        return wrong(r, "Global has a parent, expected none: it is the root");
    memcpy(r->pool->parent, value, length + 1);
}

/* limit and size are one key. */
static void take_key(struct reader *r, enum key key, const char *value)
{
    config_pool *p = r->pool;
    if (p->keys & 1u << key)
        return wrong(r, "given twice for pool %s, expected once", p->name);
    p->keys |= 1u << key;
    switch (key) {
    case KEY_PARENT:
        return set_parent(r, value);
    case KEY_KIND:
        if (!set_kind(p, value))
            wrong(r, "unknown kind '%s', expected heap, retail or clump", value);
        return;
    case KEY_SIZE:
        if (!rule_bytes(value, value + strlen(value), &p->size) || !p->size)
            wrong(r, "bad size '%s', expected a number of bytes above 0 with K, M or G", value);
        return;
    case KEY_OVER:
        if (!set_over(p, value))
            wrong(r, "unknown action '%s', expected warn, fail, spill or abort", value);
    }
}

static void take_pool_key(struct reader *r, const char *name, const char *value)
{
    if (strcmp(name, "parent") == 0)
        take_key(r, KEY_PARENT, value);
    else if (strcmp(name, "kind") == 0)
        take_key(r, KEY_KIND, value);
    else if (strcmp(name, "limit") == 0 || strcmp(name, "size") == 0)
        take_key(r, KEY_SIZE, value);
    else if (strcmp(name, "over") == 0)
        take_key(r, KEY_OVER, value);
    else
        wrong(r, "unknown key '%s' of a pool, expected parent, kind, limit, size or over", name);
}

/* --- rules and symbol maps ------------------------------------------------------------------------ */

/* A line of [rules]: its conditions are kept, its pool is looked up when all is read (rules_bind). */
static void take_rule(struct reader *r, const char *name, const char *value)
{
    char why[WHY_BYTES];
    rule parsed, *kept;
    if (strcmp(name, RULE_PASS_NAME) != 0 && !name_ok(r, name, strlen(name)))
        return;
    if (!rule_parse(name, value, &parsed, why, sizeof why))
        return wrong(r, "%s", why);
    parsed.line = r->line;
    kept = rule_keep(&parsed);
    if (!kept || !rules_add(kept))
        wrong(r, "too many rules, expected at most %d", RULES_MAX);
}

/* A path beside the configuration file unless it is absolute. */
static void beside(const char *conf, const char *file, char *out, size_t cap)
{
    const char *slash = *file == '/' ? NULL : strrchr(conf, '/');
    fmt_text(out, cap, "%.*s%s", slash ? (int)(slash + 1 - conf) : 0, conf, file);
}

static void take_map(struct reader *r, const char *module, const char *value)
{
    char path[PATH_MOST], where[PATH_MOST];
    while (*module == ' ' || *module == '\t')
        module++;
    if (!*value)
        return wrong(r, "symbol map without a file, expected symbols MODULE = FILE");
    if (glob_unclosed(module))
        return wrong(r, "symbol map of '%.60s': set not closed, expected a ] in it, or \\[ for a [", module);
    beside(r->file->path, value, path, sizeof path);
    fmt_text(where, sizeof where, "%s:%u", r->file->path, r->line);
    if (!symbols_add_map(module, path, where))
        r->file->errors++;
}

/* `symbols MODULE`, not a pool that happens to be called symbols. */
static bool is_map(const char *name)
{
    return strncmp(name, "symbols", 7) == 0 && (name[7] == ' ' || name[7] == '\t');
}

/* inih's handler: one `name = value`. The section it passes is cut, r->place knows better. */
static int take_value(void *user, const char *section, const char *name, const char *value)
{
    struct reader *r = user;
    r->open = false;
    if (is_map(name) && r->place != PLACE_POOL)
        take_map(r, name + 7, value);
    else if (r->place == PLACE_RULES)
        take_rule(r, name, value);
    else if (r->place == PLACE_POOL)
        take_pool_key(r, name, value);
    else if (r->place == PLACE_TOP)
        wrong(r, "'%s' stands before any section, expected [pool NAME] or [rules] first", name);
    return 1;
}

/* --- lines ---------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The text of a line without blanks at both ends. */
static const char *trim(const char *p, size_t *length)
{
    size_t n = *length;
    for (; n && is_blank(*p); n--)
        p++;
    while (n && is_blank(p[n - 1]))
        n--;
    *length = n;
    return p;
}

static bool words_are(const char *p, size_t length, const char *first, const char *second)
{
    size_t n = strlen(first);
    if (length <= n || strncmp(p, first, n) != 0 || !is_blank(p[n]))
        return false;
    length -= n;
    p = trim(p + n, &length);
    return length == strlen(second) && strncmp(p, second, length) == 0;
}

static void take_section(struct reader *r, const char *p, size_t length)
{
    const char *end = memchr(p, ']', length);
    r->place = PLACE_UNKNOWN;
    if (!end)
        return wrong(r, "section not closed, expected a ] in the line");
    size_t n = (size_t)(end - p) - 1;
    const char *name = trim(p + 1, &n);
    if (n == 5 && strncmp(name, "rules", 5) == 0) {
        r->place = PLACE_RULES;
    } else if (n >= 4 && strncmp(name, "pool", 4) == 0 && (n == 4 || is_blank(name[4]))) {
        n -= 4;
        name = trim(name + 4, &n);
        open_pool(r, name, n);
    } else {
        wrong(r, "unknown section [%.*s], expected [pool NAME] or [rules]", (int)n, name);
    }
}

/* Looks at a line before inih does. True: inih shall have it. */
static bool look_at_line(struct reader *r, const char *p, size_t length)
{
    p = trim(p, &length);
    if (!length || *p == '#' || *p == ';')
        return false;
    bool first = !r->content;
    r->content = true;
    if (length > LINE_MOST)
        return wrong(r, "line of %zu characters, expected at most %d", length, LINE_MOST), false;
    if (*p == '[')
        return take_section(r, p, length), false;
    if (!words_are(p, length, "include", "builtin"))
        return r->open = true;
    if (!first)
        wrong(r, "include builtin stands too late, expected it as the first line");
    r->file->builtin = true;
    return false;
}

/* A line that inih did not hand back as name and value. */
static void settle_line(struct reader *r)
{
    if (r->open)
        wrong(r, r->place == PLACE_RULES ? "not a rule, expected POOL = CONDITION ..."
                                         : "not a setting, expected NAME = VALUE");
    r->open = false;
}

/* inih's reader: the next line, or an empty one for what has been dealt with here. */
static char *feed_line(char *out, int room, void *user)
{
    struct reader *r = user;
    settle_line(r);
    if (!*r->at)
        return NULL;
    size_t length = strcspn(r->at, "\n");
    const char *line = r->at;
    r->at += length + (line[length] == '\n');
    r->line++;
    if (!look_at_line(r, line, length) || length + 2 > (size_t)room)
        length = 0;
    memcpy(out, line, length);
    out[length] = '\n';
    out[length + 1] = 0;
    return out;
}

/* --- the whole ------------------------------------------------------------------------------------ */

/* What only shows when all sections are known. */
static void check_pool(config_file *f, config_pool *p)
{
    struct reader r = {.file = f, .line = p->line};
    if (p->kind != POOL_HEAP && !p->size)
        wrong(&r, "pool %s is of a fixed kind without a size, expected size = BYTES", p->name);
    if (p->kind != POOL_HEAP && (strcmp(p->name, "Global") == 0 || strcmp(p->name, "System") == 0))
        wrong(&r, "pool %s is of a fixed kind, expected kind = heap: it must be able to grow", p->name);
    if (strcmp(p->name, "System") == 0 && p->over != OVER_WARN)
        wrong(&r, "pool System may refuse, expected over = warn: libc and the loader live there");
    unsigned steps = 0;
    for (int up = config_file_pool(f, p->parent); up >= 0 && steps <= f->pool_count; steps++)
        up = config_file_pool(f, f->pools[up].parent);
    if (steps > f->pool_count)
        wrong(&r, "pool %s is among its own parents, expected a tree below Global", p->name);
}

static void read_text(config_file *f, const char *text)
{
    struct reader r = {.file = f, .at = text};
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        r.at += 3;
    ini_use_stack = true;
    ini_max_line = LINE_MOST + 200;
    ini_allow_multiline = false; /* an indented line is a line */
    ini_parse_stream((ini_reader)feed_line, &r, take_value, &r);
    settle_line(&r);
    for (unsigned i = 0; i < f->pool_count; i++)
        check_pool(f, &f->pools[i]);
}

bool config_file_read(const char *path, config_file *out)
{
    textfile t;
    *out = (config_file){.path = path};
    rules_clear();
    symbol_maps_clear();
    int error = textfile_read(path, FILE_MOST, &t);
    if (error) {
        if (error == EFBIG)
            complain(path, 0, "%s, expected at most %d KiB", textfile_error(error), FILE_MOST >> 10);
        else
            complain(path, 0, "%s, expected a configuration file", textfile_error(error));
        out->errors = 1;
        return false;
    }
    if (memchr(t.text, 0, t.size)) {
        complain(path, 0, "holds a NUL byte, expected text");
        out->errors = 1;
    } else {
        read_text(out, t.text);
    }
    textfile_free(&t);
    if (out->errors) {
        rules_clear();
        symbol_maps_clear();
    } else if (out->builtin) {
        rules_add_builtin();
    }
    return !out->errors;
}

/* --- notes: what is allowed, and still may not be meant ------------------------------------------- */

/* They fill without rules. */
static bool is_standing_pool(const char *name)
{
    return strcmp(name, "Global") == 0 || strcmp(name, "System") == 0;
}

static bool is_builtin_pool(const char *name)
{
    bool found = is_standing_pool(name);
    for (const char *const *b = builtin_pools; *b && !found; b++)
        found = strcmp(name, *b) == 0;
    return found;
}

/* The first rule for a pool; NULL: there is none. */
static const rule *rule_for(const char *pool)
{
    for (unsigned i = 0; i < rules_count(); i++)
        if (strcmp(rules_get(i)->pool, pool) == 0)
            return rules_get(i);
    return NULL;
}

static bool is_parent(const config_file *f, const char *pool)
{
    for (unsigned i = 0; i < f->pool_count; i++)
        if (strcmp(f->pools[i].parent, pool) == 0)
            return true;
    return false;
}

/* A name that is only in rules makes a pool: meant, or a misspelt one. Said at its first rule. */
static void note_rule(const config_file *f, const rule *r)
{
    if (r->line && strcmp(r->pool, RULE_PASS_NAME) != 0 && !is_builtin_pool(r->pool) &&
        config_file_pool(f, r->pool) < 0 && rule_for(r->pool) == r)
        complain(f->path, r->line, "note: rule sends to pool '%s', which has no [pool %s] section", r->pool,
                 r->pool);
}

/* What the compiler makes of a C++ name is never shown: names fit and are reported as the source has them. */
static void note_mangled(const config_file *f, const rule *r)
{
    if (r->line && r->symbol && strncmp(r->symbol, "_Z", 2) == 0)
        complain(f->path, r->line,
                 "note: symbol:%.60s may fit nothing: names are demangled, as reports show them", r->symbol);
}

/* A parent is there for what is below it. */
static void note_pool(const config_file *f, const config_pool *p)
{
    if (!is_standing_pool(p->name) && !is_parent(f, p->name) && !rule_for(p->name))
        complain(f->path, p->line, "note: no rule leads to pool '%s'", p->name);
}

int config_check(const char *file)
{
    ROOMY static config_file checked;
    bool good = config_file_read(file, &checked);
    for (unsigned i = 0; good && i < rules_count(); i++) {
        note_rule(&checked, rules_get(i));
        note_mangled(&checked, rules_get(i));
    }
    for (unsigned i = 0; good && i < checked.pool_count; i++)
        note_pool(&checked, &checked.pools[i]);
    return (int)checked.errors;
}
