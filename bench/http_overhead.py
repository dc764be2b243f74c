#!/usr/bin/env python3
"""What HTTP costs: the time from a request's first byte sent to its answer's last byte received, less
the time the engine says it took (compile, evaluate and read of Server-Timing), over one connection
that is kept, each request with a state of its own; and the part of it that the server sees (total of
Server-Timing). And how many requests for /health a second wrk gets answered (Debian package wrk;
left out where there is none).

  bench/http_overhead.py build/adjudge MODEL.gguf
"""
import argparse
import json
import re
import shutil
import socket
import statistics
import subprocess
import time

from peers import Server

ENGINE_PHASES = ("compile", "evaluate", "read")


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def ask(self, content):
        """Milliseconds: whole, the server's, the engine's."""
        head = f"POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(content)}\r\n\r\n"
        begin = time.perf_counter()
        self.socket.sendall(head.encode() + content)
        status = int(self.file.readline().split()[1])
        headers = {}
        while (line := self.file.readline().strip()):
            name, value = line.decode().split(":", 1)
            headers[name.lower()] = value.strip()
        text = self.file.read(int(headers["content-length"]))
        whole = 1000 * (time.perf_counter() - begin)
        if status != 200:
            raise SystemExit(f"status {status}: {text.decode()}")
        phases = dict(re.findall(r"(\w+);dur=([0-9.]+)", headers["server-timing"]))
        return whole, float(phases["total"]), sum(float(phases[name]) for name in ENGINE_PHASES)


def body(number, words):
    state = {"case": number, "text": "word " * words}
    questions = {"urgent": {"type": "noul", "instructions": "Is it urgent?"},
                 "queue": {"type": "choice", "instructions": "Which queue?",
                           "criteria": {"sales": "offers", "support": "help", "other": "the rest"}}}
    return json.dumps({"state": state, "questions": questions}).encode()


def measure_overhead(port, count, words):
    connection = Connection(port)
    asked = [connection.ask(body(number, words)) for number in range(count)]
    added = sorted(whole - engine for whole, _, engine in asked)
    in_server = statistics.median(total - engine for _, total, engine in asked)
    print(f"{words:6} words: HTTP adds p50 {statistics.median(added):.3f} ms, "
          f"p99 {added[int(0.99 * count)]:.3f} ms, p50 in the server {in_server:.3f} ms; the engine takes "
          f"p50 {statistics.median(engine for *_, engine in asked):.3f} ms ({count} requests)")


def measure_health(port, seconds):
    wrk = shutil.which("wrk")
    if not wrk:
        return print("wrk is not installed: /health was not measured")
    said = subprocess.run([wrk, "-t1", "-c16", f"-d{seconds}s", f"http://127.0.0.1:{port}/health"],
                          check=True, capture_output=True, text=True).stdout
    rate = float(re.search(r"Requests/sec:\s*([0-9.]+)", said)[1])
    print(f"/health: {rate:,.0f} requests a second (wrk, one thread, 16 connections, {seconds} s)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adjudge")
    parser.add_argument("model")
    parser.add_argument("--count", type=int, default=1000, help="requests of each length")
    parser.add_argument("--seconds", type=int, default=10, help="of wrk")
    given = parser.parse_args()
    server = Server(lambda port: [given.adjudge, "serve", "--model", given.model, "--port", str(port)])
    try:
        server.wait_until_ready("/ready")
        for words in (10, 200):
            measure_overhead(server.port, given.count, words)
        measure_health(server.port, given.seconds)
    finally:
        server.close()


if __name__ == "__main__":
    main()
