"""What peers do to a server that lives: rude, slow, large, many, gone; and its limits. Over the real
program."""
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from served import Peer, Served, arguments, decision, request

BODY_BYTES_MAX = 32 << 20
OPTIONS = None


def post(body):
    return request("POST", "/v1/systemone", body)


def descriptor_count(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Served(OPTIONS.program, OPTIONS.model)

    @classmethod
    def tearDownClass(cls):
        assert cls.server.end() == 0

    def ask(self, data):
        with self.server.connect() as peer:
            return peer.ask(data)

    def send_until_refused(self, peer, piece, bytes_max):
        """How much the server took before it would take no more."""
        sent = 0
        try:
            while sent < bytes_max:
                peer.send(piece)
                sent += len(piece)
        except OSError:
            pass
        return sent

    def test_an_announced_body_of_200_mb_is_refused_unread(self):
        with self.server.connect() as peer:
            peer.send("POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000000\r\n\r\n")
            self.assertEqual(peer.receive().status, 413)
            taken = self.send_until_refused(peer, b" " * 65536, 200_000_000)
        self.assertLess(taken, 16 << 20)

    def test_an_endless_chunked_body_is_cut_off_at_the_limit(self):
        with self.server.connect() as peer:
            peer.send("POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
            taken = self.send_until_refused(peer, chunk, 4 * BODY_BYTES_MAX)
            self.assertLess(taken, 2 * BODY_BYTES_MAX)
            self.assertEqual(peer.receive().status, 413)

    def test_a_body_just_under_the_limit_is_read_and_judged(self):
        body = b'{"state": "' + b"x" * (BODY_BYTES_MAX - 100) + b'", "questions": {}}'
        self.assertEqual(self.ask(post(body)).status, 422)

    def test_a_chunked_body_is_answered_as_a_whole_one(self):
        body = decision("some text").encode()
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 7]), body[i:i + 7])
                          for i in range(0, len(body), 7))
        chunked = self.ask(b"POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\n"
                           b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
        self.assertEqual(chunked.status, 200)
        self.assertEqual(chunked.body, self.ask(post(body)).body)

    def test_a_body_is_invited_before_it_comes(self):
        body = decision("some text")
        with self.server.connect() as peer:
            peer.send("POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                      f"Content-Length: {len(body)}\r\n\r\n")
            self.assertEqual(peer.receive().status, 100)
            self.assertEqual(peer.ask(body).status, 200)

    def test_a_peer_that_sends_no_more_is_answered(self):
        body = decision("some text " * 300)
        with self.server.connect() as peer:
            peer.send(post(body) + post(body))
            peer.socket.shutdown(socket.SHUT_WR)
            answers = [answer for answer in iter(peer.receive, None) if answer.status != 100]
        self.assertEqual([answer.status for answer in answers], [200, 200])
        rows = json.dumps({"states": ["some text"] * 150,
                           "questions": {"q": {"type": "noul", "instructions": "?"}}})
        with self.server.connect() as peer:
            peer.send(request("POST", "/v1/systemone/batch", rows))
            peer.socket.shutdown(socket.SHUT_WR)
            while (head := peer.stream.readline()).startswith(b"HTTP/1.1 100 "):
                peer.stream.readline()
            self.assertIn(b" 200 ", head)
            pieces = peer.stream.read()
        self.assertTrue(pieces.endswith(b"0\r\n\r\n"))
        self.assertEqual(pieces.count(b'"index":'), 150)

    def test_a_whole_address_is_a_target_whose_host_counts(self):
        for target, host, status in [("http://localhost/health", "localhost", 200),
                                     ("HTTP://127.0.0.1:1/health?x", "other.example", 200),
                                     ("http://other.example/health", "localhost", 403)]:
            data = f"GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n"
            self.assertEqual(self.ask(data).status, status, target)

    def test_pipelined_requests_are_answered_in_order(self):
        with self.server.connect() as peer:
            peer.send(post(decision("one")) + request("GET", "/health") + post("{") +
                      post(decision("one")))
            answers = [peer.receive() for _ in range(4)]
        self.assertEqual([answer.status for answer in answers], [200, 200, 422, 200])
        self.assertEqual(answers[0].body, answers[3].body)

    def test_a_slow_header_runs_out_of_time(self):
        with self.server.connect() as peer:
            begin = time.monotonic()
            peer.send("GET /hea")
            answer = peer.receive()
        self.assertEqual(answer.status, 408)
        self.assertLess(time.monotonic() - begin, 30)

    def test_bodies_sent_by_half_hold_up_nobody(self):
        body = decision("some text")
        half = len(body) // 2
        peers = [self.server.connect() for _ in range(2 * self.server.thread_count())]
        for peer in peers:
            self.addCleanup(peer.leave)
            peer.send(post(body)[:-half])
        time.sleep(0.2)  # they are being waited for
        begin = time.monotonic()
        self.assertEqual(self.ask(post(body)).status, 200)
        self.assertEqual(self.ask(request("GET", "/health")).status, 200)
        self.assertLess(time.monotonic() - begin, 2)
        for peer in peers:
            self.assertEqual(peer.ask(body[-half:]).status, 200)

    def test_company_does_not_change_an_answer(self):
        states = [f"text number {i} " * (1 + i % 5) for i in range(40)]
        alone = [self.ask(post(decision(state))).body for state in states]
        together = [None] * len(states)

        def ask(i):
            together[i] = self.ask(post(decision(states[i]))).body

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(states))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(alone, together)

    def test_a_thousand_connections_leave_no_descriptor(self):
        self.ask(request("GET", "/health"))
        before = descriptor_count(self.server.process)
        for i in range(1000):
            with self.server.connect() as peer:
                if i % 5 == 0:
                    self.assertEqual(peer.ask(request("GET", "/health")).status, 200)
                elif i % 5 == 1:
                    peer.send("GET / HT")
                elif i % 5 == 2:
                    peer.send(post(decision("gone before the answer")))
                elif i % 5 == 3:
                    peer.send(post(decision("gone before the end"))[:-5])
        for _ in range(100):
            if descriptor_count(self.server.process) <= before:
                break
            time.sleep(0.1)
        self.assertLessEqual(descriptor_count(self.server.process), before)
        self.assertEqual(self.ask(post(decision("still here"))).status, 200)


class Ends(unittest.TestCase):
    def served(self, *flags):
        return Served(OPTIONS.program, OPTIONS.model, *flags)

    def run_program(self, *flags):
        return subprocess.run([OPTIONS.program, "serve", "--model", OPTIONS.model, *flags],
                              capture_output=True, text=True, timeout=30)

    def test_what_has_begun_is_answered_when_told_to_end(self):
        server = self.served()
        body = decision("some text " * 200)
        peers = [server.connect() for _ in range(16)]
        for peer in peers:
            peer.send(post(body))
        server.tell_to_end()
        for peer in peers:
            self.assertEqual(peer.receive().status, 200)
            peer.leave()
        self.assertEqual(server.wait(), 0)
        with self.assertRaises(OSError):
            socket.create_connection(("127.0.0.1", server.port), timeout=5)

    def test_nobody_who_got_a_connection_is_lost_when_told_to_end(self):
        """Peers that connect all the time, and peers that stay: each has its answer or a refusal."""
        server = self.served()
        data = post(decision("some text " * 20))
        counts = {"answered": 0, "refused": 0}
        faults = []

        def knock():
            try:
                while True:
                    with server.connect() as peer:
                        self.assertEqual(peer.ask(data).status, 200)
                        counts["answered"] += 1
            except ConnectionRefusedError:
                counts["refused"] += 1
            except (OSError, AttributeError, AssertionError) as error:
                faults.append(f"knocking: {error!r}")

        def stay():
            try:
                with server.connect() as peer:
                    while peer.ask(data).headers.get("connection") != "close":
                        counts["answered"] += 1
            except (OSError, AttributeError) as error:
                faults.append(f"staying: {error!r}")

        threads = [threading.Thread(target=each) for each in [knock] * 8 + [stay] * 8]
        for thread in threads:
            thread.start()
        time.sleep(1)
        server.tell_to_end()
        for thread in threads:
            thread.join()
        self.assertEqual(server.wait(), 0)
        self.assertEqual(faults, [])
        self.assertGreater(counts["answered"], 16)
        self.assertEqual(counts["refused"], 8)

    def test_a_second_signal_ends_at_once(self):
        server = self.served()
        with server.connect() as peer:
            peer.send(post(decision("x"))[:-5])  # a request that keeps the server waiting
            time.sleep(0.2)
            server.tell_to_end()
            time.sleep(0.2)
            self.assertIsNone(server.process.poll())
            server.tell_to_end()
            self.assertEqual(server.wait(5), -signal.SIGTERM)

    def test_a_log_that_nobody_reads_costs_lines_and_neither_answers_nor_the_end(self):
        for reads_late in [False, True]:
            read_end, write_end = os.pipe()
            self.addCleanup(os.close, read_end)
            server = Served(OPTIONS.program, OPTIONS.model, log=os.fdopen(write_end, "wb"))
            self.addCleanup(server.process.kill)
            asked = 12000  # more lines than a pipe (1,000) holds and the server keeps (8,192)
            with server.connect() as peer:
                threading.Thread(target=peer.send, args=(request("GET", "/health") * asked,)).start()
                for _ in range(asked):
                    self.assertEqual(peer.receive().status, 200)
            said = b""
            while reads_late and b"lines were lost: nobody read them" not in said:
                self.assertTrue(select.select([read_end], [], [], 30)[0], "nothing more is said")
                said += os.read(read_end, 1 << 16)
            begin = time.monotonic()
            self.assertEqual(server.end(), 0)
            self.assertLess(time.monotonic() - begin, 5)

    def started_without_descriptors(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        process = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', OPTIONS.program, "serve",
                                    "--model", OPTIONS.model, "--port", str(port)])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)  # before
        return process, port

    def is_ready(self, process, port):
        """Whether it becomes so before it ends or half a minute has passed."""
        end = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < end:
            try:
                with Peer(port) as peer:
                    if peer.ask(request("GET", "/ready")).status == 200:
                        return process.poll() is None
            except OSError:
                pass
            time.sleep(0.05)
        return False

    def test_closed_standard_descriptors_are_nobody_elses(self):
        for _ in range(5):  # somebody else may take the port meanwhile
            process, port = self.started_without_descriptors()
            if self.is_ready(process, port):
                break
        else:
            self.fail("it has not begun to serve")
        self.assertEqual({os.readlink(f"/proc/{process.pid}/fd/{i}") for i in range(3)}, {"/dev/null"})
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 1, "nobody was told where it served")

    def test_a_port_in_use_is_named(self):
        server = self.served()
        second = self.run_program("--port", str(server.port))
        self.assertEqual(second.returncode, 1)
        self.assertIn(f"port {server.port} of 127.0.0.1 is taken", second.stderr)
        self.assertEqual(server.end(), 0)

    def test_a_public_address_is_refused_unless_asked_for(self):
        refused = self.run_program("--host", "0.0.0.0", "--port", "0")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--public", refused.stderr)

    def test_the_log_holds_ids_and_statuses_and_nothing_of_the_request(self):
        server = self.served()
        body = json.dumps({"state": "secret", "questions": {
            "secret": {"type": "choice", "instructions": "secret", "criteria": {"secret": None}}}})
        with server.connect() as peer:
            answer = peer.ask(request("POST", "/v1/systemone?secret=1", body,
                                      ["Authorization: Bearer secret"]))
            self.assertEqual(answer.status, 200)
            self.assertEqual(peer.ask(request("GET", "/secret")).status, 404)
        self.assertEqual(server.end(), 0)
        log = server.logged
        self.assertIn(f"{answer.headers['x-typesafe-request-id']} POST /v1/systemone 200 ", log)
        self.assertIn("tokens=", log)
        self.assertIn(" GET - 404 ", log)
        self.assertNotIn("secret", log)


class Limits(unittest.TestCase):
    """Every limit of docs/operating.md is a flag, and the flag is kept."""

    def served(self, *flags):
        server = Served(OPTIONS.program, OPTIONS.model, *flags)
        self.addCleanup(lambda: server.process.poll() is None and server.end())
        return server

    def ask(self, server, data):
        with server.connect() as peer:
            return peer.ask(data)

    def ask_at_once(self, server, count):
        """The statuses of so many requests, all sent before the first answer is read."""
        peers = [server.connect() for _ in range(count)]
        for i, peer in enumerate(peers):
            peer.send(post(decision(f"text {i} " * 300)))
        answers = [peer.receive() for peer in peers]
        for peer in peers:
            peer.leave()
        return [answer.status for answer in answers]

    def passes(self, server):
        """How many requests each pass held, as the log tells."""
        self.assertEqual(server.end(), 0)
        return [int(line.split("together=")[1].split()[0])
                for line in server.logged.splitlines() if "together=" in line]

    def seconds_until_closed(self, peer):
        begin = time.monotonic()
        while peer.receive():
            pass
        return time.monotonic() - begin

    def test_connections(self):
        server = self.served("--connections", "1")
        with server.connect() as first:
            self.assertEqual(first.ask(request("GET", "/health")).status, 200)
            with server.connect() as second:
                self.assertEqual(second.receive().status, 503)

    def test_bytes_of_a_body(self):
        server = self.served("--body-bytes", "1KB")
        self.assertEqual(self.ask(server, post(decision("x" * 500))).status, 200)
        self.assertEqual(self.ask(server, post(decision("x" * 1200))).status, 413)

    def test_bytes_of_all_bodies(self):
        server = self.served("--all-body-bytes", "10KB")
        with server.connect() as first:
            first.send(post(decision("x" * 9000))[:-1])
            time.sleep(0.2)
            self.assertEqual(self.ask(server, post(decision("x" * 5000))).status, 503)
        self.assertEqual(self.ask(server, post(decision("x"))).status, 200)

    def test_questions_are_counted_before_anything_is_made_of_them(self):
        def milliseconds(answer):
            return float(answer.headers["server-timing"].rpartition("total;dur=")[2])

        def ask_questions(server, count):
            questions = {f"q{i}": {"type": "noul", "instructions": "late?"} for i in range(count)}
            return self.ask(server, post(decision("some text", **questions)))

        server = self.served("--snapshot-cache", "0")
        most = 4096
        refused = [ask_questions(server, 10_000) for _ in range(3)]
        for answer in refused:
            self.assertEqual(answer.status, 413)
            self.assertEqual(answer.json()["detail"], {
                "error_type": "too_long", "message": f"questions: 10000 questions, at most {most}"})
            self.assertNotIn("retry-after", answer.headers)
        self.assertEqual(ask_questions(server, most + 1).status, 413)
        answered = ask_questions(server, most)
        self.assertEqual(answered.status, 200)
        self.assertLess(min(map(milliseconds, refused)), milliseconds(answered) / 2)

    def test_requests_that_wait(self):
        statuses = self.ask_at_once(self.served("--queue-requests", "2"), 40)
        self.assertEqual(set(statuses), {200, 429})

    def test_tokens_that_wait(self):
        statuses = self.ask_at_once(self.served("--queue-tokens", "1000"), 40)
        self.assertEqual(set(statuses), {200, 429})

    def test_what_is_decided_together(self):
        for flags, most in [([], 32), (["--pass-requests", "3"], 3), (["--pass-tokens", "10"], 1)]:
            server = self.served(*flags)
            self.assertEqual(set(self.ask_at_once(server, 40)), {200})
            together = self.passes(server)
            self.assertLessEqual(max(together), most)
            self.assertEqual(max(together) > 1, most > 1)

    def test_times_that_peers_may_take(self):
        server = self.served("--idle-timeout", "1", "--header-timeout", "1", "--body-timeout", "1")
        for sent in [b"", b"GET /hea", post(decision("x"))[:-1]]:
            with server.connect() as peer:
                peer.send(sent)
                self.assertLess(0.5, self.seconds_until_closed(peer))
        self.assertEqual(server.end(), 0)

    def test_the_time_to_read_an_answer(self):
        server = self.served("--write-timeout", "1")
        asked = 2000
        with server.connect() as peer:
            threading.Thread(target=peer.send, args=(request("GET", "/openapi.json") * asked,),
                             daemon=True).start()
            time.sleep(3)
            answered = 0
            try:
                while peer.receive():
                    answered += 1
            except (OSError, AttributeError, ValueError):
                pass
        self.assertLess(answered, asked)
        self.assertEqual(server.end(), 0)

    def test_the_time_to_end(self):
        server = self.served("--drain-timeout", "1")
        with server.connect() as peer:
            peer.send(post(decision("x"))[:-5])
            time.sleep(0.2)
            begin = time.monotonic()
            self.assertEqual(server.end(), 0)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertIn("1 connections were cut off", server.logged)

    def test_what_is_pinned_is_there_and_stays(self):
        first, second = Path(OPTIONS.model), Path(OPTIONS.model).parent / "tiny-kev-f32.gguf"
        meant = {"tiny-kev-f32": second, "tiny-kev-f32:latest": second, str(second): second,
                 "jev-latest": first}
        servers = [(self.served("--model", str(second), "--pin", name, "--idle-unload", "1"), model)
                   for name, model in meant.items()]
        time.sleep(2)
        for server, model in servers:
            there = self.ask(server, request("GET", "/api/ps")).json()["models"]
            self.assertEqual([entry["name"] for entry in there], [model.stem])
            self.assertEqual(server.end(), 0)
            self.assertIn(f"{model.stem} is loaded", server.logged)
        refused = subprocess.run([OPTIONS.program, "serve", "--model", OPTIONS.model, "--port", "0",
                                  "--pin", "other"], capture_output=True, text=True, timeout=30)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"--pin other: no model here is called so, or was given so to --model; there are "
                      f"{Path(OPTIONS.model).stem}\n", refused.stderr)

    def test_a_folder_and_its_files_can_be_pinned(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in "abc":
                (Path(folder) / f"{name}.gguf").symlink_to(Path(OPTIONS.model).resolve())
            for pin, there in [(folder, {"a", "b", "c"}), (f"{folder}/b.gguf", {"a", "b"})]:
                server = Served(OPTIONS.program, folder, "--pin", pin)
                models = self.ask(server, request("GET", "/api/ps")).json()["models"]
                self.assertEqual({model["name"] for model in models}, there)
                self.assertEqual(server.end(), 0)

    def test_a_model_that_cannot_be_warmed_up_is_served_and_the_log_says_why(self):
        for flags in [[], ["--warm-up"]]:
            server = self.served("--memory", "2MB", *flags)
            self.assertEqual(self.ask(server, request("GET", "/ready")).status, 200)
            self.assertEqual(server.end(), 0)
            self.assertEqual("tokens of this request need" in server.logged, bool(flags))


if __name__ == "__main__":
    OPTIONS = arguments()
    unittest.main(argv=[sys.argv[0]])
