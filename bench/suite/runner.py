# SPDX-License-Identifier: MIT
"""One run: a program started by bench/launch under one allocator, measured, and checked.

A run is refused (RunFailed) if the program failed, if the library was not in its maps, or if malloc did not
resolve to it; what it computed is returned for comparison with the other allocators' result.
"""

import glob
import hashlib
import json
import os
import shutil
import subprocess

from . import machine

KEPT_VARIABLES = ("PATH", "LANG", "TZ", "TERM", "XDG_RUNTIME_DIR", "TMPDIR")


UNCHECKED = "unchecked"


class RunFailed(Exception):
    pass


class Context:
    """Where things are: the build and bench folders, inputs, and a scratch folder for the run."""

    def __init__(self, build, bench):
        self.build, self.bench = os.path.abspath(build), os.path.abspath(bench)
        self.data = os.path.join(self.build, "bench", "data")
        self.run = os.path.join(self.build, "bench", f"run.{os.getpid()}")
        self.launch = os.path.join(self.build, "bench", "launch")

    def names(self, scale=1.0):
        return {"build": self.build, "bench": self.bench, "data": self.data, "run": self.run, "scale": f"{scale:g}",
                "port": str(20000 + os.getpid() % 10000)}

    def fresh(self):
        shutil.rmtree(self.run, ignore_errors=True)
        os.makedirs(self.run)

    def clean(self):
        shutil.rmtree(self.run, ignore_errors=True)


def environment():
    """A small, fixed environment: what the caller has set must not change a figure."""
    kept = {k: os.environ[k] for k in KEPT_VARIABLES if k in os.environ}
    return {**kept, "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}


def launch_command(context, workload, allocator, names, out):
    command = [context.launch, "-o", out, "-t", str(workload.timeout)]
    if allocator and allocator.preload:
        command += ["-p", allocator.preload]
    variables = {**workload.variables, **(allocator.variables if allocator else {})}
    for name, value in variables.items():
        command += ["-e", f"{name}={value.format(**names)}"]
    words = list(allocator.wrapper if allocator else ()) + workload.command
    return command + ["--"] + [word.format(**names) for word in words]


def world_copy(context, workload):
    """Minetest writes into its world: each run gets a copy."""
    if workload.name == "minetest":
        shutil.copytree(os.path.join(context.bench, "real", "minetest", "world"), os.path.join(context.run, "world"))


def execute(context, workload, allocator, scale):
    """Starts the program (and its driver); returns (stdout, stderr, driver's stdout, launch's figures)."""
    names = context.names(scale)
    context.fresh()
    world_copy(context, workload)
    out = os.path.join(context.run, "figures.json")
    server_out = subprocess.PIPE if not workload.driver else subprocess.DEVNULL
    process = subprocess.Popen(launch_command(context, workload, allocator, names, out), stdin=subprocess.DEVNULL,
                               stdout=server_out, stderr=server_out, env=environment(), cwd=context.run)
    driven = b""
    if workload.driver:
        driver = subprocess.run([w.format(**names) for w in workload.driver], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), cwd=context.run)
        driven = driver.stdout
        if driver.returncode:
            process.terminate()
            process.wait()
            raise RunFailed(f"driver failed: {driver.stderr.decode(errors='replace').strip()[-200:]}")
    stdout, stderr = process.communicate()
    if process.returncode or not os.path.exists(out):
        raise RunFailed(f"launch failed with status {process.returncode}")
    with open(out) as f:
        return stdout or b"", stderr or b"", driven, json.load(f)


def own_lines(stdout):
    """The `word value` lines that our own workloads print."""
    return dict(line.split(" ", 1) for line in stdout.decode(errors="replace").splitlines() if " " in line)


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def result_of(context, workload, allocator, stdout, stderr, driven):
    """What the run computed, as a short string that must be the same under every allocator."""
    kind, _, what = workload.check.partition(":")
    if allocator and allocator.wrapper:
        kind = "wrapped"  # such tools print into the program's own output
    if kind == "own":
        return own_lines(stdout).get("result", "")
    if kind == "stdout":
        return digest(stdout)
    if kind == "driver":
        return digest(driven)
    if kind == "file":
        with open(os.path.join(context.run, what), "rb") as f:
            return digest(f.read())
    if kind == "lines":
        mark = what.encode()
        found = [line.split(mark, 1)[1] for line in (stdout + b"\n" + stderr).splitlines() if mark in line]
        return digest(b"\n".join(found)) if found else ""
    return UNCHECKED


def refuse(workload, allocator, stdout, stderr, figures):
    """Raises RunFailed if the run is not what it should be."""
    if figures["timed_out"]:
        raise RunFailed(f"still running after {workload.timeout} s")
    if figures["status"] or figures["signal"]:
        said = stderr.decode(errors="replace").strip().splitlines()
        raise RunFailed(f"status {figures['status']}, signal {figures['signal']}: {said[-1][:160] if said else 'said nothing'}")
    if not allocator or not allocator.preload:
        return
    if workload.check == "own":
        came_from = own_lines(stdout).get("malloc", "")
        if os.path.realpath(came_from) != os.path.realpath(allocator.preload):
            raise RunFailed(f"malloc came from {came_from}, not from {allocator.preload}")
    elif not figures["preloaded"]:
        raise RunFailed(f"{allocator.preload} was not in the program's maps")


def memo_once(context, workload, allocator, scale):
    """One untimed run that reports at its end: {"allocs", "unwound", "memo_hits"} over all its processes."""
    pattern = os.path.join(context.run, "report.%p.json")
    execute(context, workload, allocator.having(POOLMEM_EXIT="1", POOLMEM_STATS=pattern), scale)
    total = {"allocs": 0, "unwound": 0, "memo_hits": 0, "pools": {}}
    for path in glob.glob(pattern.replace("%p", "*")):
        with open(path) as f:
            page = json.load(f)
        for name in ("unwound", "memo_hits"):
            total[name] += page["process"].get(name, 0)
        for pool in page["pools"]:
            total["allocs"] += pool["allocs"]
            total["pools"][pool["name"]] = total["pools"].get(pool["name"], 0) + pool["allocs"]
    return total


def run_once(context, workload, allocator, scale):
    """One measured run as a flat dict."""
    meter = machine.LoadMeter()
    stdout, stderr, driven, figures = execute(context, workload, allocator, scale)
    cpu = (figures["user_us"] + figures["sys_us"]) / 1e6
    foreign, steal = meter.stop(cpu)
    refuse(workload, allocator, stdout, stderr, figures)
    result = result_of(context, workload, allocator, stdout, stderr, driven)
    if not result:
        raise RunFailed("printed no result")
    run = {k: figures[k] for k in ("wall_ns", "user_us", "sys_us", "rss_kb", "minor_faults", "major_faults", "switches",
                                   "preempted")}
    # A driver's CPU time is no foreign load, but it cannot be told apart here: no figure is better than a wrong one.
    run["time_ns"] = int(cpu * 1e9) if workload.clock == "cpu" else run["wall_ns"]
    run.update(result=result, foreign=None if workload.driver else round(foreign, 3), steal=round(steal, 3))
    if workload.check == "own":
        lines = own_lines(stdout)
        run.update(ns=float(lines["ns"]), rss_end_kb=int(lines["rss_end"]))
    return run
