#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of `iocomp numa` on this machine. What needs two NUMA domains is in tests/smt.

Usage: numa_test.py <path of the command> [unittest options]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

BAD_INPUT = 2
CPUS = sorted(os.sched_getaffinity(0))
DOMAINS = len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*")))
SMALL = ("--size", "4MiB", "--rounds", "2")


class NumaTest(unittest.TestCase):
    """Each test has a working directory of its own."""

    command = "iocomp"

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(dir=pathlib.Path(self.command).parent)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_numa(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the command with these words and return what it did."""
        return subprocess.run(
            [self.command, "numa", *words],
            cwd=self.folder,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    def refused(self, *words: str, **variables: str) -> str:
        """Return what the command says when it refuses to measure."""
        done = self.run_numa(*words, **variables)
        self.assertEqual(done.returncode, BAD_INPUT, done)
        self.assertEqual(done.stdout, "")
        return done.stderr

    @unittest.skipIf(DOMAINS > 1, "several NUMA domains here")
    def test_one_domain_is_told_and_only_threads_are_measured(self) -> None:
        done = self.run_numa(*SMALL, "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^1 NUMA domain of this machine$")
        self.assertRegex(done.stdout, r"(?m)^memory +domains +threads +local$")
        self.assertRegex(done.stdout, r"(?m)^on one +1 +1 +[\d.]+ \([\d.]+ to [\d.]+\)$")
        self.assertIn("There is one NUMA domain with CPUs: no routes to compare", done.stdout)
        self.assertNotIn("auto", done.stdout)

    def test_json_has_every_sample_and_the_picture_every_rate(self) -> None:
        done = self.run_numa(*SMALL, "--json", "--only", "copy,write", "--svg", "heat.svg")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(sorted(cpu for one in found["domains"] for cpu in one["cpus"]), CPUS)
        self.assertEqual({one["operation"] for one in found["trials"]}, {"write", "copy"})
        self.assertEqual(found["bytes_per_domain"], 4 << 20)
        most = max(trial["threads"] for trial in found["trials"])
        self.assertLessEqual(most, len(CPUS))
        words = [
            text.firstChild.data
            for text in xml.dom.minidom.parse(str(self.folder / "heat.svg")).getElementsByTagName(
                "text"
            )
        ]
        for trial in found["trials"]:
            rates = sorted(
                trial["bytes"] / sample["seconds"] / 2**30
                for sample in trial["samples"]
                if sample["placed"]
            )
            self.assertEqual(len(trial["samples"]), 2)
            self.assertEqual(len(rates) + trial["misplaced"], 2)
            if rates:
                self.assertAlmostEqual(trial["least_gib_per_second"], rates[0])
                self.assertAlmostEqual(trial["median_gib_per_second"], sum(rates) / len(rates))
                self.assertIn(f"{trial['median_gib_per_second']:.2f}", words)
        if DOMAINS == 1:
            self.assertEqual(found["auto"], [])
            self.assertEqual({trial["policy"] for trial in found["trials"]}, {"local"})

    def test_nothing_is_left_in_the_directory(self) -> None:
        done = self.run_numa(".", *SMALL, "--only", "write")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_cpus_that_are_not_allowed_get_no_thread(self) -> None:
        os.sched_setaffinity(0, CPUS[-1:])
        self.addCleanup(os.sched_setaffinity, 0, CPUS)
        found = json.loads(self.run_numa(*SMALL, "--json", "--only", "copy").stdout)
        self.assertEqual([one["cpus"] for one in found["domains"] if one["cpus"]], [CPUS[-1:]])
        self.assertEqual({trial["threads"] for trial in found["trials"]}, {1})

    def test_another_machine_cannot_be_measured(self) -> None:
        words = (*SMALL, "--only", "copy", "--threads", "1")
        told = self.refused(*words, HWLOC_SYNTHETIC="pack:2 core:64 pu:1")
        self.assertRegex(told, r"a thread was to run on CPU \d+ alone, and may run on")

    def test_bad_arguments_are_refused_and_the_allowed_ones_named(self) -> None:
        for words, told in (
            (("--size", "many"), '--size = "many": allowed are multiples of 4 KiB'),
            (("--size", "5000"), '--size = "5000": allowed are multiples of 4 KiB'),
            (("--threads", "0"), '--threads = "0": allowed are numbers from 1 to '),
            (("--threads", "99999"), '--threads = "99999": allowed are numbers from 1 to '),
            (("--threads", "x"), '--threads = "x"'),
            (("--only", "think"), "allowed are write, read, direct-write, direct-read, copy"),
            (("--rounds", "0"), '--rounds = "0": allowed are 1 to 1000'),
            (("not-there",), "not-there: No such file or directory"),
            (("--size", "1024TiB"), "NUMA domains needs"),
        ):
            with self.subTest(words):
                self.assertIn(told, self.refused(*words))

    def test_a_picture_that_cannot_be_written_is_told(self) -> None:
        told = self.refused(*SMALL, "--only", "copy", "--svg", "not-there/heat.svg")
        self.assertIn("cannot write not-there/heat.svg: No such file or directory", told)


if __name__ == "__main__":
    NumaTest.command = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
