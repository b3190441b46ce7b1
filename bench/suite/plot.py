# SPDX-License-Identifier: MIT
"""Plots by gnuplot, as SVG: bars of ratios, and curves over a growing parameter."""

import os
import shutil
import subprocess

HEAD = """set terminal svg size {width},{height} dynamic background rgb 'white' font 'sans,12'
set output '{out}'
set datafile missing '-'
set grid ytics lc rgb '#dddddd'
set title "{title}" noenhanced
set key outside right noenhanced
"""


def gnuplot(script):
    """Feeds gnuplot; without it plots are left out, and the caller says so."""
    if not shutil.which("gnuplot"):
        return False
    subprocess.run(["gnuplot"], input=script.encode(), check=True)
    return True


def block(name, rows):
    lines = [f"${name} << EOD"]
    lines += [" ".join(f'"{c}"' if not _is_number(c) else str(c) for c in row) for row in rows]
    return "\n".join(lines + ["EOD", ""])


def _is_number(value):
    return value == "-" or isinstance(value, (int, float))


def bars(out, title, columns, rows, limit=2.5):
    """Clustered bars with whiskers. rows: [label, (mid, low, high) or None, ...]; one triple a column."""
    flat = []
    for label, *cells in rows:
        line = [label]
        for c in cells:
            line += [min(v, limit) for v in c] if c else ["-", "-", "-"]
        flat.append(line)
    plots = [f"$d using {2 + 3 * i}:{3 + 3 * i}:{4 + 3 * i}:xtic(1) title '{name}'" for i, name in enumerate(columns)]
    script = HEAD.format(width=max(900, 34 * len(rows) * max(1, len(columns) // 2)), height=480, out=out, title=title)
    script += block("d", flat)
    script += "set style data histograms\nset style histogram errorbars gap 1 lw 0.7\nset style fill solid 0.8\n"
    script += f"set xtics rotate by 50 right noenhanced\nset bmargin 8\nset yrange [0:{limit}]\nset arrow from graph 0, first 1 to graph 1, first 1 nohead lw 1.5\n"
    return gnuplot(script + "plot " + ", ".join(plots) + "\n")


def curves(out, title, xlabel, ylabel, lines, log_x=True):
    """lines: {name: [(x, y), ...]}."""
    script = HEAD.format(width=760, height=420, out=out, title=title)
    script += "".join(block(f"d{i}", points) for i, points in enumerate(lines.values()))
    script += f"set xlabel '{xlabel}'\nset ylabel '{ylabel}'\nset yrange [0:*]\n" + ("set logscale x\nset format x '%.0s%c'\n" if log_x else "")
    plots = [f"$d{i} using 1:2 with linespoints pt 7 ps 0.5 lw 1.5 title '{name}'" for i, name in enumerate(lines)]
    return gnuplot(script + "plot " + ", ".join(plots) + "\n")


def table_bars(table, metrics, folder):
    """One bar plot a metric of a report.Table; returns False when gnuplot is missing."""
    os.makedirs(folder, exist_ok=True)
    others = [a for a in table.allocators if a != table.base]
    done = True
    for metric, (title, _) in metrics.items():
        rows = []
        for workload in table.workloads:
            ratios = [table.ratio(metric, workload, a) for a in others]
            if any(ratios):
                rows.append([workload] + [(r.mid, r.low, r.high) if r else None for r in ratios])
        if rows and others:
            done &= bars(os.path.join(folder, metric + ".svg"), f"{title} / {table.base}", others, rows)
    return done
