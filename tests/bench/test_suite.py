# SPDX-License-Identifier: MIT
"""Tests of the benchmark tool itself: figures, parsing, order, checks, reports. Runs in seconds, measures nothing.

Some start real programs through bench/launch when it has been built.
"""

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(ROOT, "build"))
sys.path.insert(0, os.path.join(ROOT, "bench"))

from suite import allocators, machine, plot, report, rounds, runner, stats, workloads  # noqa: E402

LAUNCH = os.path.join(BUILD, "bench", "launch")


class Figures(unittest.TestCase):
    def test_median(self):
        self.assertEqual(stats.median([3, 1, 2]), 2)
        self.assertEqual(stats.median([4, 1, 2, 3]), 2.5)
        with self.assertRaises(ValueError):
            stats.median([])

    def test_geomean(self):
        self.assertAlmostEqual(stats.geomean([0.5, 2.0]), 1.0)
        self.assertAlmostEqual(stats.geomean([1, 10, 100]), 10)
        for bad in ([], [1, 0], [1, -1]):
            with self.assertRaises(ValueError):
                stats.geomean(bad)

    def test_ratio_is_paired_by_round(self):
        # The machine halves its speed in round 2: the paired ratio does not notice.
        r = stats.ratio({0: 5, 1: 5, 2: 10}, {0: 10, 1: 10, 2: 20})
        self.assertEqual((r.mid, r.low, r.high), (0.5, 0.5, 0.5))

    def test_ratio_leaves_out_rounds_of_one_side(self):
        r = stats.ratio({0: 5, 3: 99}, {0: 10, 1: 10})
        self.assertEqual(r.mid, 0.5)
        self.assertIsNone(stats.ratio({0: 5}, {1: 10}))

    def test_spread(self):
        self.assertEqual(stats.spread([1, 2, 9]), (1, 9))
        self.assertEqual(stats.spread([1, 2, 3, 4, 100]), (2, 4))

    def test_mean_ratio(self):
        pairs = [({0: 1, 1: 2}, {0: 2, 1: 4}), ({0: 4, 1: 4}, {0: 2, 1: 2})]
        r = stats.mean_ratio(pairs)
        self.assertAlmostEqual(r.mid, 1.0)
        self.assertAlmostEqual(r.low, 1.0)
        self.assertIsNone(stats.mean_ratio([({}, {0: 1})]))


class Allocators(unittest.TestCase):
    def test_file_and_variables(self):
        with tempfile.NamedTemporaryFile(suffix=".so") as f:
            a = allocators.parse(f"flat={f.name},POOLMEM_DEPTH=0,X=a=b", BUILD)
            self.assertEqual((a.name, a.preload), ("flat", f.name))
            self.assertEqual(a.variables, {"POOLMEM_DEPTH": "0", "X": "a=b"})
            unnamed = allocators.parse(f"{f.name},K=1", BUILD)
            self.assertEqual(unnamed.name, os.path.basename(f.name)[:-3] + ",K=1")

    def test_a_library_of_the_build_is_named_in_full(self):
        with tempfile.TemporaryDirectory(dir=".") as build:
            open(os.path.join(build, "libpoolmem.so"), "w").close()
            found = allocators.parse("poolmem", os.path.relpath(build))
            self.assertTrue(os.path.isabs(found.preload))
            self.assertTrue(found.is_tagging)
            self.assertFalse(allocators.parse("x=poolmem,POOLMEM_DEPTH=0", build).is_tagging)

    def test_mistakes_are_named(self):
        for spec, said in (("nosuch", "neither a known allocator"), ("glibc,oops", "expected VAR=VALUE")):
            with self.assertRaisesRegex(allocators.UnknownAllocator, said):
                allocators.parse(spec, BUILD)

    def test_missing_ones_can_be_left_out(self):
        found, missing = allocators.parse_list(["glibc", "nosuch"], BUILD, strict=False)
        self.assertEqual([a.name for a in found], ["glibc"])
        self.assertEqual(len(missing), 1)

    def test_twice_is_refused(self):
        with self.assertRaisesRegex(allocators.UnknownAllocator, "given twice"):
            allocators.parse_list(["glibc", "glibc"], BUILD)


class Order(unittest.TestCase):
    def test_everyone_is_first_and_follows_different_ones(self):
        names = ["a", "b", "c"]
        orders = [rounds.order_of(names, r, 0) for r in range(6)]
        self.assertEqual({o[0] for o in orders}, set(names))
        before_b = {o[o.index("b") - 1] for o in orders if o.index("b")}
        self.assertEqual(before_b, {"a", "c"})
        for o in orders:
            self.assertEqual(sorted(o), names)


class Workloads(unittest.TestCase):
    def test_names_are_unique_and_globs_select(self):
        names = [w.name for w in workloads.ALL]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual([w.name for w in workloads.select(["lars*"])], ["larson", "larson-mixed"])
        self.assertEqual({w.group for w in workloads.select(["micro"])}, {"micro"})
        self.assertEqual(len(workloads.select([])), len(names))

    def test_what_is_missing_is_named(self):
        w = workloads.Workload("x", "program", ["/nonexistent/x"], "")
        self.assertEqual(w.missing({}), ["/nonexistent/x"])


def document(**problems):
    """Three rounds: `fast` takes half of base's time and twice its memory."""
    runs = []
    for number in range(3):
        for name, wall, rss in (("base", 100, 50), ("fast", 50, 100)):
            runs.append({"workload": "w", "allocator": name, "round": number, "time_ns": wall * (number + 1),
                         "user_us": wall, "sys_us": 0, "rss_kb": rss, "minor_faults": 10, "major_faults": 0, "result": "1",
                         "foreign": 0.0, "steal": 0.0, "disturbed": False, "ns": 4.0})
    return {"schema": 1, "date": "now", "machine": machine.describe(), "base": "base",
            "allocators": [{"name": "base"}, {"name": "fast"}],
            "workloads": [{"name": "w", "group": "micro", "like": "none", "scale": 1}], "runs": runs, "problems": []}


class Reports(unittest.TestCase):
    def test_table(self):
        table = report.Table(document())
        self.assertEqual(table.ratio("time", "w", "fast").mid, 0.5)
        self.assertEqual(table.ratio("rss", "w", "fast").mid, 2.0)
        self.assertEqual(table.worst("rss", "fast"), (2.0, "w"))
        self.assertEqual(table.large(), [])
        self.assertIn("0.50 (0.50..0.50)", report.text(report.rows_of(table, "time")))

    def test_verdict(self):
        d = document()
        d["allocators"][1]["name"] = "poolmem"
        for run in d["runs"]:
            run["allocator"] = run["allocator"].replace("fast", "poolmem")
        lines = report.verdict_lines(report.Table(d))
        self.assertTrue(any(x.startswith("met   poolmem: time geomean") for x in lines), lines)
        self.assertTrue(any(x.startswith("MISS  poolmem: peak RSS geomean") for x in lines), lines)

    def test_verdict_against_flat_is_about_tags(self):
        d = document()
        d["allocators"] = [{"name": "flat", "variables": {"POOLMEM_DEPTH": "0"}}, {"name": "poolmem"}]
        d["base"], d["workloads"][0]["group"] = "flat", "program"
        for run in d["runs"]:
            run["allocator"] = {"base": "flat", "fast": "poolmem"}[run["allocator"]]
        d["hits"] = [{"workload": "w", "allocator": "poolmem", "allocs": 100, "unwound": 3, "memo_hits": 97}]
        lines = report.verdict_lines(report.Table(d))
        self.assertEqual(len(lines), 2)
        self.assertIn("met   poolmem: w / flat: 0.500, target 1.03", lines)
        self.assertIn("MISS  poolmem: w, callers the memo did not know: 0.030, target 0.02", lines)
        self.assertIn("97.00 %", report.text(report.rows_hits(report.Table(d))))

    def test_section_is_replaced_in_place(self):
        first = report.section_replace("# Title\n", "a", "one")
        self.assertIn("# Title", first)
        second = report.section_replace(first + "tail\n", "a", "two")
        self.assertIn("two", second)
        self.assertNotIn("one", second)
        self.assertTrue(second.endswith("tail\n"))

    def test_markdown_has_every_part(self):
        page = report.markdown_all(document(), "plots")
        for part in ("### Summary", "### Time", "### Peak RSS", "(plots/time.svg)", "| w |"):
            self.assertIn(part, page)

    def test_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            if not plot.table_bars(report.Table(document()), report.METRICS, folder):
                self.skipTest("gnuplot is not installed")
            with open(os.path.join(folder, "time.svg")) as f:
                self.assertIn("<svg", f.read())


def command_load(name):
    """The module of one of bench/'s commands, which have no ending."""
    loader = importlib.machinery.SourceFileLoader("bench_" + name, os.path.join(ROOT, "bench", name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Command(unittest.TestCase):
    """bench/compare from outside."""

    def compare(self, *words):
        return subprocess.run([sys.executable, "-B", os.path.join(ROOT, "bench", "compare"), "--build", BUILD, *words],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)

    def test_mistakes_get_one_line_and_status_2(self):
        for words, said in ((["-a", "nosuch"], "neither a known allocator"), (["-a", "glibc", "--base", "x"], "base x is not among"),
                            (["-a", "glibc", "--base", "glibc", "-w", "nosuch"], "no workload matches")):
            done = self.compare(*words)
            if not os.path.exists(LAUNCH):
                self.skipTest("bench/launch is not built")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(said, done.stderr)

    def test_a_stored_run_is_reported_again(self):
        with tempfile.TemporaryDirectory() as folder:
            stored, page = os.path.join(folder, "run.json"), os.path.join(folder, "page.md")
            with open(stored, "w") as f:
                json.dump(document(), f)
            done = self.compare("--from", stored, "--base", "base", "--markdown", page)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("0.50 (0.50..0.50)", done.stdout)
            with open(page) as f:
                self.assertTrue(f.read().startswith("<!-- begin suite -->"))

    def test_list(self):
        self.assertEqual(len(self.compare("--list").stdout.splitlines()), len(workloads.ALL))


class Machine(unittest.TestCase):
    def test_the_lock_keeps_others_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "lock")
            held, said = machine.lock_take(path, None), []
            other = threading.Thread(target=lambda: os.close(machine.lock_take(path, said.append)))
            other.start()
            other.join(0.2)
            self.assertTrue(other.is_alive())
            os.close(held)
            other.join(10)
            self.assertFalse(other.is_alive())
            self.assertEqual(len(said), 1)

    def test_description(self):
        found = machine.describe()
        self.assertEqual(found["cpus"], os.cpu_count())
        self.assertGreater(found["memory_mb"], 0)


class Scaling(unittest.TestCase):
    scale = command_load("scale")

    def test_growth(self):
        self.assertEqual(self.scale.growth([2.0, 4.0, None]), [1.0, 2.0, None])
        self.assertEqual(self.scale.growth([None, 4.0]), [None, None])

    def test_only_growth_beyond_the_bases_is_marked(self):
        self.assertEqual(self.scale.cell(4.0, 2.0, 2.0), "4.0 (2.00x)")
        self.assertEqual(self.scale.cell(4.0, 2.0, 1.5), "4.0 (2.00x !)")
        self.assertEqual(self.scale.cell(2.2, 1.1, 0.5), "2.2 (1.10x)")
        self.assertEqual(self.scale.cell(None, None, 1.0), "-")

    def test_every_caller_has_its_rule(self):
        with tempfile.TemporaryDirectory() as build:
            os.makedirs(os.path.join(build, "bench"))
            with open(self.scale.rules_write(runner.Context(build, ROOT))) as f:
                lines = f.read().splitlines()
        self.assertEqual(sum(line.startswith("Site") for line in lines), 256)
        self.assertLess(lines.index("[rules]"), lines.index("Siteff = symbol:site_ff"))


class Tags(unittest.TestCase):
    tags = command_load("tags")

    def test_price_is_the_median_gap_inside_rounds(self):
        d = document()
        d["allocators"] = [{"name": "flat"}, {"name": "poolmem"}]
        d["runs"] = [{"workload": "w", "allocator": a, "round": r, "ns": ns}
                     for r, pair in enumerate(((4, 6), (8, 11), (4, 5))) for a, ns in zip(("flat", "poolmem"), pair)]
        self.assertEqual(self.tags.price(report.Table(d), "w"), 2)

    def test_depth_one_is_decided_by_the_leaf(self):
        points = self.tags.points({"outermost": "O", "innermost": "I"})
        conf = {p.name: p.variables["POOLMEM_CONF"] for p in points}
        self.assertEqual((conf["depth 1"], conf["depth 2"], conf["depth 32"]), ("I", "O", "O"))


@unittest.skipUnless(os.path.exists(LAUNCH), "bench/launch is not built")
class Runs(unittest.TestCase):
    def setUp(self):
        self.context = runner.Context(BUILD, os.path.join(ROOT, "bench"))
        self.glibc = allocators.parse("glibc", BUILD)

    def tearDown(self):
        self.context.clean()

    def run_shell(self, script, check="stdout", allocator=None, timeout=20):
        w = workloads.Workload("shell", "test", ["/bin/sh", "-c", script], "", check=check, timeout=timeout)
        return runner.run_once(self.context, w, allocator, 1.0)

    def test_result_and_figures(self):
        run = self.run_shell("echo hello; sleep 0.05", allocator=self.glibc)
        self.assertEqual(run["result"], runner.digest(b"hello\n"))
        self.assertGreater(run["wall_ns"], 0)
        self.assertGreater(run["rss_kb"], 100)

    def test_peak_rss_is_the_programs_own(self):
        ballast = bytearray(64 << 20)
        ballast[::4096] = b"x" * len(ballast[::4096])
        self.assertLess(self.run_shell("exit 0; echo", "none")["rss_kb"], 20000)

    def test_failure_is_refused(self):
        with self.assertRaisesRegex(runner.RunFailed, "status 3, signal 0: oh no"):
            self.run_shell("echo oh no >&2; exit 3")
        with self.assertRaisesRegex(runner.RunFailed, "status -1, signal 9"):
            self.run_shell("kill -9 $$")

    def test_hits_are_summed_over_processes(self):
        page = {"process": {"unwound": 2, "memo_hits": 98}, "pools": [{"name": "A", "allocs": 60}, {"name": "B", "allocs": 40}]}
        script = f"for n in 1 2; do echo '{json.dumps(page)}' > ${{POOLMEM_STATS%%%p*}}$n.json; done"
        w = workloads.Workload("shell", "test", ["/bin/sh", "-c", script.replace("{", "{{").replace("}", "}}")], "")
        found = runner.memo_once(self.context, w, self.glibc, 1.0)
        self.assertEqual(found, {"allocs": 200, "unwound": 4, "memo_hits": 196, "pools": {"A": 120, "B": 80}})

    def test_wrapped_runs_are_not_compared(self):
        w = workloads.Workload("shell", "test", ["/bin/sh", "-c", "echo hello"], "", check="stdout")
        wrapped = allocators.Allocator("wrapped", None)
        wrapped.wrapper = ["/usr/bin/env", "X=1"]
        self.assertEqual(runner.run_once(self.context, w, wrapped, 1.0)["result"], runner.UNCHECKED)

    def test_stacks_are_different_and_as_deep_as_they_say(self):
        for depth, stacks in ((2, 1), (3, 32), (5, 5000), (32, 1000)):
            w = workloads.Workload("check", "test", ["{build}/bench/tags", "check", "1", "0", str(depth), str(stacks)], "")
            run = runner.run_once(self.context, w, None, 1.0)
            self.assertEqual(int(run["result"], 16), stacks, f"depth {depth}")

    def test_time_limit(self):
        with self.assertRaisesRegex(runner.RunFailed, "still running after 1 s"):
            self.run_shell("sleep 30", timeout=1)

    def test_preload_that_is_not_in_force_is_refused(self):
        with tempfile.NamedTemporaryFile(suffix=".so") as empty:
            fake = allocators.Allocator("fake", empty.name)
            with self.assertRaisesRegex(runner.RunFailed, "was not in the program's maps"):
                self.run_shell("echo hello; sleep 0.05", allocator=fake)

    def test_malloc_from_elsewhere_is_refused(self):
        libm = allocators.Allocator("libm", allocators.library_find("libm.so.6", BUILD))
        w = workloads.select(["pair"])[0]
        with self.assertRaisesRegex(runner.RunFailed, "malloc came from"):
            runner.run_once(self.context, w, libm, 0.01)

    def test_different_results_are_a_problem(self):
        with tempfile.TemporaryDirectory() as folder:
            once = os.path.join(folder, "once")
            w = workloads.Workload("odd", "test", ["/bin/sh", "-c", f"test -e {once} && echo two; touch {once}; echo one; sleep 0.05"],
                                   "", check="stdout")
            one, two = self.glibc, allocators.Allocator("other", self.glibc.preload)
            s = rounds.Rounds(self.context, [w], [one, two], "glibc", lambda _: 1.0, lambda _: None)
            d = s.run(1)
        self.assertEqual(len(d["runs"]), 1)
        self.assertIn("the others got", d["problems"][0]["text"])
        json.dumps(d)

    def test_own_workloads_agree_on_results(self):
        for w in workloads.ALL:
            if w.check == "own" and not w.missing(self.context.names()):
                runs = [runner.run_once(self.context, w, a, 0.004) for a in (None, self.glibc)]
                self.assertEqual(runs[0]["result"], runs[1]["result"], w.name)


if __name__ == "__main__":
    unittest.main()
