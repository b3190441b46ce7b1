# SPDX-License-Identifier: MIT
"""What the commands in bench/ share: options, the lock, choosing allocators, writing results."""

import argparse
import json
import os
import sys

from . import allocators, machine, report, runner
from .rounds import Rounds

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def notify(line):
    print(f"bench: {line}", file=sys.stderr, flush=True)


def fail(line):
    notify(line)
    sys.exit(2)


def parser(name, text, rounds, section):
    """A parser with the options that every command has."""
    p = argparse.ArgumentParser(prog=f"bench/{name}", description=text)
    p.add_argument("--allocators", "-a", nargs="+", metavar="SPEC",
                   help="NAME, FILE.so, NAME=FILE.so, each with ,VAR=VALUE...")
    p.add_argument("--rounds", "-r", type=int, default=rounds)
    p.add_argument("--scale", type=float, default=1.0, help="size of our own workloads")
    p.add_argument("--json", metavar="FILE", help="write every run")
    p.add_argument("--from", dest="source", metavar="FILE", help="report on a JSON file instead of running")
    p.add_argument("--markdown", metavar="FILE", help="write the tables into FILE, between the marks of --section")
    p.add_argument("--section", default=section)
    p.add_argument("--plots", metavar="DIR", help="write SVG plots")
    p.add_argument("--lock", default=machine.lock_path(), metavar="FILE")
    p.add_argument("--build", type=os.path.abspath, default=os.path.join(os.path.dirname(BENCH), "build"), metavar="DIR")
    return p


def context_of(a):
    context = runner.Context(a.build, BENCH)
    if not os.path.exists(context.launch):
        fail(f"{context.launch} is missing: run `make bench-programs`")
    return context


def choose_allocators(a, default, base):
    """Those asked for, all of which must exist, or those of the default that do."""
    try:
        found, missing = allocators.parse_list(a.allocators or default, a.build, strict=bool(a.allocators))
    except allocators.UnknownAllocator as problem:
        fail(str(problem))
    for line in missing:
        notify(line + ": left out")
    names = [x.name for x in found]
    if not found:
        fail("no allocator is left")
    if base and base not in names:
        fail(f"base {base} is not among the allocators: {', '.join(names)}")
    return found


def measure(a, context, chosen, found, base, scale_of=None, rounds=None, budget=0, retries=0, hits=False):
    """Runs the rounds under the lock and returns their document."""
    handle = machine.lock_take(a.lock, notify)
    scale_of = scale_of or (lambda _: a.scale)
    run = Rounds(context, chosen, found, base, scale_of, notify)
    document = run.run(rounds or a.rounds, budget, retries)
    if hits:
        run.hits()
    context.clean()
    os.close(handle)
    return document


def document_load(path):
    with open(path) as f:
        return json.load(f)


def publish(a, document, text):
    """Writes the JSON document and the Markdown text where the options say."""
    if a.json:
        with open(a.json, "w") as f:
            json.dump(document, f, indent=1)
    if a.markdown:
        report.section_write(a.markdown, a.section, text)


def plots_link(a):
    """The plots' folder as the Markdown file has to name it."""
    return os.path.relpath(a.plots, os.path.dirname(os.path.abspath(a.markdown or "."))) if a.plots else None
