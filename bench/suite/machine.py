# SPDX-License-Identifier: MIT
"""The machine: what it is, who else uses it, and the lock that keeps two measurements apart."""

import fcntl
import os
import platform
import time

TICK = os.sysconf("SC_CLK_TCK")


def describe():
    """What a reader needs to judge the figures."""
    return {
        "cpu": _line_after("/proc/cpuinfo", "model name").strip(" \t:"),
        "cpus": os.cpu_count(),
        "memory_mb": int(_line_after("/proc/meminfo", "MemTotal:").split()[0]) // 1024,
        "kernel": platform.release(),
        "libc": "-".join(platform.libc_ver()),
        "system": _line_after("/etc/os-release", "PRETTY_NAME=").strip('"'),
        "huge_pages": _line_after("/sys/kernel/mm/transparent_hugepage/enabled", ""),
        "virtual": "hypervisor" in _line_after("/proc/cpuinfo", "flags"),
    }


def _line_after(path, start):
    """The rest of the first line that begins with `start`; empty if there is none."""
    try:
        with open(path) as f:
            return next((line[len(start):].strip() for line in f if line.startswith(start)), "")
    except OSError:
        return ""


def busy_ticks():
    """(ticks all CPUs spent on anything but idling, ticks stolen by the host) since boot."""
    fields = [int(x) for x in _line_after("/proc/stat", "cpu ").split()]
    user, nice, system, _idle, _wait, irq, soft, steal = fields[:8]
    return user + nice + system + irq + soft, steal


class LoadMeter:
    """How much of the machine others used while one run went on."""

    def __init__(self):
        self.busy, self.steal = busy_ticks()
        self.start = time.monotonic()

    def stop(self, own_cpu_seconds):
        """(foreign, steal): CPUs' worth of time used by others and taken by the host."""
        busy, steal = busy_ticks()
        wall = max(time.monotonic() - self.start, 1 / TICK)
        foreign = (busy - self.busy) / TICK - own_cpu_seconds
        return max(foreign, 0) / wall, (steal - self.steal) / TICK / wall


def lock_path():
    folder = os.environ.get("XDG_RUNTIME_DIR")
    if folder and os.path.isdir(folder):
        return os.path.join(folder, "poolmem-bench.lock")
    return f"/tmp/poolmem-bench.{os.getuid()}.lock"


def lock_take(path, notify):
    """Waits for the lock; returns the open file that holds it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        notify(f"waiting for another measurement ({path})")
        fcntl.flock(handle, fcntl.LOCK_EX)
    return handle
