# SPDX-License-Identifier: MIT
"""Rounds over workloads and allocators, interleaved and rotated, as one JSON document."""

import time

from . import machine, runner

FOREIGN_LIMIT = 0.15  # CPUs that others may use before a run counts as disturbed
STEAL_LIMIT = 0.10    # CPUs that the host may take


def order_of(allocators, round_number, workload_number):
    """Rotated by round and workload, and reversed in odd rounds: nobody is always first or always after X."""
    shift = (round_number // 2 + workload_number) % len(allocators)
    rotated = allocators[shift:] + allocators[:shift]
    return rotated[::-1] if round_number % 2 else rotated


def is_disturbed(run):
    return (run["foreign"] or 0) > FOREIGN_LIMIT or run["steal"] > STEAL_LIMIT


class Rounds:
    def __init__(self, context, workloads, allocators, base, scale_of, notify):
        self.context, self.workloads, self.allocators = context, workloads, allocators
        self.scale_of, self.notify = scale_of, notify
        self.broken = set()  # (workload, allocator) pairs that failed: not tried again
        self.document = {
            "schema": 1,
            "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            "machine": machine.describe(),
            "base": base,
            "allocators": [a.describe() for a in allocators],
            "workloads": [{"name": w.name, "group": w.group, "like": w.like, "scale": scale_of(w)} for w in workloads],
            "runs": [],
            "problems": [],
        }

    def problem(self, workload, allocator, text):
        self.broken.add((workload.name, allocator.name))
        self.document["problems"].append({"workload": workload.name, "allocator": allocator.name, "text": text})
        self.notify(f"{workload.name} under {allocator.name}: {text}")

    def expected(self, workload):
        """The result the others agree on so far, or None."""
        results = [r["result"] for r in self.document["runs"] if r["workload"] == workload.name]
        return next((r for r in results if r != runner.UNCHECKED), None)

    def one(self, workload, allocator, round_number, retries):
        for attempt in range(retries + 1):
            run = runner.run_once(self.context, workload, allocator, self.scale_of(workload))
            if not is_disturbed(run):
                break
        expected = self.expected(workload)
        if expected and run["result"] not in (expected, runner.UNCHECKED):
            raise runner.RunFailed(f"result {run['result']}, the others got {expected}")
        run.update(workload=workload.name, allocator=allocator.name, round=round_number, disturbed=is_disturbed(run))
        self.document["runs"].append(run)

    def round(self, round_number, retries):
        for number, workload in enumerate(self.workloads):
            for allocator in order_of(self.allocators, round_number, number):
                if (workload.name, allocator.name) in self.broken:
                    continue
                try:
                    self.one(workload, allocator, round_number, retries)
                except runner.RunFailed as problem:
                    self.problem(workload, allocator, str(problem))

    def warm(self):
        """Programs that read files run once untimed, so that the first allocator does not pay for the disk."""
        for workload in self.workloads:
            if workload.group == "program":
                try:
                    runner.run_once(self.context, workload, None, self.scale_of(workload))
                except runner.RunFailed as problem:
                    self.notify(f"{workload.name} without a preload: {problem}")

    def hits(self):
        """How often the caller was known already, under each allocator that can tell."""
        self.document["hits"] = []
        for allocator in (a for a in self.allocators if a.is_tagging):
            for workload in self.workloads:
                try:
                    found = runner.memo_once(self.context, workload, allocator, self.scale_of(workload))
                except (runner.RunFailed, ValueError, KeyError) as problem:
                    self.notify(f"{workload.name} under {allocator.name}: no report: {problem}")
                    continue
                found.update(workload=workload.name, allocator=allocator.name)
                self.document["hits"].append(found)

    def run(self, rounds, budget=0.0, retries=0):
        """All rounds, or as many whole ones as fit into `budget` seconds (0: no limit)."""
        start = time.monotonic()
        self.warm()
        for number in range(rounds):
            began = time.monotonic()
            self.round(number, retries)
            took, spent = time.monotonic() - began, time.monotonic() - start
            self.notify(f"round {number + 1} of {rounds}: {took:.0f} s")
            if budget and spent + took > budget:
                break
        self.document["seconds"] = round(time.monotonic() - start)
        return self.document
