#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_counts.py - the game's own counts beside a pool report of the same run.

usage: compare_counts.py [--baseline COUNTS REPORT] [--least PERCENT] COUNTS REPORT

COUNTS is what `game-count --counts FILE` wrote, REPORT the pool report (JSON, schema 1) of that very run, taken
when the process ended. For each subsystem that has a pool of its name, four totals must be equal: allocs, reallocs,
frees, and alloc_bytes (what allocs and reallocs asked for). Subsystems without a pool are listed and not compared.

--baseline gives the two files of a run with --frames 0: what a pool holds there beyond the counts is made by the
runtime itself (libstdc++ keeps a reserve for exceptions, for example), and is taken off the report.

Exit status: 0 equal, 1 different or below --least (99), 2 wrong usage or unreadable files.
"""
import json
import sys

FIELDS = ("allocs", "reallocs", "frees", "alloc_bytes")


def fail(text):
    print(f"compare_counts: {text}", file=sys.stderr)
    sys.exit(2)


def load(path):
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError) as e:
        fail(f"{path}: {e}")


def load_counts(path):
    """Name -> the four totals, as the report would name them."""
    counts = load(path)
    try:
        return {
            name: {
                "allocs": c["allocs"],
                "reallocs": c["reallocs"],
                "frees": c["frees"],
                "alloc_bytes": c["bytes"] + c["realloc_bytes"],
            }
            for name, c in counts.items()
        }
    except (AttributeError, KeyError, TypeError) as e:
        fail(f"{path}: not a file of counts ({e!r})")


def load_report(path):
    report = load(path)
    try:
        return {p["name"]: {f: p[f] for f in FIELDS} for p in report["pools"]}
    except (KeyError, TypeError) as e:
        fail(f"{path}: not a pool report of schema 1 ({e!r})")


def take_off(report, counts, baseline):
    """The report without what the runtime itself did, as seen in the baseline."""
    base_counts, base_report = baseline
    return {
        name: {f: row[f] - (base_report[name][f] - base_counts[name][f]) for f in FIELDS}
        for name, row in report.items()
        if name in counts and name in base_report and name in base_counts
    }


def share(counted, found):
    return 100.0 * min(counted, found) / counted if counted else 100.0


def compare(counts, report, least):
    print(f"{'subsystem':<12} {'total':<12} {'counted':>16} {'in its pool':>16} {'difference':>12} {'share':>9}")
    good = True
    for name, row in counts.items():
        if name not in report:
            print(f"{name:<12} not compared: there is no pool of this name")
            continue
        for field in FIELDS:
            counted, found = row[field], report[name][field]
            percent = share(counted, found)
            good = good and counted == found and percent >= least
            print(f"{name:<12} {field:<12} {counted:>16} {found:>16} {found - counted:>12} {percent:>8.3f}%")
    compared = [name for name in counts if name in report]
    if not compared:
        print("no subsystem has a pool of its name")
    return good and bool(compared)


def parse(argv):
    baseline, least, rest = None, 99.0, argv
    while rest and rest[0].startswith("--"):
        if rest[0] == "--help":
            print(__doc__)
            sys.exit(0)
        if rest[0] == "--baseline" and len(rest) >= 3:
            baseline, rest = (load_counts(rest[1]), load_report(rest[2])), rest[3:]
        elif rest[0] == "--least" and len(rest) >= 2:
            try:
                least, rest = float(rest[1]), rest[2:]
            except ValueError:
                fail(f"{rest[1]}: expected a percentage")
        else:
            fail(f"{rest[0]}: no such option, or its value is missing (try --help)")
    if len(rest) != 2:
        fail("expected COUNTS and REPORT (try --help)")
    return baseline, least, load_counts(rest[0]), load_report(rest[1])


def main():
    baseline, least, counts, report = parse(sys.argv[1:])
    if baseline:
        report = take_off(report, counts, baseline)
    sys.exit(0 if compare(counts, report, least) else 1)


if __name__ == "__main__":
    main()
