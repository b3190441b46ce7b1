# SPDX-License-Identifier: MIT
"""The workloads: our own programs (bench/work) and real ones, with what each needs and how it is checked.

A workload names its command with {build}, {bench}, {data} and {scale} filled in. `like` says which published
benchmark it follows, or what it stands for. `quick` is the scale used by --quick, 0 leaves it out there. `clock`
is what its time is: `wall`, or `cpu` for a program that mostly waits for a clock of its own.
"""

import fnmatch
import os
import shutil

from . import real


class Workload:
    def __init__(self, name, group, command, like, quick=0.35, check="own", needs=(), variables=None, driver=None,
                 prepare=None, timeout=60, clock="wall"):
        self.name, self.group, self.command, self.like = name, group, command, like
        self.quick, self.check, self.needs, self.clock = quick, check, needs, clock
        self.variables, self.driver, self.prepare, self.timeout = variables or {}, driver, prepare, timeout

    def missing(self, paths):
        """What this workload needs and the machine lacks; empty if it can run."""
        wanted = [self.command[0]] + list(self.needs)
        return [w for w in (x.format(**paths) for x in wanted) if not os.path.exists(w) and not shutil.which(w)]


def own(program, variant, group, like, quick=0.35, **more):
    return Workload(variant, group, ["{build}/bench/" + program, variant, "{scale}"], like, quick, **more)


def script(name, like):
    return Workload("lua-" + name, "script",
                    ["{build}/bench/script", "run", "{scale}", "0", "{bench}/scripts/" + name + ".lua"], like)


ALL = [
    own("micro", "pair", "micro", "one block out and back, at once"),
    own("micro", "pair-small", "micro", "the same over 16..128 bytes"),
    own("micro", "sizes", "micro", "the same over 8..1031 bytes"),
    own("micro", "lifo", "micro", "window of 1,000 blocks, freed newest first"),
    own("micro", "fifo", "micro", "window of 1,000 blocks, freed oldest first"),
    own("micro", "random", "micro", "random replacement among 2,048 blocks"),
    own("micro", "random-1000", "micro", "random replacement among 1,000 blocks of 8..128 bytes"),
    own("micro", "random-two", "threads", "the same in two threads, each with its own"),
    own("micro", "wide", "micro", "random replacement among 400,000 blocks"),
    own("micro", "calloc", "micro", "zeroed blocks"),
    own("factor", "cfrac", "single", "cfrac: factorisation with bignums"),
    own("logic", "espresso", "single", "espresso: two-level logic minimisation"),
    own("mixed", "sh6bench", "single", "shbench, one thread"),
    own("large", "append", "single", "text buffers that grow by small steps"),
    own("large", "grow", "single", "arrays that grow by realloc to megabytes"),
    own("large", "large", "single", "blocks of 5 KB to 4 MB, replaced at random"),
    own("scene", "stl-scene", "single", "a game world in C++ containers"),
    own("levels", "levels", "single", "level load and unload rounds"),
    own("mixed", "sh8bench", "threads", "shbench, four threads"),
    own("server", "larson", "threads", "larson: hand-over to a successor thread"),
    own("server", "larson-mixed", "threads", "larson with blocks up to 4,000 bytes"),
    own("transfer", "xmalloc", "threads", "xmalloc-test: producers and consumers"),
    own("transfer", "xmalloc-asym", "threads", "one producer, three consumers"),
    own("transfer", "ring", "threads", "each thread frees what its neighbour made"),
    own("churn", "mstress", "threads", "mstress: random exchange between threads"),
    own("churn", "rptest", "threads", "rptest: sets passed on, 16..8,000 bytes"),
    own("churn", "rptest-small", "threads", "rptest, 16..500 bytes"),
    own("sharing", "cache-thrash", "threads", "false sharing, active"),
    own("sharing", "cache-scratch", "threads", "false sharing, passive"),
    own("spawn", "threads", "threads", "thousands of short threads"),
    own("levels", "levels-stream", "threads", "a loader thread makes the next level"),
    script("objects", "Lua: game objects and closures"),
    script("text", "Lua: strings"),
    script("coroutines", "Lua: coroutines and trees"),
] + real.workloads(Workload)


def select(globs):
    """The workloads whose name or group matches one of the globs, in the table's order; all for no globs."""
    if not globs:
        return list(ALL)
    return [w for w in ALL if any(fnmatch.fnmatchcase(w.name, g) or fnmatch.fnmatchcase(w.group, g) for g in globs)]


def data_prepare(chosen, data):
    """Makes the input files of the chosen workloads, once."""
    os.makedirs(data, exist_ok=True)
    for prepare in {w.prepare for w in chosen if w.prepare}:
        prepare(data)
