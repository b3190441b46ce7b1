// SPDX-License-Identifier: MIT
/*
 * main.cpp - the command line of the game, where it finds its files, and the summary.
 *
 * Exit status: 0 played to the end, 1 something failed (one line on stderr), 2 wrong usage.
 */
#include "game.h"

#include "core/count.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <unistd.h>

namespace
{

constexpr long MOST_FRAMES = 100000000, MOST_THREADS = 8;

const char usage[] =
    "usage: game [options]\n"
    "Plays a WAD by itself, headless, for a number of frames, and prints a summary and a checksum.\n"
    "  --wad FILE        the WAD to play (default: freedoom1.wad or freedoom2.wad where Debian puts them,\n"
    "                    else tiny.wad beside the program)\n"
    "  --map NAME        the first map (default: the first in the WAD)\n"
    "  --frames N        frames to play (default 1200)\n"
    "  --map-frames N    frames until the next map (default 200)\n"
    "  --seed N          seed of everything random (default 1)\n"
    "  --threads N       streaming threads, 0 to 8; 0 also mixes sound on the main thread (default 1)\n"
    "  --scripts DIR     the Lua scripts (default: scripts beside the program)\n"
#if GAME_COUNT
    "  --counts FILE     at the end, write how often each subsystem allocated (JSON)\n"
#endif
    "  --help            this text\n"
    "The checksum depends on WAD, map, frames, map-frames and seed only.\n";

/* Text of an option's value into a number; false when it is none, or out of range. */
bool parse(const char *text, long least, long most, long &to)
{
    char *end;
    errno = 0;
    to = std::strtol(text, &end, 10);
    if (!errno && end != text && !*end && to >= least && to <= most)
        return true;
    std::fprintf(stderr, "game: %s: expected a number from %ld to %ld\n", text, least, most);
    return false;
}

bool set_option(game::options &o, const char *name, const char *value)
{
    long seed;
    if (!std::strcmp(name, "--wad"))
        o.wad = value;
    else if (!std::strcmp(name, "--map"))
        o.map = value;
    else if (!std::strcmp(name, "--scripts"))
        o.scripts = value;
    else if (!std::strcmp(name, "--frames"))
        return parse(value, 0, MOST_FRAMES, o.frames);
    else if (!std::strcmp(name, "--map-frames"))
        return parse(value, 1, MOST_FRAMES, o.frames_a_map);
    else if (!std::strcmp(name, "--threads"))
        return parse(value, 0, MOST_THREADS, o.threads);
    else if (!std::strcmp(name, "--seed")) {
        if (!parse(value, 0, LONG_MAX, seed))
            return false;
        o.seed = (std::uint64_t)seed;
    } else if (GAME_COUNT && !std::strcmp(name, "--counts"))
        o.counts = value;
    else {
        std::fprintf(stderr, "game: %s: no such option (try --help)\n", name);
        return false;
    }
    return true;
}

bool parse_options(int argc, char **argv, game::options &o)
{
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc && !std::strncmp(argv[i], "--", 2)) {
            std::fprintf(stderr, "game: %s: no such option, or its value is missing (try --help)\n", argv[i]);
            return false;
        }
        if (!set_option(o, argv[i], argv[i + 1]))
            return false;
    }
    return true;
}

/* name beside the program, into a buffer of size PATH_MAX. */
const char *beside_program(char *to, const char *name)
{
    ssize_t n = readlink("/proc/self/exe", to, PATH_MAX - 1);
    to[n > 0 ? n : 0] = 0;
    char *slash = std::strrchr(to, '/');
    char *end = slash ? slash + 1 : to;
    std::snprintf(end, (std::size_t)(to + PATH_MAX - end), "%s", name);
    return to;
}

const char *default_wad(char *beside)
{
    for (const char *wad : {"/usr/share/games/doom/freedoom1.wad", "/usr/share/games/doom/freedoom2.wad"})
        if (!access(wad, R_OK))
            return wad;
    return beside_program(beside, "tiny.wad");
}

void print_summary(const game::options &o, const game::result &r)
{
    std::printf("wad       %s\n", o.wad);
    std::printf("frames    %ld in %ld maps\n", o.frames, r.maps);
    std::printf("parts     %ld in, %ld out\n", r.parts_in, r.parts_out);
    std::printf("triangles %ld\n", r.triangles);
    std::printf("entities  %ld at most\n", r.most_entities);
    std::printf("textures  %zu KiB at most\n", r.most_texture_bytes >> 10);
    std::printf("lua       %ld KiB at most\n", r.most_lua_kib);
    std::printf("checksum  %016jx\n", (std::uintmax_t)r.checksum);
}

int play(game::options &o)
{
    game::result made;
    if (game::run(o, made))
        return 1;
    print_summary(o, made);
#if GAME_COUNT
    if (o.counts && count_write(o.counts)) {
        std::fprintf(stderr, "game: %s: %s\n", o.counts, std::strerror(errno));
        return 1;
    }
#endif
    if (std::fflush(stdout)) {
        std::fprintf(stderr, "game: the summary cannot be written: %s\n", std::strerror(errno));
        return 1;
    }
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    char wad[PATH_MAX], scripts[PATH_MAX];
    game::options o;
    if (argc == 2 && !std::strcmp(argv[1], "--help")) {
        std::fputs(usage, stdout);
        return 0;
    }
    if (!parse_options(argc, argv, o))
        return 2;
    if (!o.wad)
        o.wad = default_wad(wad);
    if (!o.scripts)
        o.scripts = beside_program(scripts, "scripts");
    try {
        return play(o);
    } catch (const std::exception &) {
        /* The containers throw nothing but a lack of memory here. */
        game_out_of_memory(0);
    }
}
