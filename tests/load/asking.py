"""What the load tests share: requests over connections of their own, and percentiles."""
import asyncio
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "wire"))
from served import Served, decision, request  # noqa: E402, F401


def connect(port):
    return asyncio.open_connection("127.0.0.1", port)


async def receive(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head.split()[1])
    length = [int(line.split(b":")[1]) for line in head.lower().split(b"\r\n")
              if line.startswith(b"content-length:")]
    return status, await reader.readexactly(length[0] if length else 0)


async def ask(port, data):
    reader, writer = await connect(port)
    try:
        writer.write(data)
        return await receive(reader)
    finally:
        writer.close()


async def ask_until(end, port, make):
    """One request after the other until then, each made anew: their times and statuses."""
    times, statuses = [], []
    while time.monotonic() < end:
        begin = time.monotonic()
        status, _ = await ask(port, make())
        times.append(time.monotonic() - begin)
        statuses.append(status)
    return times, statuses


def percentile(values, share):
    return sorted(values)[int(len(values) * share)]
