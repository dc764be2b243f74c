"""What machines do to a server that lives: disks that are full, files that are cut off, memory that is
short, clocks that jump. Over the real program."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from served import Served, arguments, decision, request

OPTIONS = None


def post(body):
    return request("POST", "/v1/systemone", body)


# Every look at the clock on the wall finds another year; the steady one is left alone.
JUMPING_CLOCK = r"""
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long jump(void) {
  static long looks;
  return __sync_add_and_fetch(&looks, 1) % 2 ? 31536000L : -31536000L;
}
int clock_gettime(clockid_t clock, struct timespec* time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += jump();
  return result;
}
int gettimeofday(struct timeval* now, void* zone) {
  struct timespec time;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &time);
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1000;
  return 0;
}
"""


class Machine(unittest.TestCase):
    """What the machine does to the server: a clear error, and a server that goes on."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def served(self, model, *flags, **others):
        server = Served(OPTIONS.program, str(model), *flags, **others)
        self.addCleanup(lambda: server.process.poll() is None and server.end())
        return server

    def copy_of(self, model):
        return Path(shutil.copy(model, self.folder))

    def ask(self, server, data):
        with server.connect() as peer:
            return peer.ask(data)

    def ask_model(self, server, model, state="some text"):
        return self.ask(server, post(json.dumps({"model": Path(model).stem,
                                                 **json.loads(decision(state))})))

    def wait_for(self, server, path, status):
        for _ in range(300):
            answer = self.ask(server, request("GET", path))
            if answer.status == status:
                return answer
            time.sleep(0.05)
        self.fail(f"{path} is still {answer.status}, not {status}")

    def spoil_while_asked(self, spoil):
        """Every answer while the file is spoiled is the right one or 503; afterwards all are 503."""
        model = self.copy_of(OPTIONS.model)
        other = model.with_name("other.gguf")
        shutil.copy(OPTIONS.model, other)
        server = self.served(model, "--model", str(other), "--pin", "other",
                             "--snapshot-cache", "0")
        right = self.ask_model(server, model).json()["answers"]
        seen, wrong = set(), []

        def go_on():
            end = time.monotonic() + 1.5
            while time.monotonic() < end:
                answer = self.ask_model(server, model)
                seen.add(answer.status)
                if answer.status == 200 and answer.json()["answers"] != right:
                    wrong.append(answer.body)

        threads = [threading.Thread(target=go_on) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        whole = model.read_bytes()
        spoil(model)
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(seen, {200, 503})
        self.assertEqual(self.ask_model(server, model).status, 503)
        self.assertNotIn(str(self.folder), self.ask_model(server, model).body.decode())
        self.assertEqual(self.ask(server, request("GET", "/health")).status, 200)
        self.wait_for(server, "/ready", 503)
        self.assertEqual(self.ask_model(server, other).json()["answers"], right)
        model.write_bytes(whole)
        self.wait_for(server, "/ready", 200)
        self.assertEqual(self.ask_model(server, model).json()["answers"], right)
        self.assertEqual(server.end(), 0)
        self.assertIn(f"{model.stem}: its file was changed or cut off", server.logged)

    def test_a_model_cut_off_while_served_gives_no_wrong_answer(self):
        self.spoil_while_asked(lambda path: os.truncate(path, path.stat().st_size // 2))

    def test_a_model_emptied_while_served_gives_no_wrong_answer(self):
        self.spoil_while_asked(lambda path: os.truncate(path, 0))

    def test_a_model_written_over_while_served_gives_no_wrong_answer(self):
        def write_over(path):
            with open(path, "r+b") as file:
                size = path.stat().st_size
                file.seek(size // 2)
                file.write(bytes(size // 4))
        self.spoil_while_asked(write_over)

    def test_another_model_of_the_same_name_is_not_served_under_the_old_card(self):
        model = self.copy_of(OPTIONS.model)
        server = self.served(model)
        self.assertEqual(self.ask_model(server, model).status, 200)
        model.write_bytes((Path(OPTIONS.model).parent / "tiny-kev-f32.gguf").read_bytes())
        self.wait_for(server, "/ready", 503)
        self.assertEqual(self.ask_model(server, model).status, 503)
        self.assertEqual(server.end(), 0)
        self.assertIn("is another model than when the server started", server.logged)

    def test_an_unreadable_model_is_named_and_the_others_go_on(self):
        gone = self.copy_of(OPTIONS.model).rename(self.folder / "gone.gguf")
        server = self.served(OPTIONS.model, "--model", str(gone))
        gone.write_bytes(b"GGUF and nothing that follows")
        answer = self.wait_until_it_could_not_be_loaded(server, gone)
        self.assertNotIn(str(self.folder), answer.body.decode())
        self.assertEqual(self.ask_model(server, OPTIONS.model).status, 200)
        self.assertEqual(server.end(), 0)
        self.assertIn(f"gone: {gone}: ", server.logged)

    def test_a_server_that_cannot_read_its_model_says_why(self):
        for content, said in [(b"", "expected"), (b"GGUF", "expected"), (None, "no such file")]:
            model = self.folder / "model.gguf"
            model.unlink(missing_ok=True)
            if content is not None:
                model.write_bytes(content)
            ended = subprocess.run([OPTIONS.program, "serve", "--model", str(model), "--port", "0"],
                                   capture_output=True, text=True, timeout=30)
            self.assertGreater(ended.returncode, 0)
            self.assertIn(said, ended.stderr)
            self.assertIn(str(model), ended.stderr)

    def test_weights_that_are_no_numbers_are_the_models_fault(self):
        for number in [b"\x00\x00\xc0\x7f", b"\x00\x00\x80\x7f"]:  # not a number, infinity
            model = self.copy_of(OPTIONS.model).rename(self.folder / "damaged.gguf")
            content = model.read_bytes()
            weights = len(content) // 2
            model.write_bytes(content[:-weights] + number * (weights // 4) + b"\0" * (weights % 4))
            server = self.served(model, "--model", OPTIONS.model)
            answer = self.ask_model(server, model)
            self.assertEqual(answer.status, 500)
            self.assertEqual(answer.json()["detail"]["error_type"], "bad_model")
            self.assertIn("weights are damaged", answer.json()["detail"]["message"])
            self.assertNotIn(str(self.folder), answer.body.decode())
            self.assertEqual(self.ask(server, request("GET", "/health")).status, 200)
            self.assertIn('\nadjudge_decisions_total{outcome="failed"} 1\n',
                          self.ask(server, request("GET", "/metrics")).body.decode())
            self.assertEqual(server.end(), 0)

    def test_a_name_that_is_not_utf8_is_shown_all_the_same(self):
        model = os.fsencode(self.folder) + b"/na\xffme.gguf"
        shutil.copy(OPTIONS.model, model)
        server = self.served(os.fsdecode(model), "--model", OPTIONS.model)
        shown = "na\ufffdme"
        for path in ["/v1/models", "/api/tags", "/api/ps", "/metrics"]:
            body = self.ask(server, request("GET", path)).body
            self.assertIn(shown, body.decode())
        answer = self.ask(server, post(json.dumps({"model": shown,
                                                   **json.loads(decision("x"))})))
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.json()["model"], shown)
        self.assertEqual(server.end(), 0)

    def ask_when_loaded(self, server, model, state="some text"):
        for _ in range(300):
            answer = self.ask_model(server, model, state)
            if answer.status != 503:
                return answer
            time.sleep(0.05)
        self.fail(f"{Path(model).stem} is still not loaded: {answer.body}")

    def wait_until_it_could_not_be_loaded(self, server, model):
        for _ in range(300):
            answer = self.ask_model(server, model)
            self.assertEqual(answer.status, 503)
            if b"could not be loaded" in answer.body:
                return answer
            time.sleep(0.05)
        self.fail(f"{Path(model).stem} is still to be loaded: {answer.body}")

    def loaded(self, server):
        return {model["name"] for model in self.ask(server, request("GET", "/api/ps")).json()["models"]}

    def test_memory_that_never_suffices_is_too_large_and_the_server_goes_on(self):
        server = self.served(OPTIONS.model, "--memory", "4MB", "--snapshot-cache", "0")
        large = self.ask_model(server, OPTIONS.model, "word " * 1000)
        self.assertEqual(large.status, 413)
        self.assertRegex(large.json()["detail"]["message"],
                         r"^memory budget: the \d+ tokens .* need \d+ bytes, at most \d+ can be had")
        self.assertNotIn("retry-after", large.headers)
        self.assertEqual(self.ask_model(server, OPTIONS.model).status, 200)
        self.assertEqual(server.end(), 0)

    def test_an_idle_model_makes_room_for_a_pass_unless_it_is_pinned(self):
        other = Path(OPTIONS.model).parent / "tiny-kev-f32.gguf"
        for pins in [[], ["--pin", other.stem]]:
            server = self.served(OPTIONS.model, "--model", str(other), "--memory", "12MB",
                                 "--snapshot-cache", "0", *pins)
            self.assertEqual(self.ask_when_loaded(server, other).status, 200)
            everybody = {Path(OPTIONS.model).stem, other.stem}
            self.assertEqual(self.loaded(server), everybody)
            too_large = self.ask_model(server, OPTIONS.model, "word " * 4000)
            self.assertEqual(too_large.status, 413)
            self.assertEqual(self.loaded(server), everybody, "nobody leaves in vain")
            large = self.ask_model(server, OPTIONS.model, "word " * 1000)
            self.assertEqual(large.status, 413 if pins else 200)
            self.assertEqual(self.loaded(server), everybody if pins else {Path(OPTIONS.model).stem})
            self.assertEqual(self.ask_when_loaded(server, other).status, 200)
            self.assertEqual(server.end(), 0)

    def test_nobody_makes_room_for_a_model_that_never_fits(self):
        other = Path(OPTIONS.model).parent / "tiny-kev-f32.gguf"
        server = self.served(OPTIONS.model, "--model", str(other), "--memory", "4MB")
        self.wait_until_it_could_not_be_loaded(server, other)
        self.assertEqual(self.loaded(server), {Path(OPTIONS.model).stem})
        self.assertEqual(server.end(), 0)
        self.assertIn("tiny-kev-f32: memory budget: ", server.logged)

    def test_a_model_that_does_not_fit_the_memory_is_refused_by_name(self):
        ended = subprocess.run([OPTIONS.program, "serve", "--model", OPTIONS.model, "--port", "0",
                                "--memory", "10KB"], capture_output=True, text=True, timeout=30)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("memory budget", ended.stderr)

    def test_a_full_disk_ends_the_decision_log_and_nothing_else(self):
        server = self.served(OPTIONS.model, "--decision-log", "/dev/full")
        for _ in range(3):
            self.assertEqual(self.ask_model(server, OPTIONS.model).status, 200)
        self.assertEqual(server.end(), 0)
        self.assertEqual(server.logged.count("No space left on device"), 1)

    def test_killed_under_load_it_starts_again_as_if_nothing_had_been(self):
        log = self.folder / "decisions.jsonl"
        server = self.served(OPTIONS.model, "--decision-log", str(log))
        right = self.ask_model(server, OPTIONS.model).json()["answers"]

        def ask_until_it_dies():
            try:
                while True:
                    self.ask_model(server, OPTIONS.model)
            except (OSError, AttributeError):
                pass

        threads = [threading.Thread(target=ask_until_it_dies) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        server.process.kill()
        for thread in threads:
            thread.join()
        self.assertEqual(server.wait(), -signal.SIGKILL)
        again = self.served(OPTIONS.model, "--decision-log", str(log), port=server.port)
        self.assertEqual(self.ask_model(again, OPTIONS.model).json()["answers"], right)
        self.assertEqual(again.end(), 0)
        replayed = subprocess.run([OPTIONS.program, "replay", "--model", OPTIONS.model, str(log)],
                                  capture_output=True, timeout=60)
        report = json.loads(replayed.stdout)
        self.assertLessEqual(report["broken_lines"], 1)
        self.assertGreater(report["without_request"], 8)

    def test_a_clock_that_jumps_changes_nothing(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        source, library = self.folder / "clock.c", self.folder / "clock.so"
        source.write_text(JUMPING_CLOCK)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
        right = self.ask_model(self.served(OPTIONS.model), OPTIONS.model).json()["answers"]
        server = self.served(OPTIONS.model, "--idle-unload", "600", "--header-timeout", "1",
                             environment={"LD_PRELOAD": str(library),
                                          "ASAN_OPTIONS": "verify_asan_link_order=0"})
        data = request("POST", "/v1/systemone", decision("some text"), ["x-deadline-ms: 60000"])
        with server.connect() as peer:
            for _ in range(20):
                answer = peer.ask(data)
                self.assertEqual(answer.status, 200)
                self.assertEqual(answer.json()["answers"], right)
                self.assertLess(float(answer.headers["server-timing"].rsplit("=", 1)[1]), 30_000)
        with server.connect() as peer:
            peer.send("GET /hea")
            self.assertEqual(peer.receive().status, 408)
        self.assertEqual(server.end(), 0)
        self.assertRegex(server.logged, r"(?m)^202\d|^20[3-9]\d", "the log has the wall's time")


if __name__ == "__main__":
    OPTIONS = arguments()
    unittest.main(argv=[sys.argv[0]])
