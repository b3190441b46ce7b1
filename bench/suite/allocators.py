# SPDX-License-Identifier: MIT
"""The allocators that can be compared, and how one is named on the command line.

    NAME                  one of KNOWN, or a library next to the build
    NAME=FILE.so          any other library, called NAME in the tables
    FILE.so               the same, called as the file
    ...,VAR=VALUE         followed by variables that only its runs get: poolmem,POOLMEM_DEPTH=0 (called
                          `poolmem,POOLMEM_DEPTH=0` unless it was given a name: flat=poolmem,POOLMEM_DEPTH=0)
"""

import os

LIB_DIRS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")

# name -> library. glibc is preloaded too: a program that links another allocator (redis) then uses glibc's.
KNOWN = {
    "glibc": "libc.so.6",
    "jemalloc": "libjemalloc.so.2",
    "mimalloc": "libmimalloc.so.2.0",
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "tbbmalloc": "libtbbmalloc_proxy.so.2",
    "poolmem": None,  # from the build directory
}
DEFAULT = ("jemalloc", "mimalloc", "tcmalloc", "tbbmalloc", "glibc", "poolmem")


class Allocator:
    """What a run is made under. A library is preloaded; `wrapper` words are put before the command."""

    wrapper = ()

    def __init__(self, name, library, variables=None):
        self.name, self.preload, self.variables = name, library, dict(variables or {})

    @property
    def is_poolmem(self):
        return bool(self.preload) and os.path.basename(self.preload).startswith("libpoolmem")

    @property
    def is_tagging(self):
        return self.is_poolmem and self.variables.get("POOLMEM_DEPTH") != "0"

    def having(self, **variables):
        """The same with more variables."""
        return Allocator(self.name, self.preload, {**self.variables, **variables})

    def describe(self):
        return {"name": self.name, "library": os.path.realpath(self.preload), "variables": self.variables}


class UnknownAllocator(Exception):
    pass


def library_find(file, build):
    """The full path of a known library's file, or None. Runs have a directory of their own: no path is relative."""
    for folder in (os.path.abspath(build),) + LIB_DIRS:
        path = os.path.join(folder, file)
        if os.path.exists(path):
            return path
    return None


def split_spec(spec):
    """(name or None, library or known name, variables) of one NAME=FILE,VAR=VALUE word."""
    head, *settings = spec.split(",")
    variables = {}
    for setting in settings:
        name, found, value = setting.partition("=")
        if not found or not name:
            raise UnknownAllocator(f"{spec}: expected VAR=VALUE after the comma, not '{setting}'")
        variables[name] = value
    name, found, library = head.partition("=")
    return (name, library, variables) if found else (None, head, variables)


def parse(spec, build):
    """The Allocator that `spec` names; UnknownAllocator with one clear line if it cannot be had."""
    name, target, variables = split_spec(spec)
    if target in KNOWN:
        library = library_find(KNOWN[target] or "libpoolmem.so", build)
        if not library:
            raise UnknownAllocator(f"{target}: {KNOWN[target] or 'libpoolmem.so'} is not installed")
    elif os.path.isfile(target):
        library = os.path.abspath(target)
    else:
        raise UnknownAllocator(f"{target}: neither a known allocator ({', '.join(KNOWN)}) nor a file")
    if not name:
        known = target if target in KNOWN else os.path.basename(target).split(".so")[0]
        name = ",".join([known] + [f"{k}={v}" for k, v in variables.items()])
    return Allocator(name, library, variables)


def parse_list(specs, build, strict=True):
    """Allocators for a list of specs; with strict off, those that are missing are left out and returned too."""
    found, missing = [], []
    for spec in specs:
        try:
            found.append(parse(spec, build))
        except UnknownAllocator as problem:
            if strict:
                raise
            missing.append(str(problem))
    names = [a.name for a in found]
    for name in names:
        if names.count(name) > 1:
            raise UnknownAllocator(f"{name}: given twice; name one of them with NAME=...")
    return found, missing
