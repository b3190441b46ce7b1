# SPDX-License-Identifier: MIT
"""Tables from the document of some rounds: plain text for the terminal, Markdown for BENCHMARKS.md."""

from . import stats

# name -> (title, figure of one run)
METRICS = {
    "time": ("time", lambda r: r["time_ns"]),
    "cpu": ("CPU", lambda r: r["user_us"] + r["sys_us"]),
    "rss": ("peak RSS", lambda r: r["rss_kb"]),
    "faults": ("page faults", lambda r: r["minor_faults"] + r["major_faults"]),
}
# What the project holds itself to, for allocators that are poolmem: metric -> (geomean, worst workload).
TARGETS = {"time": (0.60, 1.05), "rss": (0.80, 1.25)}
LARGE_KB = 16 << 10  # below this a process's peak says more about its libraries than about its blocks
WORKLOAD_TARGETS = {"pair": 0.85, "random": 0.75}
MIMALLOC_TARGET = 0.85
# Against the same library without unwinding, in real programs: the part that tags add, and the memo's hits.
TAG_TARGET, TAG_TARGETS = 1.03, {"cc1plus": 1.06}
HITS_TARGET = 0.98


class Table:
    """Ratios of every allocator to the base, per workload and overall, for each metric."""

    def __init__(self, document, base=None):
        self.document, self.base = document, base or document["base"]
        self.allocators = [a["name"] for a in document["allocators"]]
        self.workloads = [w["name"] for w in document["workloads"]]
        self.runs = {}
        for run in document["runs"]:
            self.runs.setdefault((run["workload"], run["allocator"]), {})[run["round"]] = run

    def names(self, group):
        return [w["name"] for w in self.document["workloads"] if w["group"] == group]

    def figures(self, metric, workload, allocator):
        """{round: value}"""
        take = METRICS[metric][1]
        return {n: take(r) for n, r in self.runs.get((workload, allocator), {}).items()}

    def ratio(self, metric, workload, allocator):
        return stats.ratio(self.figures(metric, workload, allocator), self.figures(metric, workload, self.base))

    def overall(self, metric, allocator, base=None, among=None):
        """The geomean over all workloads, or over those of `among`."""
        chosen = self.workloads if among is None else among
        pairs = [(self.figures(metric, w, allocator), self.figures(metric, w, base or self.base)) for w in chosen]
        return stats.mean_ratio(pairs)

    def large(self):
        """The workloads whose peak under the base is more than what libraries and start-up come to."""
        peaks = {w: self.middle(METRICS["rss"][1], w, self.base) for w in self.workloads}
        return [w for w, peak in peaks.items() if peak and peak >= LARGE_KB]

    def middle(self, take, workload, allocator):
        """Median over the rounds of any figure of a run; None where there is none."""
        values = [take(r) for r in self.runs.get((workload, allocator), {}).values() if take(r) is not None]
        return stats.median(values) if values else None

    def worst(self, metric, allocator):
        found = [(r.mid, w) for w in self.workloads for r in [self.ratio(metric, w, allocator)] if r]
        return max(found) if found else None


def cell(ratio):
    return f"{ratio.mid:.2f} ({ratio.low:.2f}..{ratio.high:.2f})" if ratio else "-"


def rows_of(table, metric):
    """A header and one row a workload, the geomean last."""
    others = [a for a in table.allocators if a != table.base]
    rows = [[METRICS[metric][0] + " / " + table.base] + others]
    for workload in table.workloads:
        ratios = [table.ratio(metric, workload, a) for a in others]
        if any(ratios):
            rows.append([workload] + [cell(r) for r in ratios])
    rows.append(["geomean"] + [cell(table.overall(metric, a)) for a in others])
    return rows


def rows_summary(table):
    large = table.large()
    rows = [["geomean / " + table.base] + [title for title, _ in METRICS.values()] +
            [f"RSS of the {len(large)} above {LARGE_KB // 1024} MB"]]
    for allocator in table.allocators:
        rows.append([allocator] + [cell(table.overall(metric, allocator)) for metric in METRICS] +
                    [cell(table.overall("rss", allocator, among=large))])
    return rows


def rows_absolute(table):
    """Medians that a reader can hold against his own machine: seconds and MB of the base, ns per operation."""
    rows = [["ns per operation"] + table.allocators]
    for workload in table.document["workloads"]:
        if workload["group"] != "micro":
            continue
        values = [table.middle(lambda r: r.get("ns"), workload["name"], a) for a in table.allocators]
        rows.append([workload["name"]] + ["-" if v is None else f"{v:.1f}" for v in values])
    return rows if len(rows) > 1 else []


def rows_workloads(table):
    rows = [["workload", "group", "what it is", f"{table.base}: s", "CPU s", "MB"]]
    for w in table.document["workloads"]:
        middles = [table.middle(METRICS[m][1], w["name"], table.base) for m in ("time", "cpu", "rss")]
        units = (1e9, 1e6, 1024)
        rows.append([w["name"], w["group"], w["like"]] +
                    ["-" if v is None else f"{v / unit:.2f}" if unit > 1024 else f"{v / unit:.1f}"
                     for v, unit in zip(middles, units)])
    return rows


def rows_hits(table):
    """Calls whose caller the memo knew, of all that had to be looked up."""
    hits = table.document.get("hits", [])
    rows = [["memo hits", "allocator", "allocations", "unwound", "hits"]]
    for h in hits:
        looked_up = h["unwound"] + h["memo_hits"]
        share = f"{100 * h['memo_hits'] / looked_up:.2f} %" if looked_up else "-"
        rows.append([h["workload"], h["allocator"], f"{h['allocs']:,}", f"{h['unwound']:,}", share])
    return rows if hits else []


def text(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        lines.append("  ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]).rstrip())
        if number == 0:
            lines.append("-" * len(lines[0]))
    return "\n".join(lines)


def markdown(rows):
    lines = ["| " + " | ".join(rows[0]) + " |", "|---|" + "---:|" * (len(rows[0]) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows[1:]]
    return "\n".join(lines)


def load_line(document):
    """How quiet the machine was."""
    runs = document["runs"]
    disturbed = sum(1 for r in runs if r["disturbed"])
    worst = max((r["foreign"] or 0 for r in runs), default=0)
    return (f"{len(runs)} runs in {document.get('seconds', 0)} s; {disturbed} while others used the machine "
            f"(at most {worst:.2f} CPUs)")


def machine_line(document):
    m = document["machine"]
    kind = "virtual machine" if m["virtual"] else "machine"
    return (f"{m['cpu']}, {m['cpus']} CPUs, {m['memory_mb'] / 1024:.0f} GB, {kind}; {m['system']}, Linux {m['kernel']}, "
            f"{m['libc']}, huge pages {m['huge_pages']}")


def verdict_lines(table):
    """One line a target for each poolmem in the table: what was reached beside what is asked for."""
    variables = {a["name"]: a.get("variables", {}) for a in table.document["allocators"]}
    ours = [a for a in table.allocators if a.startswith("poolmem") and a != table.base]
    against_flat = variables.get(table.base, {}).get("POOLMEM_DEPTH") == "0"
    lines = [line for a in ours for line in (_tag_verdicts(table, a) if against_flat else _peer_verdicts(table, a))]
    return lines + _hit_verdicts(table)


def _peer_verdicts(table, allocator):
    lines = []
    for metric, (mean_target, worst_target) in TARGETS.items():
        mean, worst = table.overall(metric, allocator), table.worst(metric, allocator)
        if mean and worst:
            title = METRICS[metric][0]
            lines.append(_verdict(f"{allocator}: {title} geomean / {table.base}", mean.mid, mean_target))
            lines.append(_verdict(f"{allocator}: {title} worst ({worst[1]})", worst[0], worst_target))
    if "mimalloc" in table.allocators:
        mean = table.overall("time", allocator, "mimalloc")
        if mean:
            lines.append(_verdict(f"{allocator}: time geomean / mimalloc", mean.mid, MIMALLOC_TARGET))
    return lines + _workload_verdicts(table, allocator, WORKLOAD_TARGETS)


def _workload_verdicts(table, allocator, targets):
    reached = {w: table.ratio("time", w, allocator) for w in targets}
    return [_verdict(f"{allocator}: {w} / {table.base}", r.mid, targets[w]) for w, r in reached.items() if r]


def _tag_verdicts(table, allocator):
    return _workload_verdicts(table, allocator, {w: TAG_TARGETS.get(w, TAG_TARGET) for w in table.names("program")})


def _hit_verdicts(table):
    """Misses rather than hits, so that smaller is better here too."""
    lines, programs = [], table.names("program")
    for h in table.document.get("hits", []):
        looked_up = h["unwound"] + h["memo_hits"]
        if looked_up and h["workload"] in programs:
            lines.append(_verdict(f"{h['allocator']}: {h['workload']}, callers the memo did not know",
                                  h["unwound"] / looked_up, 1 - HITS_TARGET))
    return lines


def _verdict(what, reached, target):
    return f"{'met ' if reached <= target else 'MISS'}  {what}: {reached:.3f}, target {target:.2f}"


def print_all(document, show, base=None, full=True):
    table = Table(document, base)
    for metric in METRICS if full else ("time", "rss"):
        show(text(rows_of(table, metric)) + "\n")
    absolute = rows_absolute(table)
    if absolute:
        show(text(absolute) + "\n")
    if rows_hits(table):
        show(text(rows_hits(table)) + "\n")
    show(text(rows_summary(table)) + "\n")
    for line in verdict_lines(table):
        show(line)
    for p in document["problems"]:
        show(f"FAILED  {p['workload']} under {p['allocator']}: {p['text']}")
    show(load_line(document))


def markdown_all(document, plots=None, base=None):
    """The generated part of BENCHMARKS.md."""
    table = Table(document, base)
    parts = [f"{document['date']}. {machine_line(document)}. {load_line(document)}.",
             "Each figure is the median over the rounds of the ratio inside one round, with the spread in brackets "
             "(quartiles; extremes below five rounds). Smaller is better.",
             "### Summary\n\n" + markdown(rows_summary(table))]
    lines = verdict_lines(table)
    if lines:
        parts.append("Targets:\n\n" + "\n".join("* " + line for line in lines))
    for metric, (title, _) in METRICS.items():
        part = f"### {title[0].upper() + title[1:]}\n\n" + markdown(rows_of(table, metric))
        if plots:
            part += f"\n\n![{title}]({plots}/{metric}.svg)"
        parts.append(part)
    absolute = rows_absolute(table)
    if absolute:
        parts.append("### Nanoseconds per operation\n\n" + markdown(absolute))
    if rows_hits(table):
        parts.append("### Callers known\n\n" + markdown(rows_hits(table)))
    parts.append("### The workloads\n\n" + markdown(rows_workloads(table)))
    if document["problems"]:
        parts.append("### Failed runs\n\n" + "\n".join(f"* {p['workload']} under {p['allocator']}: {p['text']}"
                                                       for p in document["problems"]))
    return "\n\n".join(parts) + "\n"


def section_replace(old, name, new):
    """`old` with what stands between the marks of section `name` replaced; appended with marks if it has none."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    body = f"{begin}\n{new.strip()}\n{end}"
    if begin in old and end in old:
        head, rest = old.split(begin, 1)
        return head + body + rest.split(end, 1)[1]
    return (old.rstrip() + "\n\n" if old.strip() else "") + body + "\n"


def section_write(path, name, new):
    try:
        with open(path) as f:
            old = f.read()
    except FileNotFoundError:
        old = ""
    with open(path, "w") as f:
        f.write(section_replace(old, name, new))
