#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks JSON reports of poolmem, schema 1: every key there, no other, types, and that the figures reconcile.

check_report.py [--busy] [--count N] [--totals FILE] [--that EXPRESSION ...] REPORT ...

--busy      the report was made while threads allocated: sums may be a call or two apart, so only what can never be
            torn is checked
--count N   exactly N reports must be there, with N different sequence numbers (one process)
--totals F  totals of an independent count (count_preload.c: lines `name value`) that the sums over all pools must equal
--that E    a Python expression that must be true: `process`, `pools` (list), `pool["Name"]`, `top`, `counted` (sums over pools)
Exit status 0 or 1, one line for the first thing that is wrong.
"""
import argparse
import json
import sys
from types import SimpleNamespace

TOP = {"poolmem": str, "schema": int, "pid": int, "exe": str, "reason": str, "sequence": int, "uptime_ns": int,
       "process": dict, "pools": list}
PROCESS = {name: int for name in ("rss_bytes", "live_bytes", "committed_bytes", "overhead_bytes", "foreign_frees", "unwound",
                                  "memo_hits")}
FIGURES = ("limit_bytes", "live_bytes", "live_blocks", "peak_bytes", "allocs", "frees", "reallocs", "alloc_bytes", "failed",
           "over_limit", "committed_bytes", "free_bytes", "largest_free_bytes")
POOL = {"name": str, "parent": (str, type(None)), "kind": str, **{name: int for name in FIGURES}, "sites": list}
SITE = {"allocs": int, "bytes": int, "frames": list}
RETAIL = {"true_free_bytes": int}
TRACKED = {"live_bytes": int, "live_blocks": int}  # POOLMEM_TRACK
KINDS = ("heap", "retail", "clump", "arena", "hunk")
REASONS = ("signal", "exit", "request", "limit")


class Wrong(Exception):
    pass


def need(holds, text):
    if not holds:
        raise Wrong(text)


def check_shape(thing, shape, what):
    need(isinstance(thing, dict), f"{what} is no object")
    need(set(thing) == set(shape), f"{what}: keys missing {sorted(set(shape) - set(thing))}, "
                                   f"unknown {sorted(set(thing) - set(shape))}")
    for name, kind in shape.items():
        value = thing[name]
        need(isinstance(value, kind) and not isinstance(value, bool), f"{what}.{name} has type {type(value).__name__}")
        need(not isinstance(value, int) or value >= 0, f"{what}.{name} is negative: {value}")


def check_pool(pool, names, busy):
    what = f"pool {pool.get('name')!r}"
    check_shape(pool, POOL | RETAIL if pool.get("kind") == "retail" else POOL, what)
    need(pool["kind"] in KINDS, f"{what}: kind {pool['kind']!r}")
    need(0 < len(pool["name"]) <= 63, f"{what}: name of {len(pool['name'])} characters")
    need(pool["parent"] is None or pool["parent"] in names, f"{what}: unknown parent {pool['parent']!r}")
    for site in pool["sites"]:
        check_shape(site, SITE | TRACKED if "live_bytes" in site else SITE, f"{what}.site")
        need(all(isinstance(frame, str) and frame for frame in site["frames"]), f"{what}: a frame that is no text")
    if busy:
        return
    need(pool["allocs"] - pool["frees"] == pool["live_blocks"],
         f"{what}: allocs {pool['allocs']} - frees {pool['frees']} are not live_blocks {pool['live_blocks']}")
    need(pool["live_bytes"] <= pool["peak_bytes"], f"{what}: live {pool['live_bytes']} above peak {pool['peak_bytes']}")
    need(pool["live_bytes"] <= pool["committed_bytes"],
         f"{what}: live {pool['live_bytes']} above committed {pool['committed_bytes']}")
    if pool["over_limit"] or pool["kind"] != "heap":  # what others served for it counts at its sites
        return
    need(sum(site["allocs"] for site in pool["sites"]) <= pool["allocs"], f"{what}: its sites have more allocs than it")
    need(sum(site["bytes"] for site in pool["sites"]) <= pool["alloc_bytes"], f"{what}: its sites have more bytes than it")


def check_tree(pools):
    parents = {pool["name"]: pool["parent"] for pool in pools}
    need(len(parents) == len(pools), "two pools of one name")
    roots = [name for name, parent in parents.items() if parent is None]
    need(roots == ["Global"], f"roots are {roots}, expected Global alone")
    for name in parents:
        seen = set()
        while name is not None:
            need(name not in seen, f"pool {name!r} is its own ancestor")
            seen.add(name)
            name = parents[name]


def sums(pools):
    return {name: sum(pool[name] for pool in pools) for name in FIGURES}


def check_sums(report):
    total, process = sums(report["pools"]), report["process"]
    need(total["live_bytes"] == process["live_bytes"],
         f"live_bytes of the pools {total['live_bytes']}, of the process {process['live_bytes']}")
    need(process["live_bytes"] <= process["committed_bytes"], "process: live above committed")
    need(total["committed_bytes"] <= process["committed_bytes"],
         f"committed_bytes of the pools {total['committed_bytes']}, of the process {process['committed_bytes']}")
    need(process["rss_bytes"] > 0, "process: rss_bytes is 0")


def check_report(report, busy):
    check_shape(report, TOP, "report")
    need(report["schema"] == 1, f"schema {report['schema']}")
    need(report["reason"] in REASONS, f"reason {report['reason']!r}")
    need(report["pid"] > 0 and report["exe"].startswith("/"), f"pid {report['pid']}, exe {report['exe']!r}")
    check_shape(report["process"], PROCESS, "process")
    names = {pool.get("name") for pool in report["pools"]}
    need({"Global", "System"} <= names, f"pools {sorted(names)} lack Global or System")
    for pool in report["pools"]:
        check_pool(pool, names, busy)
    check_tree(report["pools"])
    if not busy:
        check_sums(report)


def check_totals(report, path):
    total = sums(report["pools"])
    with open(path) as lines:
        counts = {name: int(value) for name, value in (line.split() for line in lines)}
    for name, value in counts.items():
        need(total[name] == value, f"{name}: {total[name]} summed over pools, {value} counted independently")


def check_that(report, expression):
    scope = {"top": SimpleNamespace(**report), "process": SimpleNamespace(**report["process"]),
             "pools": [SimpleNamespace(**pool) for pool in report["pools"]],
             "counted": SimpleNamespace(**sums(report["pools"]))}
    scope["pool"] = {pool.name: pool for pool in scope["pools"]}
    if not eval(expression, scope):
        figures = {pool.name: f"{pool.allocs} allocs, {pool.live_bytes} live bytes" for pool in scope["pools"]}
        raise Wrong(f"not so: {expression}; {report['process']} {figures}")


def check_count(reports, count):
    need(len(reports) == count, f"{len(reports)} reports, expected {count}")
    sequences = {report["sequence"] for report in reports}
    need(len(sequences) == count, f"{len(sequences)} different sequence numbers in {count} reports")


def load(path):
    try:
        with open(path) as text:
            return json.load(text)
    except (OSError, ValueError) as error:
        raise Wrong(f"no whole report: {error}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--count", type=int)
    parser.add_argument("--totals")
    parser.add_argument("--that", action="append", default=[])
    parser.add_argument("report", nargs="+")
    options = parser.parse_args()
    reports = []
    for path in options.report:
        try:
            report = load(path)
            check_report(report, options.busy)
            if options.totals:
                check_totals(report, options.totals)
            for expression in options.that:
                check_that(report, expression)
            reports.append(report)
        except Wrong as wrong:
            sys.exit(f"{path}: {wrong}")
    if options.count is not None:
        try:
            check_count(reports, options.count)
        except Wrong as wrong:
            sys.exit(str(wrong))


if __name__ == "__main__":
    main()
