"""Runs the *.wire files: each case over HTTP, then the same bodies through the command line.

A case is

    === its name
    > POST /v1/systemone          (this is what a request is when nothing is said)
    > X-Request-Id: mine
    the body
    < 200
    < x-request-id: mine          (a regular expression for the whole value)
    a pattern of the answer

In a body, %{repeat 5000 [} stands for 5,000 brackets and %{bytes ff fe} for two bytes. A pattern is
JSON. Members and their order must be equal, numbers within 2e-5; "*" is anything, "~..." a regular
expression for part of a string, and a last member or item "..." lets more follow.
"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from served import Served, arguments, decision, request

TOLERANCE = 2e-5
OPTIONS = None
SERVER = None


class Case:
    def __init__(self, name):
        self.name = name
        self.request = []
        self.body = []
        self.expected = []
        self.pattern = []

    def take(self, line):
        if line.startswith("> "):
            self.request.append(line[2:])
        elif line.startswith("< "):
            self.expected.append(line[2:])
        else:
            (self.pattern if self.expected else self.body).append(line)

    @property
    def status(self):
        return int(self.expected[0])

    def bytes(self):
        body = "\n".join(self.body).encode()
        body = re.sub(rb"%\{repeat (\d+) (.*?)\}(?!\})",
                      lambda found: found.group(2) * int(found.group(1)), body)
        return re.sub(rb"%\{bytes ([0-9a-f ]+)\}",
                      lambda found: bytes.fromhex(found.group(1).decode()), body)


def read_cases(path):
    cases = []
    for line in path.read_text().split("\n"):
        if line.startswith("=== "):
            cases.append(Case(line[4:]))
        elif line.startswith("#") or not line.strip():
            continue
        else:
            cases[-1].take(line)
    return cases


def differences(found, pattern, place="answer"):
    """What is not as the pattern says, a line each."""
    if pattern == "*":
        return []
    if isinstance(pattern, str) and pattern.startswith("~"):
        if isinstance(found, str) and re.search(pattern[1:], found):
            return []
    elif isinstance(pattern, dict) and isinstance(found, dict):
        return member_differences(found, pattern, place)
    elif isinstance(pattern, list) and isinstance(found, list):
        return item_differences(found, pattern, place)
    elif isinstance(pattern, float) and isinstance(found, (int, float)):
        if abs(found - pattern) <= TOLERANCE:
            return []
    elif type(found) is type(pattern) and found == pattern:
        return []
    return [f"{place} is {json.dumps(found)[:300]}, not {json.dumps(pattern)[:300]}"]


def member_differences(found, pattern, place):
    names = [name for name in pattern if name != "..."]
    more = "..." in pattern
    if (list(found) != names and not more) or not set(names) <= set(found):
        return [f"{place} has {list(found)}, not {list(pattern)}"]
    return [text for name in names
            for text in differences(found[name], pattern[name], f"{place}.{name}")]


def item_differences(found, pattern, place):
    more = pattern[-1:] == ["..."]
    items = pattern[:-1] if more else pattern
    if len(found) < len(items) or (len(found) > len(items) and not more):
        return [f"{place} has {len(found)} items, not {len(items)}"]
    return [text for i, item in enumerate(items)
            for text in differences(found[i], item, f"{place}[{i}]")]


class Wire(unittest.TestCase):
    def ask(self, case):
        first, *headers = case.request or ["POST /v1/systemone"]
        method, path = first.split(" ")
        with SERVER.connect() as peer:
            return peer.ask(request(method, path, case.bytes(), headers), method != "HEAD")

    def check_body(self, case, body):
        if not case.pattern:
            return self.assertEqual(body.strip(), b"")
        found = differences(json.loads(body), json.loads("\n".join(case.pattern)))
        return self.assertEqual(found, [])

    def check_http(self, case):
        answer = self.ask(case)
        self.assertEqual(answer.status, case.status, answer.body)
        self.assertEqual(answer.headers["content-type"], "application/json")
        self.assertRegex(answer.headers["x-typesafe-request-id"], "^req_[0-9a-f]{32}$")
        for line in case.expected[1:]:
            name, _, value = line.partition(": ")
            self.assertRegex(answer.headers.get(name.lower(), ""), f"^(?:{value})$")
        self.check_body(case, answer.body)
        return answer

    def check_command_line(self, case, http):
        """An answer is the same; a refusal says the same and exits with 2."""
        run = subprocess.run([OPTIONS.program, "decide", "--model", OPTIONS.model, "--precision", "f32", "-"],
                             input=case.bytes(), capture_output=True, timeout=60)
        if case.status == 200:
            self.assertEqual((run.returncode, run.stderr), (0, b""))
            self.assertEqual(run.stdout, http.body + b"\n")
        else:
            self.assertEqual((run.returncode, run.stdout), (2, b""))
            self.assertEqual(run.stderr.decode(), f"adjudge: {http.json()['error']['message']}\n")

    def check_lines(self, cases):
        """All bodies of one line in one run: a line each, errors among them."""
        answered = {}
        lines = [case.bytes() for case in cases]
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            file.write(b"\n".join(lines) + b"\n")
            file.flush()
            run = subprocess.run([OPTIONS.program, "decide", "--model", OPTIONS.model, "--precision", "f32", file.name],
                                 capture_output=True, timeout=120)
        answers = run.stdout.split(b"\n")[:-1]
        self.assertEqual(len(answers), len(cases), run.stderr)
        for case, answer in zip(cases, answers):
            with self.subTest(case.name):
                self.check_body(case, answer)
                answered[case.name] = answer

    def check_file(self, path):
        cases = read_cases(path)
        self.assertTrue(cases)
        of_lines = []
        for case in cases:
            with self.subTest(case.name):
                http = self.check_http(case)
                if case.request:
                    continue
                self.check_command_line(case, http)
                if case.bytes() and b"\n" not in case.bytes():
                    of_lines.append(case)
        if of_lines:
            self.check_lines(of_lines)

    def test_an_answer_that_cannot_be_written_is_no_success(self):
        for command in (["decide", "--model", OPTIONS.model, "-"], ["inspect", OPTIONS.model], ["models"]):
            with self.subTest(command[0]), open("/dev/full", "wb") as full:
                run = subprocess.run([OPTIONS.program, *command], input=decision("some text").encode(),
                                     stdout=full, stderr=subprocess.PIPE, timeout=60)
                self.assertEqual(run.returncode, 1)
                self.assertEqual(run.stderr, b"adjudge: cannot write to standard output\n")

    def test_a_negative_memory_budget_is_refused(self):
        run = subprocess.run([OPTIONS.program, "decide", "--model", OPTIONS.model, "--memory", "-5", "-"],
                             input=decision("some text").encode(), capture_output=True, timeout=60)
        self.assertEqual(run.returncode, 2, run.stdout)
        self.assertIn(b"negative", run.stderr)


def add_tests():
    for path in sorted(Path(__file__).parent.glob("*.wire")):
        setattr(Wire, f"test_{path.stem}", lambda self, path=path: self.check_file(path))


if __name__ == "__main__":
    OPTIONS = arguments()
    SERVER = Served(OPTIONS.program, OPTIONS.model)
    add_tests()
    passed = unittest.main(argv=[sys.argv[0]], exit=False).result.wasSuccessful()
    passed = SERVER.end() == 0 and passed
    sys.exit(0 if passed else 1)
