# SPDX-License-Identifier: MIT
"""Figures: medians, geometric means, and ratios of interleaved rounds with their spread.

A ratio is formed inside one round (both allocators ran within moments of each other) and the median of those
ratios is reported: a machine that changes speed from minute to minute then changes both sides alike.
"""

import math


def median(values):
    ordered = sorted(values)
    if not ordered:
        raise ValueError("median of nothing")
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def quartile(values, part):
    """The value below which `part` (0..1) of the values lie, interpolated."""
    ordered = sorted(values)
    at = (len(ordered) - 1) * part
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def geomean(values):
    values = list(values)
    if not values or any(v <= 0 for v in values):
        raise ValueError("geomean needs positive values")
    return math.exp(sum(math.log(v) for v in values) / len(values))


class Ratio:
    """A figure over the base's: `mid` and the spread `low`..`high` over the rounds."""

    def __init__(self, mid, low, high):
        self.mid, self.low, self.high = mid, low, high

    def __repr__(self):
        return f"{self.mid:.3f} ({self.low:.3f}..{self.high:.3f})"


def spread(values):
    """Quartiles from five values on, below that the extremes: the honest choice for few rounds."""
    if len(values) >= 5:
        return quartile(values, 0.25), quartile(values, 0.75)
    return min(values), max(values)


def paired_ratios(figures, base):
    """Ratios of the rounds that both have; `figures` and `base` are {round: value}. Zero bases are left out."""
    return {r: figures[r] / base[r] for r in figures if r in base and base[r] > 0 and figures[r] > 0}


def ratio(figures, base):
    """The Ratio of two {round: value}, or None when they share no round."""
    values = list(paired_ratios(figures, base).values())
    if not values:
        return None
    low, high = spread(values)
    return Ratio(median(values), low, high)


def mean_ratio(pairs):
    """Geomean over workloads of the per-workload ratio; the spread is that of each round's own geomean.

    `pairs` is a list of (figures, base), one for each workload.
    """
    mids = [r.mid for r in (ratio(f, b) for f, b in pairs) if r]
    if not mids:
        return None
    by_round = {}
    for figures, base in pairs:
        for number, value in paired_ratios(figures, base).items():
            by_round.setdefault(number, []).append(value)
    most = max(len(v) for v in by_round.values())
    whole = [geomean(v) for v in by_round.values() if len(v) == most]
    low, high = spread(whole)
    return Ratio(geomean(mids), low, high)
