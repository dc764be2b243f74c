"""What flags change: keys, names, dialects, logs, several models. Over the real program."""
import gzip
import json
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from served import Served, arguments, decision, request

OPTIONS = None


def post(body, *headers, path="/v1/systemone"):
    return request("POST", path, body, headers)


def get(path, *headers):
    return request("GET", path, b"", headers)


def lines_of(data):
    return [json.loads(line) for line in data.decode().splitlines()]


class ServerTest(unittest.TestCase):
    def served(self, *flags, **others):
        server = Served(OPTIONS.program, OPTIONS.model, *flags, **others)
        self.addCleanup(lambda: server.process.poll() is None and server.end())
        return server

    def model_called(self, name):
        return str(Path(OPTIONS.model).parent / f"{name}.gguf")

    def ask(self, server, data):
        with server.connect() as peer:
            return peer.ask(data)

    def metrics(self, server):
        """From a series, its labels included, to its value."""
        lines = self.ask(server, get("/metrics")).body.decode().splitlines()
        return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))

    def wait_for_metrics(self, server, expected):
        """They may come to it just after an answer. None: there is no such series."""
        for _ in range(1000):
            metrics = self.metrics(server)
            found = {name: metrics.get(name) for name in expected}
            if found == expected:
                break
            time.sleep(0.01)
        self.assertEqual(found, expected)
        return metrics

    def run_serve(self, *flags):
        return subprocess.run([OPTIONS.program, "serve", "--model", OPTIONS.model, *flags],
                              capture_output=True, text=True, timeout=30)


class Settings(ServerTest):
    def test_keys_from_everywhere_open_and_nothing_else_does(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("from-file\n\n  also-from-file \n")
            file.flush()
            server = self.served("--api-key", "from-flag", "--api-key-file", file.name,
                                 environment={"ADJUDGE_API_KEYS": "from-env, also-from-env"})
        for key in ["from-flag", "from-file", "also-from-file", "from-env", "also-from-env"]:
            answer = self.ask(server, post(decision("s"), f"Authorization: Bearer {key}"))
            self.assertEqual(answer.status, 200, key)
        for headers in [[], ["Authorization: Bearer wrong"], ["x-api-key: from-flag"]]:
            answer = self.ask(server, post(decision("s"), *headers))
            self.assertEqual(answer.status, 401)
            self.assertEqual(answer.json()["detail"]["error_type"], "authentication_error")
        self.assertEqual(self.ask(server, get("/health")).status, 200)
        self.assertEqual(server.end(), 0)
        self.assertNotIn("from-", server.logged)

    def test_a_public_address_is_served_when_a_key_is_asked_for(self):
        server = self.served("--host", "0.0.0.0", "--api-key", "k")
        self.assertEqual(self.ask(server, get("/v1/models", "Host: any.example")).status, 400)
        self.assertEqual(self.ask(server, get("/health")).status, 200)

    def test_a_key_with_blanks_is_refused_without_being_shown(self):
        refused = self.run_serve("--api-key", "my secret")
        self.assertEqual(refused.returncode, 2)
        self.assertNotIn("secret", refused.stderr)

    def test_a_listed_origin_is_told_so(self):
        server = self.served("--cors", "https://app.example")
        answer = self.ask(server, post(decision("s"), "Origin: https://app.example"))
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["access-control-allow-origin"], "https://app.example")

    def test_compressed_bodies_are_read_and_bombs_refused(self):
        server = self.served()
        body = decision("text " * 500)
        packed = post(gzip.compress(body.encode()), "Content-Encoding: gzip")
        self.assertEqual(self.ask(server, packed).body, self.ask(server, post(body)).body)
        zstd = subprocess.run(["zstd", "-c"], input=body.encode(), capture_output=True, check=True)
        packed = post(zstd.stdout, "Content-Encoding: zstd")
        self.assertEqual(self.ask(server, packed).body, self.ask(server, post(body)).body)
        bomb = gzip.compress(b" " * (100 << 20))
        answer = self.ask(server, post(bomb, "Content-Encoding: gzip"))
        self.assertEqual(answer.status, 413)

    def test_llama_servers_words(self):
        server = self.served("--compat", "llama")
        question = {"q": {"type": "noul", "instructions": "x"}}
        wrong = [{"questions": question}, {"state": "s"}, {"state": "s", "questions": {}},
                 {"state": "s", "questions": {"q": {"type": "unknown", "instructions": "x"}}},
                 {"state": "s", "questions": {"q": {"type": "noul"}}},
                 {"state": "s", "questions": {"q": {"type": "choice", "instructions": "x"}}},
                 {"state": "s", "questions": {
                     "q": {"type": "choice", "instructions": "x", "criteria": {}}}},
                 {"state": "s", "questions": {
                     "q": {"type": "score", "instructions": "x", "criteria": ["one"]}}}]
        for body in wrong:
            answer = self.ask(server, post(json.dumps(body)))
            self.assertEqual(answer.status, 400, body)
            self.assertEqual(list(answer.json()), ["error"])
        pictures = {"state": "s", "questions": question, "images": ["data:image/png;base64,AA=="]}
        self.assertEqual(self.ask(server, post(json.dumps(pictures))).status, 501)
        two = json.dumps({"state": "s", "questions": {"a": question["q"], "b": question["q"]}})
        used = self.ask(server, post(two)).json()["usage"]["input_tokens"]
        counted = {line.split()[0]: float(line.split()[1]) for line in
                   self.ask(server, get("/metrics")).body.decode().splitlines()
                   if re.match("llamacpp:prompt_tokens(_cached)?_total ", line)}
        self.assertEqual(sum(counted.values()), used)
        self.assertGreater(counted["llamacpp:prompt_tokens_cached_total"], 0)

    def test_a_base_path_is_taken_off(self):
        server = self.served("--base-path", "/decide")
        self.assertEqual(self.ask(server, get("/decide/v1/models")).status, 200)
        self.assertEqual(self.ask(server, get("/v1/models")).status, 200)
        self.assertEqual(self.ask(server, get("/decided/v1/models")).status, 404)

    def test_a_base_path_that_no_request_has_is_refused(self):
        for path, said in [("decide", "beginning"), ("/decide/", "end"), ("/", "end"), ("/a b", "%XX")]:
            refused = self.run_serve("--port", "0", "--base-path", path)
            self.assertEqual(refused.returncode, 2, path)
            self.assertIn(f'base path "{path}"', refused.stderr)
            self.assertIn(said, refused.stderr)

    def test_a_log_of_objects(self):
        server = self.served("--log-format", "json")
        self.ask(server, post(decision("s")))
        self.assertEqual(server.end(), 0)
        logged = lines_of(server.logged.encode())
        asked = [line for line in logged if line.get("route") == "/v1/systemone"]
        self.assertEqual(len(asked), 1)
        self.assertEqual((asked[0]["status"], asked[0]["method"]), (200, "POST"))

    def test_a_batch_streams_a_line_per_state_in_order(self):
        server = self.served()
        states = [f"text {i}" for i in range(150)] + [None, {"a": 1}]
        questions = {"q": {"type": "noul", "instructions": "late?"}}
        body = json.dumps({"states": states, "questions": questions})
        with server.connect() as peer:
            peer.send(post(body, path="/v1/systemone/batch"))
            answer = peer.receive_chunked()
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.headers["content-type"], "application/x-ndjson")
            rows = lines_of(answer.body)
            self.assertEqual([row["index"] for row in rows], list(range(len(states))))
            self.assertEqual(rows[150]["status"], 422)
            alone = peer.ask(post(decision("text 7"))).json()
        self.assertEqual(rows[7]["answers"], alone["answers"])
        self.assertIn("answers", rows[151])

    def test_a_batch_whose_peer_leaves_ends(self):
        server = self.served()
        body = json.dumps({"states": ["x " * 300] * 2000,
                           "questions": {"q": {"type": "noul", "instructions": "?"}}})
        with server.connect() as peer:
            peer.send(post(body, path="/v1/systemone/batch"))
            peer.stream.readline()
        begin = time.monotonic()
        self.assertEqual(self.ask(server, post(decision("s"))).status, 200)
        self.assertEqual(server.end(), 0)
        self.assertLess(time.monotonic() - begin, 10)

    def test_several_models_answer_by_name(self):
        folder = Path(OPTIONS.model).parent
        second = folder / "tiny-kev-f32.gguf"
        server = self.served("--model", str(second))
        names = [entry["id"] for entry in self.ask(server, get("/v1/models")).json()["data"]]
        self.assertEqual(names, [Path(OPTIONS.model).stem, second.stem])
        body = {"state": "s", "questions": {"q": {"type": "noul", "instructions": "?"}}}

        def model_of(name):
            for _ in range(100):
                answer = self.ask(server, post(json.dumps({"model": name, **body})))
                if answer.status != 503:
                    break
                self.assertIn("retry-after", answer.headers)
                time.sleep(0.1)
            return answer.json().get("model") or answer.json()["detail"]["error_type"]

        self.assertEqual(model_of(second.stem), second.stem)
        self.assertEqual(model_of(second.stem + ":latest"), second.stem)
        self.assertEqual(model_of("jev-latest"), names[0])
        self.assertEqual(model_of("gpt-6-luna"), "api_usage_error")

    def test_the_catalogues_names_mean_their_model(self):
        with tempfile.TemporaryDirectory() as folder:
            pulled = Path(folder) / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
            pulled.symlink_to(Path(OPTIONS.model).resolve())
            server = self.served("--model", str(pulled), "--pin", "default")
            entry = self.ask(server, get("/v1/models")).json()["data"][1]
            self.assertEqual(entry["aliases"], ["qwen2.5-coder-1.5b-instruct", "default"])
            document = Path(__file__).parents[2] / "docs/protocol.md"
            for name in entry["aliases"]:
                self.assertIn(f"`{name}`", document.read_text(), "it says what may be asked for")
                body = json.dumps({"model": name, **json.loads(decision("s"))})
                self.assertEqual(self.ask(server, post(body)).json()["model"], pulled.stem)

    def test_an_idle_model_is_put_away_and_comes_back(self):
        server = self.served("--idle-unload", "1")
        self.assertEqual(self.ask(server, post(decision("s"))).status, 200)
        time.sleep(2)
        self.assertEqual(self.ask(server, get("/api/ps")).json()["models"], [])
        for _ in range(100):
            answer = self.ask(server, post(decision("s")))
            if answer.status == 200:
                break
            time.sleep(0.1)
        self.assertEqual(answer.status, 200)

    def test_metrics_count_what_was_asked(self):
        server = self.served()
        self.ask(server, post(decision("s")))
        self.ask(server, post("{"))
        answer = self.ask(server, get("/metrics"))
        self.assertTrue(answer.headers["content-type"].startswith("text/plain"))
        metrics = answer.body.decode()
        for line in ['adjudge_http_requests_total{route="/v1/systemone",status="200"} 1',
                     'adjudge_http_requests_total{route="/v1/systemone",status="422"} 1',
                     'adjudge_http_request_duration_seconds_count 2',
                     'adjudge_questions_total{kind="noul"} 1',
                     'adjudge_decisions_total{outcome="answered"} 1',
                     f'adjudge_model_loaded{{model="{Path(OPTIONS.model).stem}"}} 1']:
            self.assertIn(f"\n{line}\n", metrics)

    def test_metrics_say_which_models_there_are(self):
        server = self.served("--model", self.model_called("tiny-kev-f32"))
        metrics = self.metrics(server)
        entries = self.ask(server, get("/v1/models")).json()["data"]
        self.assertEqual(len(entries), 2)
        for entry in entries:
            told = {name: entry["meta"][name] for name in
                    ("backbone", "family", "fingerprint", "precision")}
            labels = ",".join(f'{name}="{value}"'
                              for name, value in sorted({**told, "model": entry["id"]}.items()))
            self.assertEqual(metrics.get(f"adjudge_model_info{{{labels}}}"), "1", metrics)

    def test_metrics_tell_who_waits_who_is_refused_and_who_left(self):
        server = self.served("--queue-requests", "1", "--snapshot-cache", "0")
        with server.connect() as long, server.connect() as waiting:
            long.send(post(decision("word " * 12000)))
            self.wait_for_metrics(server, {"llamacpp:requests_processing": "1"})
            waiting.send(post(decision("text")))
            load = self.wait_for_metrics(server, {"llamacpp:requests_deferred": "1"})
            for status, body in [(429, decision("text")), (413, decision("word " * 40000)),
                                 (422, "{")]:
                self.assertEqual(self.ask(server, post(body)).status, status)
            long.leave()
            answer = waiting.receive()
        self.assertEqual(load["adjudge_queue_tokens"], str(answer.json()["usage"]["input_tokens"]))
        route = 'adjudge_http_requests_total{route="/v1/systemone",status="%d"}'
        self.wait_for_metrics(server, {
            **{route % status: "1" for status in (200, 413, 422, 429, 499)},
            "llamacpp:decision_requests_refused_total": "1",  # by the queue, not for their size
            'adjudge_decisions_total{outcome="answered"}': "1",
            'adjudge_decisions_total{outcome="cancelled"}': "1",
            'adjudge_decisions_total{outcome="failed"}': None,
            "adjudge_queue_wait_seconds_count": "2",
            "adjudge_queue_tokens": "0"})

    def test_metrics_count_what_is_kept_found_and_let_go(self):
        server = self.served("--snapshot-cache", "2MB")  # room for three
        for state in "abcd":
            for instructions in ("first?", "second?"):
                question = {"type": "noul", "instructions": instructions}
                asked = decision(f"text {state} " * 60, q=question)
                self.assertEqual(self.ask(server, post(asked)).status, 200)
        metrics = self.wait_for_metrics(server, {"adjudge_snapshot_misses_total": "4",
                                                 "adjudge_snapshot_hits_total": "4",
                                                 "adjudge_snapshot_evictions_total": "1",
                                                 "adjudge_snapshots": "3",
                                                 "adjudge_snapshot_bytes_max": str(2 << 20)})
        self.assertTrue(0 < float(metrics["adjudge_snapshot_bytes"]) <= 2 << 20, metrics)

    def test_no_stretch_of_a_timing_is_counted_twice(self):
        server = self.served()
        for words in (1, 300):
            answer = self.ask(server, post(decision("word " * words)))
            phases = {name: float(ms) for name, ms in
                      re.findall(r"(\w+);dur=([0-9.]+)", answer.headers["server-timing"])}
            total = phases.pop("total")
            self.assertEqual(list(phases), ["parse", "queue", "compile", "evaluate", "read"])
            self.assertLessEqual(sum(phases.values()), total + 0.0005 * (1 + len(phases)))  # rounded

    def test_metrics_count_each_pass_once(self):
        server = self.served()
        rows = json.dumps({"states": [f"text {i}" for i in range(50)],
                           "questions": {"q": {"type": "noul", "instructions": "?"}}})
        with server.connect() as peer:
            peer.send(post(rows, path="/v1/systemone/batch"))
            peer.receive_chunked()
            self.assertEqual(peer.ask(post(decision("s"))).status, 200)
        # The queue counts a pass when it is over, just after its answers.
        counted = self.wait_for_metrics(server, {"llamacpp:requests_processing": "0"})
        self.assertEqual(counted["adjudge_pass_requests_sum"], "51")
        self.assertEqual(counted["adjudge_pass_requests_count"], counted["llamacpp:n_decode_total"])

    def test_the_decision_log_holds_hashes_unless_told_and_can_be_replayed(self):
        body = decision("secret text", q={"type": "choice", "criteria": {"a": None, "b": None}})
        for flags in [[], ["--decision-log-requests"]]:
            with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
                server = self.served("--decision-log", file.name, *flags)
                answer = self.ask(server, post(body))
                self.assertEqual(server.end(), 0)
                logged = Path(file.name).read_bytes()
                row = lines_of(logged)[0]
                self.assertEqual(row["id"], answer.headers["x-typesafe-request-id"])
                self.assertEqual(row["answers"]["q"]["probabilities"],
                                 list(answer.json()["answers"]["q"]["probabilities"].values()))
                self.assertEqual(b"secret" in logged, bool(flags))
                replayed = subprocess.run(
                    [OPTIONS.program, "replay", "--model", OPTIONS.model, "--precision", "f32",
                     file.name], capture_output=True, timeout=60)
                report = json.loads(replayed.stdout)
                self.assertEqual(report["compared"], len(flags))
                self.assertEqual(report["without_request"], 1 - len(flags))
                self.assertEqual(report["largest_difference"], 0)
                self.assertEqual(report["choices_changed"], 0)

    def test_the_document_describes_the_server(self):
        server = self.served()
        document = self.ask(server, get("/openapi.json")).json()
        for path, operations in document["paths"].items():
            allowed = self.ask(server, request("OPTIONS", path)).headers["allow"]
            described = {method.upper() for method in operations}
            served = set(allowed.split(", ")) - {"HEAD", "OPTIONS"}
            self.assertEqual(described, served, path)
            for method in operations:
                answer = self.ask(server, request(method.upper(), path, b"{" if method == "post"
                                                  else b""))
                self.assertIn(str(answer.status), operations[method]["responses"], path)


class Flags(ServerTest):
    """Every flag of the server changes what it should."""

    def served_model(self, name, *flags):
        server = Served(OPTIONS.program, self.model_called(name), *flags)
        self.addCleanup(lambda: server.process.poll() is None and server.end())
        return server

    def test_another_familys_way(self):
        asked = [self.ask(server, get("/v1/models")).json()["data"][0]["meta"]["family"]
                 for server in (self.served(), self.served("--family", "nimble"))]
        self.assertEqual(asked, ["openjev", "nimble"])

    def test_questions_alone_do_not_see_each_other(self):
        a, b = ({"type": "noul", "instructions": text} for text in ("late?", "angry?"))

        def answer_to_a(server, **questions):
            return self.ask(server, post(decision("text", **questions))).json()["answers"]["a"]

        together = self.served("--family", "nimble", "--questions", "together")
        self.assertNotEqual(answer_to_a(together, a=a, b=b), answer_to_a(together, a=a))
        alone = self.served("--family", "nimble", "--questions", "alone")
        self.assertEqual(answer_to_a(alone, a=a, b=b), answer_to_a(alone, a=a))

    def test_what_training_cut_is_told_or_refused(self):
        body = decision("text", q={"type": "choice", "criteria": {"a": "word " * 300, "b": None}})
        server = self.served_model("tiny-laya-f32", "--on-truncation", "report")
        told = self.ask(server, post(body))
        self.assertEqual((told.status, told.headers["x-truncated"]), (200, "true"))
        self.assertEqual(self.ask(server, post(decision("text"))).status, 200)
        self.wait_for_metrics(server, {"adjudge_truncated_total": "1"})
        refused = self.ask(self.served_model("tiny-laya-f32", "--on-truncation", "refuse"), post(body))
        self.assertEqual(refused.status, 422)
        self.assertEqual(refused.json()["detail"][0]["type"], "truncated")

    def test_ids_are_shown_where_the_reference_shows_them(self):
        def answers(server, name):
            body = decision("text", **{name: {"type": "noul", "instructions": "late?"}})
            return self.ask(server, post(body)).json()["answers"][name]

        plain = self.served("--family", "nimble")
        self.assertEqual(answers(plain, "one"), answers(plain, "another"))
        faithful = self.served("--family", "nimble", "--faithful")
        self.assertNotEqual(answers(faithful, "one"), answers(faithful, "another"))

    def test_text_is_split_another_way(self):
        body = decision("1234567890 " * 30)

        def tokens(*flags):
            return self.ask(self.served(*flags), post(body)).json()["usage"]["input_tokens"]

        self.assertNotEqual(tokens(), tokens("--split", "gpt-2"))
        self.assertEqual(self.run_serve("--split", "nowhere").returncode, 3)

    def test_an_instruction_set_is_named_and_near(self):
        def noul(*flags):
            return self.ask(self.served(*flags), post(decision("s"))).json()["answers"]["q"]["noul"]

        self.assertAlmostEqual(noul("--isa", "scalar"), noul(), delta=1e-4)
        refused = self.run_serve("--isa", "abacus")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("scalar", refused.stderr)

    def test_precision_is_told_and_refused_where_there_is_none(self):
        meta = self.ask(self.served(), get("/v1/models")).json()["data"][0]["meta"]
        self.assertTrue(meta["precision"].startswith("f32"), meta)  # as served.py asks for
        self.assertEqual(self.run_serve("--precision", "f8").returncode, 2)

    def test_as_many_threads_work_as_asked_for(self):
        def threads(count):
            server = self.served("--threads", str(count))
            self.assertEqual(self.ask(server, post(decision("s"))).status, 200)
            return server.thread_count()

        self.assertEqual(threads(3) - threads(1), 2)

    def test_memory_that_does_not_suffice_is_named(self):
        refused = self.run_serve("--memory", "1KB")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("memory budget", refused.stderr)

    def test_states_are_kept_unless_told_not_to(self):
        def evaluated(server):
            for instructions in ("first?", "second?"):
                body = json.loads(decision("long text " * 60,
                                           q={"type": "noul", "instructions": instructions}))
                usage = self.ask(server, post(json.dumps({"x_usage": True, **body}))).json()
            return usage["x_usage"]["evaluated_tokens"]

        self.assertLess(evaluated(self.served("--snapshot-cache", "64MB")),
                        evaluated(self.served("--snapshot-cache", "0")) / 2)

    def test_states_outlive_the_server_in_a_folder(self):
        def evaluated(server, instructions):
            body = json.loads(decision("long text " * 60,
                                       q={"type": "noul", "instructions": instructions}))
            answer = self.ask(server, post(json.dumps({"x_usage": True, **body}))).json()
            return answer["x_usage"]["evaluated_tokens"], answer["answers"]["q"]["noul"]

        with tempfile.TemporaryDirectory() as folder:
            first = self.served("--snapshot-folder", folder)
            cold, _ = evaluated(first, "first?")
            expected = evaluated(first, "second?")
            self.assertEqual(first.end(), 0)
            second = self.served("--snapshot-folder", folder)
            self.assertEqual(evaluated(second, "second?"), expected)
            self.assertLess(expected[0], cold / 2)

    def test_a_public_address_without_a_key_only_when_told(self):
        self.assertEqual(self.run_serve("--host", "0.0.0.0").returncode, 2)
        server = self.served("--host", "0.0.0.0", "--public")
        self.assertEqual(self.ask(server, post(decision("s"))).status, 200)

    def test_a_proxys_name_is_let_in(self):
        server = self.served("--allow-host", "proxy.example")
        for host, status in (("proxy.example", 200), ("other.example", 403)):
            data = post(decision("s")).replace(b"Host: localhost", b"Host: " + host.encode())
            self.assertEqual(self.ask(server, data).status, status, host)

    def test_every_flag_is_passed_by_a_test(self):
        shown = subprocess.run([OPTIONS.program, "serve", "--help"], capture_output=True, text=True, timeout=30)
        flags = set(re.findall(r"^ +(--[a-z][a-z-]+)", shown.stdout, re.MULTILINE))
        flags |= set(re.findall(r"^ +-\w,(--[a-z][a-z-]+)", shown.stdout, re.MULTILINE))
        self.assertIn("--model", flags)
        passed = {flag for test in Path(__file__).parent.glob("*_test.py")
                  for flag in re.findall(r'"(--[a-z-]+)"', test.read_text())}
        self.assertEqual(flags - passed - {"--help"}, set(), "flags of serve that no test passes")


if __name__ == "__main__":
    OPTIONS = arguments()
    unittest.main(argv=[sys.argv[0]])
