"""What is measured with: `adjudge bench` and the programs in bench/, over a tiny model."""
import argparse
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import accuracy  # noqa: E402
import peers  # noqa: E402
import race  # noqa: E402

OPTIONS = None
QUICK = ["--rounds", "2", "--threads", "1", "--precision", "f32"]


def run(*arguments):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, timeout=120)


def bench(*flags):
    return run(OPTIONS.program, "bench", "--model", OPTIONS.model, *QUICK, *flags)


class Bench(unittest.TestCase):
    def cases(self, *flags):
        done = bench("--json", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["threads"], report["rounds"]), (1, 2))
        return {case["case"]: case for case in report["cases"]}

    def test_every_case_is_measured(self):
        cases = self.cases("--lengths", "8,40")
        self.assertEqual(list(cases), ["prefill-8", "prefill-40", "short", "one", "three", "eight", "follow-up",
                                       "sixty-options"])
        for case in cases.values():
            self.assertLessEqual(case["least_ms"], case["median_ms"])
            self.assertLessEqual(case["median_ms"], case["most_ms"])
            self.assertGreater(case["evaluated"], 0)
            self.assertAlmostEqual(case["tokens_per_second"], case["evaluated"] * 1000 / case["median_ms"])
        self.assertEqual((cases["prefill-8"]["tokens"], cases["prefill-40"]["tokens"]), (8, 40))
        self.assertGreater(cases["eight"]["tokens"], cases["three"]["tokens"])

    def test_a_follow_up_evaluates_its_questions_alone(self):
        kept = self.cases("--case", "three", "--case", "follow-up")
        self.assertLess(kept["follow-up"]["evaluated"], kept["three"]["evaluated"] / 2)
        nothing = self.cases("--case", "follow-up", "--snapshot-cache", "0")["follow-up"]
        self.assertEqual(nothing["evaluated"], nothing["tokens"])

    def test_the_table_has_a_line_per_case_and_the_ceiling(self):
        done = bench("--case", "prefill", "--case", "one", "--lengths", "8,40")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertIn("this machine at most:", lines[1])
        self.assertEqual([line.split()[0] for line in lines[4:]], ["prefill-8", "prefill-40", "one"])

    def test_what_is_refused_does_not_end_the_others(self):
        cases = self.cases("--case", "prefill", "--case", "one", "--lengths", "8,1000000")
        self.assertEqual([name for name, case in cases.items() if "refused" in case], ["prefill-1000000"])
        self.assertGreater(cases["one"]["median_ms"], 0)

    def test_unknown_cases_are_bad_requests(self):
        self.assertEqual(bench("--case", "nothing").returncode, 2)
        self.assertEqual(bench("--rounds", "0").returncode, 2)
        self.assertEqual(bench("--lengths", "0").returncode, 2)


class Accuracy(unittest.TestCase):
    def test_percentiles_are_values_that_were_seen(self):
        values = list(range(1, 101))
        self.assertEqual(accuracy.percentile(values, 0.95), 95)
        self.assertEqual(accuracy.percentile([3.0], 0.95), 3.0)

    def test_only_clear_changes_count(self):
        clear, tied = [[0.7, 0.3]], [[0.52, 0.48]]
        turned = [[0.4, 0.6]]
        self.assertEqual(accuracy.changed_count(clear, turned), 1)
        self.assertEqual(accuracy.changed_count(tied, turned), 0)
        self.assertEqual(accuracy.changed_count(clear, clear), 0)
        self.assertAlmostEqual(accuracy.difference(clear, turned), 0.3)

    def test_f32_differs_from_nothing_and_bf16_does(self):
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            requests = Path(folder) / "some.jsonl"
            requests.write_text("".join(accuracy.REQUESTS.read_text().splitlines(True)[:5]))
            done = run(sys.executable, "-B", ROOT / "bench" / "accuracy.py", "--adjudge", OPTIONS.program, "--model",
                       OPTIONS.model, "--requests", requests, "--precisions", "f32", "bf16", "--threads", 1, "--json", report)
            self.assertEqual(done.returncode, 0, done.stderr)
            exact, rounded = json.loads(report.read_text())["rows"]
        self.assertEqual(exact["maximum"], 0)
        self.assertGreater(rounded["maximum"], 0)

    def test_a_hundred_requests_are_published(self):
        bodies = [json.loads(line) for line in accuracy.REQUESTS.read_text().splitlines()]
        self.assertEqual(len({json.dumps(body) for body in bodies}), 100)


class Race(unittest.TestCase):
    def rows(self, name, *flags):
        with tempfile.NamedTemporaryFile() as file:
            done = run(sys.executable, "-B", ROOT / "bench" / "race.py", name, "--adjudge", OPTIONS.program, "--model",
                       OPTIONS.model, "--rounds", 1, "--threads", 1, "--precision", "f32", "--json", file.name, *flags)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.load(file)["rows"]

    def test_we_alone_win_by_one(self):
        rows = self.rows("requests", "--case", "three", "--case", "follow-up")
        self.assertEqual([row["case"] for row in rows], ["three", "follow-up"])
        for row in rows:
            self.assertEqual((row["side"], row["ratio"]), ("adjudge", 1.0))
            self.assertGreater(row["tokens"], 0)

    def test_the_other_races_run(self):
        self.assertEqual(len(self.rows("busy")), 1)
        self.assertEqual([row["side"] for row in self.rows("start")], ["adjudge serve", "adjudge decide"])
        self.assertEqual([row["side"] for row in self.rows("prompt", "--length", "12", "--precisions", "f32", "bf16")],
                         ["adjudge f32", "adjudge bf16"])

    def test_no_two_rounds_share_a_state(self):
        states = {race.request("three", seed)[0]["state"] for seed in range(50)}
        self.assertEqual(len(states), 50)
        body, before = race.request("follow-up", 3)
        self.assertEqual(body["state"], before["state"])
        self.assertNotEqual(body["questions"], before["questions"])

    def test_everybody_is_first_once(self):
        self.assertEqual([race.rotated([1, 2, 3], turn)[0] for turn in range(4)], [1, 2, 3, 1])

    def test_labels_are_found_in_both_servers_words(self):
        new = {"completion_probabilities": [{"top_logprobs": [{"token": "B", "logprob": -1.0}, {"token": "A", "logprob": -2.0}]}]}
        old = {"completion_probabilities": [{"probs": [{"tok_str": "A", "prob": 1.0}, {"tok_str": "B", "prob": 0.0}]}]}
        self.assertEqual(peers.label_logits(new, 2), [-2.0, -1.0])
        self.assertEqual(peers.label_logits(old, 2)[0], 0.0)
        self.assertIsNone(peers.label_logits(new, 3))
        self.assertAlmostEqual(peers.softmax([0.0, 0.0], 2)[0], 0.5)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, help="the built adjudge")
    parser.add_argument("--model", required=True, help="a tiny model")
    OPTIONS = parser.parse_args()
    unittest.main(argv=[sys.argv[0]])
