"""One download over HTTP that ends at a deadline, whatever the server does."""

import http.client
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from typing import Any

MAX_BYTES = 30_000_000
CHUNK = 1 << 16


class Late(OSError):
    """The deadline has passed."""


class TooLarge(OSError):
    """More came than a book can have."""


class Deadline:
    """So many seconds of connections; at the end every open connection is shut, so that no read waits any longer.

    A time limit on single reads would not do: a server that sends a byte now and then would never meet it.
    """

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._seconds = seconds
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()

    def __str__(self) -> str:
        return f"{self._seconds:g} s"

    def passed(self) -> bool:
        """Whether no time is left."""
        return self._left <= 0

    def watch(self, connected: socket.socket) -> None:
        """Shut this connection at the deadline, too; at once if it has passed."""
        with self._lock:
            # a second handle of the same connection: TLS takes the first one away
            self._sockets.append(connected.dup())
            if self.passed():
                self._shut()

    def run(self, work: Callable[[], bytes]) -> bytes:
        """What ``work`` returns; `Late` if the deadline passes before."""
        if self.passed():
            raise Late(f"it did not come within {self}")
        begin = time.monotonic()
        alarm = threading.Timer(self._left, self._expire)
        alarm.daemon = True
        alarm.start()
        try:
            return work()
        except (OSError, http.client.HTTPException) as error:
            if not self.passed():
                raise
            if isinstance(error, urllib.error.HTTPError):
                error.close()
            raise Late(f"it did not come within {self}") from None
        finally:
            alarm.cancel()
            with self._lock:
                self._left -= time.monotonic() - begin
                for one in self._sockets:
                    one.close()
                self._sockets.clear()

    def _expire(self) -> None:
        with self._lock:
            self._left = 0.0
            self._shut()

    def _shut(self) -> None:
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def download(address: str, timeout: float, deadline: Deadline) -> tuple[bytes, str]:
    """What is at an address, and the length that the server promised; `Late` after the deadline.

    Args:
        address: starts with http:// or https://.
        timeout: seconds that the server may stay silent.
        deadline: shared by all downloads of one book.
    """
    promised = ""

    def work() -> bytes:
        nonlocal promised
        request = urllib.request.Request(address, headers={"User-Agent": "shiftstate (one book at a time)"})
        with _opener(deadline).open(request, timeout=timeout) as answer:
            promised = answer.headers.get("Content-Length", "")
            pieces: list[bytes] = []
            size = 0
            while piece := answer.read1(CHUNK):
                if deadline.passed():
                    raise Late
                pieces.append(piece)
                size += len(piece)
                if size > MAX_BYTES:
                    raise TooLarge(f"it is larger than {MAX_BYTES} bytes")
            if deadline.passed():
                raise Late
            return b"".join(pieces)

    return deadline.run(work), promised


def _opener(deadline: Deadline) -> urllib.request.OpenerDirector:
    """As `urllib.request.urlopen` has it, with connections that the deadline watches."""

    class Watched(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            deadline.watch(self.sock)

    class Secure(http.client.HTTPSConnection, Watched):
        """Its handshake follows `Watched.connect`, so it is watched too."""

    class PlainHandler(urllib.request.HTTPHandler):
        def http_open(self, request: urllib.request.Request) -> Any:
            return self.do_open(Watched, request)

    class SecureHandler(urllib.request.HTTPSHandler):
        def https_open(self, request: urllib.request.Request) -> Any:
            return self.do_open(Secure, request)

    return urllib.request.build_opener(PlainHandler, SecureHandler)
