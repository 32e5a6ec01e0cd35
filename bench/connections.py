"""Holds connections open: connections.py PORT IDLE SLOW SMALL_PATH LARGE_PATH

IDLE connections ask once for SMALL_PATH and stay open. Half of the SLOW ones send a request a byte at a time, the others read
LARGE_PATH slowly. They come from many addresses of loopback. Prints a line of JSON when all are open, and another with how many
still are after a line arrives on standard input. A connection that its server closes while it waits is opened again.
"""

import asyncio
import json
import resource
import sys

PORT, IDLE, SLOW, SMALL, LARGE = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
HOST = f"localhost:{PORT}"
# Connections from one address; the server may count them by address.
PER_ADDRESS = 1000
# A connection that is idle is used again before the server's time limit for it.
AGAIN = 45
# Seconds between two bytes of a slow request, and between two reads of 4 KiB of a slow response.
SEND_EVERY = 3
READ_EVERY = 2
REQUEST = f"GET {SMALL} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()

counts = {"idle": 0, "sending": 0, "reading": 0, "reopened": 0}
everyone = asyncio.Event()
gate = asyncio.Semaphore(200)


async def connect(number, limit):
    address = f"127.0.{1 + number // PER_ADDRESS // 250}.{1 + number // PER_ADDRESS % 250}"
    async with gate:
        return await asyncio.open_connection("127.0.0.1", PORT, local_addr=(address, 0), limit=limit)


async def answer(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(int(length.split(b":")[1]))


async def idle(number, opened):
    reader, writer = await connect(number, 2048)
    writer.write(REQUEST)
    await answer(reader)
    opened()
    # Spread over the interval, so that few are used at the same time.
    await asyncio.sleep(AGAIN * (number % 1000) / 1000)
    while True:
        writer.write(REQUEST)
        await answer(reader)
        await asyncio.sleep(AGAIN)


async def sending(number, opened):
    reader, writer = await connect(number, 2048)
    opened()
    text = f"GET /healthz HTTP/1.1\r\nHost: {HOST}\r\nX-Slow: ".encode() + b"x" * 1000
    for byte in text:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(SEND_EVERY)


async def reading(number, opened):
    reader, writer = await connect(number, 2048)
    writer.write(f"GET {LARGE} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
    await reader.readexactly(512)
    opened()
    while await reader.read(4096):
        await asyncio.sleep(READ_EVERY)


async def keep(kind, number):
    """Runs a client again and again, whenever the server ends its connection."""
    while True:
        is_open = False

        def opened():
            nonlocal is_open
            is_open = True
            counts[kind.__name__] += 1

        try:
            await kind(number, opened)
        except (OSError, asyncio.IncompleteReadError):
            pass
        if is_open:
            counts["reopened"] += 1
            counts[kind.__name__] -= 1
        await asyncio.sleep(0.2)


async def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard < IDLE + SLOW + 100:
        sys.exit(f"only {hard} open files are allowed: raise the limit (ulimit -n)")
    clients = [(idle, n) for n in range(IDLE)]
    clients += [((sending, reading)[n % 2], IDLE + n) for n in range(SLOW)]
    tasks = [asyncio.create_task(keep(kind, number)) for kind, number in clients]
    while counts["idle"] < IDLE or counts["sending"] + counts["reading"] < SLOW * 0.95:
        await asyncio.sleep(0.1)
    print(json.dumps(counts), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    print(json.dumps(counts), flush=True)
    for task in tasks:
        task.cancel()


asyncio.run(main())
