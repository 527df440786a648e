"""Long text made short, saying so."""


def shorten(text: str, limit: int) -> str:
    """Keep head and tail of a text, and say how much was cut between them."""
    if len(text) <= limit:
        return text
    head = limit // 2
    tail = limit - head
    cut = len(text) - limit
    return f"{text[:head]}\n[... {cut} characters cut ...]\n{text[-tail:]}"


def sendable(text: str) -> str:
    """Give a text without the lone surrogates that odd file names bring, which providers refuse."""
    return text.encode("utf-8", "replace").decode()


class Ends:
    """The head and the tail of a byte stream of any length."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._head = b""
        self._tail = b""
        self._size = 0

    def add(self, data: bytes) -> None:
        """Take a part of the stream."""
        self._size += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self._half :]

    def text(self) -> str:
        """Give what was kept, and how much was not."""
        cut = self._size - len(self._head) - len(self._tail)
        between = f"\n[... {cut} bytes cut ...]\n".encode() if cut else b""
        return (self._head + between + self._tail).decode("utf-8", "replace")
