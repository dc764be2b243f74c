"""The program under test: started on a free port, asked, ended."""
import argparse
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, help="the built adjudge")
    parser.add_argument("--model", required=True, help="a tiny model")
    return parser.parse_args()


class Served:
    """A running server; its log is `logged` once it has ended."""

    def __init__(self, program, model, *flags, environment=(), port=0, log=None):
        self.log = log or tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [program, "serve", "--model", model, "--port", str(port), "--precision", "f32",
             *([] if "--threads" in flags else ["--threads", "1"]), *flags],
            stdout=subprocess.PIPE, stderr=self.log, text=True,
            env={**os.environ, **dict(environment)})
        line = self.process.stdout.readline()
        found = re.search(r"http://[0-9.]+:(\d+)", line)
        if not found:
            self.wait()
            raise RuntimeError(f"the server said {line!r}; its log: {self.logged}")
        self.port = int(found.group(1))

    def connect(self):
        return Peer(self.port)

    def resident_kib(self):
        """None: it has ended."""
        return self.status_number("VmRSS")

    def thread_count(self):
        """None: it has ended."""
        return self.status_number("Threads")

    def status_number(self, name):
        _, _, rest = Path(f"/proc/{self.process.pid}/status").read_text().partition(f"\n{name}:")
        return int(rest.split()[0]) if rest else None

    def descriptor_count(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def tell_to_end(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds=30):
        try:
            return self.process.wait(seconds)
        finally:
            self.process.stdout.close()
            if self.log.seekable():  # not a pipe, whose other end somebody else has
                self.log.seek(0)
                self.logged = self.log.read().decode()
            self.log.close()

    def end(self):
        self.tell_to_end()
        return self.wait()


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def json(self):
        return json.loads(self.body)


class Peer:
    """A connection that sends bytes, so that it can be as rude as peers are."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.stream = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()

    def leave(self):
        self.stream.close()
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def receive(self, with_body=True):
        first = self.stream.readline()
        if not first:
            return None
        headers = {}
        while (line := self.stream.readline().strip()):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        status = int(first.split()[1])
        length = int(headers.get("content-length", 0)) if with_body and status >= 200 else 0
        return Answer(status, headers, self.stream.read(length))

    def receive_chunked(self):
        answer = self.receive(with_body=False)
        while (size := int(self.stream.readline(), 16)):
            answer.body += self.stream.read(size)
            self.stream.readline()
        self.stream.readline()
        return answer

    def ask(self, data, with_body=True):
        self.send(data)
        return self.receive(with_body)


def request(method, path, body=b"", headers=()):
    body = body if isinstance(body, bytes) else body.encode()
    head = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
    if body or method == "POST":
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def decision(state, **questions):
    questions = questions or {"q": {"type": "noul", "instructions": "late?"}}
    return json.dumps({"state": state, "questions": questions})
