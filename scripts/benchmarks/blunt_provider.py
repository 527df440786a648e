"""A provider that costs as little as it can: fixed answers, by the model's name. Stdlib only.

Prints its port, then serves until it is killed. Models: `whole` answers at once; `stream` in EVENTS events; `slow` in
SLOW_EVENTS events, one each PAUSE_S; `giant` in as many events of EVENT_BYTES as make GIANT_BYTES.
"""

import asyncio
import json
import sys

EVENTS, SLOW_EVENTS, PAUSE_S = 2_000, 40, 0.05
EVENT_BYTES, GIANT_BYTES = 64 << 10, 1 << 30

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ntransfer-encoding: chunked\r\n\r\n"
USAGE = {"prompt_tokens": 10, "completion_tokens": 10, "cost": 0.001}


def chunk(text: str, finish: str | None = None) -> bytes:
    """Write one event as a chunk of HTTP."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    data = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "blunt", "choices": [choice]}
    event = b"data: " + json.dumps(data).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(event), event)


DONE = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
PLAIN, END = chunk("a few words of an answer "), chunk("", "stop")
LARGE = chunk("x" * EVENT_BYTES)
WHOLE = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "blunt",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}],
        "usage": USAGE,
    }
).encode()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            size = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            model = json.loads(await reader.readexactly(size))["model"]
            if model == "whole":
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ")
                writer.write(b"%d\r\n\r\n%s" % (len(WHOLE), WHOLE))
            else:
                await stream(writer, model)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def stream(writer: asyncio.StreamWriter, model: str) -> None:
    """Send a stream's events, as fast as they are taken."""
    writer.write(HEAD % b"text/event-stream")
    events, event, pause = {
        "stream": (EVENTS, PLAIN, None),
        "slow": (SLOW_EVENTS, PLAIN, PAUSE_S),
        "giant": (GIANT_BYTES // EVENT_BYTES, LARGE, None),
    }[model]
    for _ in range(events):
        writer.write(event)
        await writer.drain()
        if pause is not None:
            await asyncio.sleep(pause)
    writer.write(END + DONE)


async def main() -> None:
    """Serve."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=512)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
