# SPDX-License-Identifier: MIT
"""Real programs, unmodified, as the distribution ships them, on inputs of our own (bench/real).

None of them knows anything about allocators, except redis: Debian's links jemalloc itself, and a preload wins
over that as over libc. Its server is the measured process; the client is not, and runs without a preload.
"""

import os
import subprocess

WESNOTH = "/usr/games/wesnoth-1.16"
MINETEST = "/usr/lib/minetest/minetestserver"
GAMES = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "HOME": "{data}"}
REDIS_KEYS = 24000  # by each of the client's connections
REDIS_CONNECTIONS = 4


def redis_word(*words):
    """One command in the protocol's own form."""
    out = [f"*{len(words)}\r\n"]
    out += [f"${len(w)}\r\n{w}\r\n" for w in map(str, words)]
    return "".join(out)


def redis_commands(connection):
    """A fixed mix over keys of this connection's own, so that the end state does not depend on timing."""
    for i in range(REDIS_KEYS):
        key = f"c{connection}:{(i * 7919) % REDIS_KEYS}"
        yield redis_word("SET", key, "v" * (i % 300))
        if i % 2:
            yield redis_word("HSET", f"h{connection}:{i % 400}", f"field{i}", f"value {i * i}")
        if i % 3 == 0:
            yield redis_word("ZADD", f"z{connection}:{i % 50}", i * 37 % 1000, f"member{i}")
        if i % 4 == 0:
            yield redis_word("RPUSH", f"l{connection}:{i % 100}", f"item {i}")
        if i % 5 == 0:
            yield redis_word("DEL", f"c{connection}:{(i * 31) % REDIS_KEYS}")
        yield redis_word("GET", key)


def redis_prepare(data):
    for connection in range(REDIS_CONNECTIONS):
        path = os.path.join(data, f"redis.{connection}")
        if not os.path.exists(path):
            with open(path + ".new", "w") as f:
                f.writelines(redis_commands(connection))
            os.rename(path + ".new", path)


def wesnoth_command(turns, data="{data}"):
    return [WESNOTH, "--nogui", "--multiplayer", "--rng-seed", "42", "--userdata-dir", data + "/wesnoth",
            "--userconfig-dir", data + "/wesnoth-config", "--controller", "1:ai", "--controller", "2:ai", "--exit-at-end",
            "--scenario", "multiplayer_Den_of_Onis", "--turns", str(turns), "--nosound", "--log-error=all",
            "--log-info=ai/testing"]


def wesnoth_prepare(data):
    """A short match, so that the game's cache of its own data exists before anything is timed."""
    if os.path.exists(WESNOTH) and not os.path.isdir(os.path.join(data, "wesnoth", "cache")):
        variables = {k: v.format(data=data) for k, v in GAMES.items()}
        subprocess.run(wesnoth_command(1, data), env={**os.environ, **variables}, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=120)


def minetest_command():
    return [MINETEST, "--config", "{bench}/real/minetest/minetest.conf", "--world", "{run}/world", "--gameid", "minetest",
            "--port", "{port}", "--logfile", "", "--info"]


def workloads(make):
    """The table's rows; `make` is workloads.Workload."""
    python = {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}
    redis = ["/usr/bin/redis-server", "--port", "0", "--unixsocket", "{run}/redis", "--save", "", "--appendonly", "no", "--dir",
             "{run}", "--io-threads", "2", "--io-threads-do-reads", "yes", "--enable-debug-command", "yes"]
    driver = ["/usr/bin/python3", "-I", "-S", "{bench}/real/redis_client.py", "{run}/redis", "{data}", str(REDIS_CONNECTIONS)]
    return [
        make("lua", "program", ["lua5.4", "{bench}/real/tables.lua"], "lua5.4: tables, strings, closures", 1, "stdout"),
        make("python", "program", ["/usr/bin/python3", "-S", "-s", "-B", "{bench}/real/objects.py"],
             "python3: objects and JSON, every object through malloc", 1, "stdout", variables=python),
        make("sqlite", "program", ["sqlite3", ":memory:", ".read {bench}/real/queries.sql"],
             "sqlite3: insert, index, join, sort in memory", 1, "stdout"),
        make("cc1plus", "program", ["g++", "-std=c++20", "-O1", "-S", "-o", "{run}/out.s", "{bench}/real/compile.cpp"],
             "g++ on a template-heavy file, all its processes", 0, "file:out.s"),
        make("redis", "program", redis, "redis-server with two io threads", 0, "driver", driver=driver,
             prepare=redis_prepare),
        make("wesnoth", "program", wesnoth_command(6), "wesnoth: two AI sides play a match", 0, "lines:ai/testing: Turn",
             variables=GAMES, prepare=wesnoth_prepare),
        make("minetest", "program", minetest_command(), "minetestserver: map generation and Lua mods (CPU time)", 0,
             "lines:[bench] ", needs=["/usr/share/games/minetest"], variables={"HOME": "{run}"}, clock="cpu"),
        make("game", "program", ["{build}/examples/game/game", "--frames", "600"], "the bundled game, headless", 1, "stdout"),
    ]
