"""What the commands beside serve print and how they leave: decide, explain, check, replay, inspect, tokenize."""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

OPTIONS = None
GOLDEN = Path(__file__).resolve().parents[2] / "testdata/golden"
REQUEST = json.dumps({"state": "Charged twice.", "questions": {
    "team": {"type": "choice", "instructions": "Which?", "criteria": {"billing": "payments", "tech": None}},
    "refund": {"type": "noul", "instructions": "Asked for?"}}})
SUCCESS, FAILURE, BAD_REQUEST, BAD_MODEL = range(4)


def model(name):
    return f"{OPTIONS.models}/{name}.gguf"


def run(*arguments, text=""):
    return subprocess.run([OPTIONS.program, *arguments], input=text, capture_output=True, text=True, timeout=120)


def golden(name):
    with (GOLDEN / f"{name}.jsonl").open() as lines:
        return [json.loads(line) for line in lines]


class Commands(unittest.TestCase):
    def lines_file(self, lines):
        file = tempfile.NamedTemporaryFile("w", suffix=".jsonl")
        self.addCleanup(file.close)
        file.write("".join(json.dumps(line) + "\n" for line in lines))
        file.flush()
        return file.name

    def expect(self, status, *arguments, text=""):
        result = run(*arguments, text=text)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result


class Explain(Commands):
    def test_shows_the_recorded_prompts(self):
        recorded = next(line for line in golden("kev") if line["status"] == 200)
        shown = json.loads(self.expect(SUCCESS, "explain", "--model", model("tiny-kev-f32"), "--faithful", "-",
                                       text=recorded["body"]).stdout)
        self.assertEqual([prompt["ids"] for prompt in shown["prompts"]],
                         [prompt["ids"] for prompt in recorded["prompts"]])
        self.assertEqual(shown["family"], "kev")
        self.assertEqual(shown["tokens"]["prompts"], sum(len(prompt["ids"]) for prompt in shown["prompts"]))

    def test_asks_another_familys_way_when_told(self):
        shown = json.loads(self.expect(SUCCESS, "explain", "--model", model("tiny-openjev-qwen3-f32"),
                                       "--family", "nimble", text=REQUEST).stdout)
        self.assertEqual(shown["family"], "nimble")

    def test_refuses_with_the_place(self):
        refused = self.expect(BAD_REQUEST, "explain", "--model", model("tiny-kev-f32"), text='{"questions": {}}')
        self.assertIn("state", refused.stderr)
        self.expect(BAD_MODEL, "explain", "--model", "nowhere.gguf", text=REQUEST)


class Check(Commands):
    def check(self, status, lines, *flags, name="tiny-openjev-qwen3-f32"):
        return self.expect(status, "check", "--model", model(name), "--faithful", "--precision", "f32", *flags,
                           self.lines_file(lines)).stdout

    def lines(self):
        return [line for line in golden("openjev-qwen3") if line["id"].startswith("choice2")]

    def test_agrees_with_what_was_recorded(self):
        said = self.check(SUCCESS, self.lines())
        self.assertRegex(said, rf"{len(self.lines())} compared\n")
        self.assertRegex(said, r"limit 2\.00e-05: good\n$")

    def test_finds_another_probability(self):
        lines = self.lines()
        answer = next(iter(lines[0]["response"]["answers"].values()))
        key = next(iter(answer["probabilities"]))
        answer["probabilities"][key] += 1e-3
        said = self.check(FAILURE, lines)
        self.assertIn("NOT GOOD", said)
        self.assertIn(f"probabilities.{key}", said)
        self.check(SUCCESS, lines, "--limit", "2e-3")
        self.check(SUCCESS, lines, "--except", lines[0]["id"])

    def test_reads_a_whole_number_as_one(self):
        lines = self.lines()
        answer = next(iter(lines[0]["response"]["answers"].values()))
        for i, key in enumerate(answer["probabilities"]):
            answer["probabilities"][key] = int(i == 0)
        self.check(FAILURE, lines, "--limit", "0")
        self.check(SUCCESS, lines, "--limit", "1")

    def test_finds_another_token(self):
        lines = self.lines()
        lines[0]["prompts"][0]["ids"][3] += 1
        said = self.check(FAILURE, lines)
        self.assertIn("TOKEN IDS DIFFER: prompt 0, token 3", said)

    def test_finds_a_refusal(self):
        lines = self.lines()
        lines[0]["body"] = "{}"
        self.assertIn("REFUSED, recorded as answered", self.check(FAILURE, lines))

    def test_does_not_run_what_another_model_answered(self):
        lines = self.lines()
        for line in lines:
            line["model"] = "another"
        self.assertIn("of another model", self.check(FAILURE, lines))
        self.check(SUCCESS, lines, "--any-model")

    def test_compares_with_the_member_it_is_told(self):
        lines = golden("openjev-qwen3.quant")
        name = "tiny-openjev-qwen3-wide-q8_0"
        self.check(SUCCESS, lines, "--against", "response_dequantised", "--limit", "5e-5", name=name)
        self.check(BAD_REQUEST, lines, "--against", "nothing", name=name)

    def test_names_the_line_that_is_none(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write("{\n")
            file.flush()
            said = self.expect(BAD_REQUEST, "check", "--model", model("tiny-kev-f32"), file.name).stderr
        self.assertIn(":1: ", said)


class Replay(Commands):
    def test_reads_a_whole_number_as_one(self):
        log = self.lines_file([{"id": "r", "body": REQUEST, "answers": {
            "team": {"probabilities": [1, 0]}, "refund": {"probabilities": [0.5, 0.5]}}}])
        report = json.loads(self.expect(SUCCESS, "replay", "--model", model("tiny-kev-f32"), log).stdout)
        answer = json.loads(self.expect(SUCCESS, "decide", "--model", model("tiny-kev-f32"), text=REQUEST).stdout)
        billing = answer["answers"]["team"]["probabilities"]["billing"]
        noul = answer["answers"]["refund"]["noul"]
        self.assertEqual(report["compared"], 1)
        self.assertAlmostEqual(report["largest_difference"], max(1 - billing, abs(noul - 0.5)), places=9)


class Inspect(Commands):
    def test_describes_a_file_and_takes_another_split(self):
        path = model("tiny-openjev-qwen3-f32")
        shown = json.loads(self.expect(SUCCESS, "inspect", path).stdout)
        self.assertEqual(shown["family"]["name"], "openjev")
        other = "llama-bpe" if shown["tokenizer"]["split"] != "llama-bpe" else "qwen2"
        self.assertEqual(json.loads(self.expect(SUCCESS, "inspect", "--split", other, path).stdout)["tokenizer"]["split"],
                         other)
        self.expect(BAD_MODEL, "inspect", "--split", "nowhere", path)


class Decide(Commands):
    REQUEST = json.dumps({"state": "long text " * 60, "x_usage": True,
                          "questions": {"q": {"type": "noul", "instructions": "Is it long?"}}})

    def decide(self, folder, **expected):
        result = self.expect(SUCCESS, "decide", "--model", model("tiny-kev-f32"), "--snapshot-folder", folder,
                             text=self.REQUEST)
        self.assertEqual("warning" in result.stderr, expected.get("warns", False), result.stderr)
        return json.loads(result.stdout)

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Path(folder.name)

    def test_goes_on_from_what_another_run_kept(self):
        folder = self.folder()
        cold, warm = self.decide(folder), self.decide(folder)
        self.assertLess(warm["x_usage"]["evaluated_tokens"], cold["x_usage"]["evaluated_tokens"] / 2)
        self.assertEqual(warm["answers"], cold["answers"])

    def test_whatever_lies_in_the_snapshots_place_only_warns(self):
        folder = self.folder()
        expected = self.decide(folder)["answers"]
        kept = next(folder.iterdir())
        part, victim = Path(f"{kept}.part"), folder / "victim"
        victim.write_text("precious")
        for put in (lambda: part.symlink_to(victim), lambda: os.mkfifo(part), part.mkdir):
            put()
            self.assertEqual(self.decide(folder, warns=True)["answers"], expected)
            part.rmdir() if part.is_dir() and not part.is_symlink() else part.unlink()
        self.assertEqual(victim.read_text(), "precious")
        kept.unlink()
        kept.mkdir()
        self.assertEqual(self.decide(folder, warns=True)["answers"], expected)

    def test_snapshots_are_for_their_owner_alone(self):
        folder = self.folder()
        self.decide(folder)
        kept = next(folder.iterdir())
        part = Path(f"{kept}.part")
        part.touch(0o644)
        self.decide(folder)
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)

    def test_another_file_of_the_same_fingerprint_has_its_own(self):
        folder, copy = self.folder(), self.folder() / "tiny-kev-f32.gguf"
        shutil.copy(model("tiny-kev-f32"), copy)
        cold = self.decide(folder)["x_usage"]["evaluated_tokens"]
        other = self.expect(SUCCESS, "decide", "--model", copy, "--snapshot-folder", folder, text=self.REQUEST)
        self.assertEqual(json.loads(other.stdout)["x_usage"]["evaluated_tokens"], cold)

    def test_what_cannot_be_read_is_no_empty_file(self):
        folder = self.folder()
        for arguments in (["decide"], ["decide", "--lines"], ["explain"], ["check"], ["replay"]):
            refused = self.expect(BAD_REQUEST, *arguments, "--model", model("tiny-kev-f32"), folder)
            self.assertIn("cannot read", refused.stderr)


    def test_a_closed_input_is_no_model_file_to_read_from(self):
        for flags in ([], ["--lines"]):
            refused = subprocess.run(["sh", "-c", 'exec "$0" "$@" <&-', OPTIONS.program, "decide", "--model",
                                      model("tiny-kev-f32"), *flags], capture_output=True, text=True, timeout=60)
            self.assertEqual(refused.returncode, BAD_REQUEST)
            self.assertIn("cannot read", refused.stderr)

    def test_an_answer_that_cannot_be_written_is_no_success(self):
        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        arguments = [OPTIONS.program, "decide", "--model", model("tiny-kev-f32")]
        lines = self.lines_file([json.loads(REQUEST)] * 20)
        spoilt = self.lines_file([json.loads(REQUEST), {"state": "no questions"}])
        with tempfile.TemporaryFile() as file, open("/dev/full", "wb") as full:
            for output, prepare, path, status in ((file, limit_files, lines, FAILURE), (full, None, lines, FAILURE),
                                                  (full, None, spoilt, BAD_REQUEST)):
                failed = subprocess.run([*arguments, path], stdout=output, stderr=subprocess.PIPE, text=True,
                                        preexec_fn=prepare, timeout=60)
                self.assertEqual(failed.returncode, status, failed.stderr)
                self.assertIn("cannot write to standard output", failed.stderr)

    def test_a_table_is_for_one_request(self):
        lines = self.lines_file([json.loads(REQUEST)] * 2)
        for arguments in ([lines], ["--lines", "-"]):
            refused = self.expect(BAD_REQUEST, "decide", "--model", model("tiny-kev-f32"), "--table", *arguments,
                                  text=REQUEST)
            self.assertIn("--table shows one request", refused.stderr)
            self.assertEqual(refused.stdout, "")
        shown = self.expect(SUCCESS, "decide", "--model", model("tiny-kev-f32"), "--table", text=REQUEST).stdout
        self.assertIn("team (choice): ", shown)


class Tokenize(Commands):
    def test_prints_a_list_a_line_and_goes_on_after_a_bad_one(self):
        result = self.expect(BAD_REQUEST, "tokenize", "--model", model("tiny-kev-f32"), text='"a b"\n7\n""\n')
        first, second, third = result.stdout.splitlines()
        self.assertTrue(json.loads(first))
        self.assertEqual((second, third), ("null", "[]"))


class Help(Commands):
    def test_shows_defaults(self):
        said = self.expect(SUCCESS, "decide", "--help").stdout
        for default in ("=auto ", "=together\n", "=report\n"):
            self.assertIn(default, said)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--models", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
