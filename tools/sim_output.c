/* SPDX-License-Identifier: MIT */
/*
 * sim_output.c - see sim.h: the result as a table, as CSV, and as a plot. The SVG is written as text: bars in
 * groups, a title on each that a browser shows, no script and no font of its own.
 */
#include "sim.h"

#include <string.h>

void sim_print_head(FILE *out, const sim_config *c)
{
    fprintf(out, "pool of %u bytes, seed %llu, %u levels of %u steps a row; compared with %s\n\n",
            c->pool_bytes, (unsigned long long)c->seed, c->levels, c->steps, c->policies[0].name);
    fprintf(out, "%-24s %-20s %9s %9s %9s %9s %9s %9s\n", "row", "policy", "calls", "differ", "evictions",
            "failures", "largest", "shared");
}

static double differ_percent(const sim_result *r)
{
    return r->tests ? 100.0 * (double)r->differ / (double)r->tests : 0;
}

void sim_print(FILE *out, const sim_config *c, const sim_row *row, const sim_result *results)
{
    for (unsigned i = 0; i < c->policy_count; i++) {
        const sim_result *r = &results[i];
        char largest[16] = "-"; /* a ledger has no largest run */
        if (r->largest_share > 0)
            snprintf(largest, sizeof largest, "%.2f", r->largest_share);
        fprintf(out, "%-24s %-20s %9llu %8.1f%% %9llu %9llu %9s %9.3f\n", i ? "" : row->name,
                c->policies[i].name, (unsigned long long)r->calls, differ_percent(r),
                (unsigned long long)r->evictions, (unsigned long long)r->failures, largest, r->shared);
    }
    fflush(out);
}

void sim_write_csv(FILE *out, const sim_config *c, sim_result (*results)[SIM_POLICIES])
{
    fprintf(out, "row,policy,calls,tests,differ,evictions,failures,largest_share,shared\n");
    for (unsigned k = 0; k < c->row_count; k++) {
        for (unsigned i = 0; i < c->policy_count; i++) {
            const sim_result *r = &results[k][i];
            fprintf(out, "\"%s\",\"%s\",%llu,%llu,%llu,%llu,%llu,%.4f,%.4f\n", c->rows[k].name,
                    c->policies[i].name, (unsigned long long)r->calls, (unsigned long long)r->tests,
                    (unsigned long long)r->differ, (unsigned long long)r->evictions,
                    (unsigned long long)r->failures, r->largest_share, r->shared);
        }
    }
}

/* --- the plot: a group of bars a row, evictions of each policy -------------------------------------- */

enum { LEFT = 90, TOP = 50, BAR = 14, GAP = 26, HEIGHT = 300 };

static const char *const colours[SIM_POLICIES] = {"#20639b", "#ed553b", "#3caea3", "#f6d55c",
                                                  "#8d6b94", "#173f5f", "#999999", "#b5651d",
                                                  "#c05c7e", "#5b8c5a", "#444444", "#e0a458"};

static uint64_t most_evictions(const sim_config *c, sim_result (*results)[SIM_POLICIES])
{
    uint64_t most = 1;
    for (unsigned k = 0; k < c->row_count; k++) {
        for (unsigned i = 0; i < c->policy_count; i++)
            most = results[k][i].evictions > most ? results[k][i].evictions : most;
    }
    return most;
}

/* Text with what XML cannot have replaced. */
static void put_text(FILE *out, int x, int y, const char *style, const char *text)
{
    fprintf(out, "<text x=\"%d\" y=\"%d\" %s>", x, y, style);
    for (; *text; text++)
        fprintf(out, strchr("<>&", *text) ? "&#%d;" : "%c", *text);
    fprintf(out, "</text>\n");
}

static void put_axis(FILE *out, int width, uint64_t most)
{
    for (int i = 0; i <= 4; i++) {
        char label[24];
        int y = TOP + HEIGHT - HEIGHT * i / 4;
        snprintf(label, sizeof label, "%llu", (unsigned long long)most * (unsigned)i / 4);
        fprintf(out, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#ddd\"/>\n", LEFT, y, width - 20,
                y);
        put_text(out, LEFT - 8, y + 4, "text-anchor=\"end\"", label);
    }
}

static void put_group(FILE *out, const sim_config *c, const sim_row *row, const sim_result *results, int x,
                      uint64_t most)
{
    for (unsigned i = 0; i < c->policy_count; i++) {
        int height = (int)(results[i].evictions * HEIGHT / most);
        fprintf(
            out,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"><title>%llu evictions, %.1f %% "
            "of first tests differ</title></rect>\n",
            x + (int)i * BAR, TOP + HEIGHT - height, BAR - 2, height, colours[i],
            (unsigned long long)results[i].evictions, differ_percent(&results[i]));
    }
    char style[80];
    int y = TOP + HEIGHT + 14;
    snprintf(style, sizeof style, "transform=\"rotate(20 %d %d)\"", x, y);
    put_text(out, x, y, style, row->name);
}

void sim_write_svg(FILE *out, const sim_config *c, sim_result (*results)[SIM_POLICIES])
{
    int group = (int)c->policy_count * BAR + GAP, width = LEFT + (int)c->row_count * group + 160;
    uint64_t most = most_evictions(c, results);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, TOP + HEIGHT + 110);
    put_text(out, LEFT, 24, "font-size=\"16\"", "Evictions by policy");
    put_axis(out, width, most);
    for (unsigned k = 0; k < c->row_count; k++)
        put_group(out, c, &c->rows[k], results[k], LEFT + GAP / 2 + (int)k * group, most);
    for (unsigned i = 0; i < c->policy_count; i++) {
        int y = TOP + 10 + (int)i * 18;
        fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", width - 150, y,
                colours[i]);
        put_text(out, width - 132, y + 11, "", c->policies[i].name);
    }
    fprintf(out, "</svg>\n");
}
