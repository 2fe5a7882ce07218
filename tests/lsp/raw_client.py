"""A client that can say anything: bytes to a server process and messages from it, with a limit on every wait."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIMIT = 20.0  # seconds
STUB = Path(__file__).with_name("stub_server.py")


class RawClient:
    """One server process; `with` sees to its end."""

    def __init__(self, *arguments: str, command: tuple[str, ...] = (sys.executable, str(STUB))) -> None:
        self.process = subprocess.Popen(
            [*command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.seen: list[Any] = []
        self.sending = threading.Lock()
        self.log: list[str] = []
        for target in (self._read, self._read_log):
            threading.Thread(target=target, daemon=True).start()

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(LIMIT)

    def _read(self) -> None:
        out = self.process.stdout
        assert out
        while header := out.readline():
            length = int(header.split(b":")[1])
            out.readline()
            self.messages.put(json.loads(out.read(length)))
        self.messages.put(EOFError("the server closed its output"))

    def _read_log(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.log.append(line.decode("utf-8", "replace"))

    def send_bytes(self, data: bytes) -> None:
        """Whole, whoever sends: a message longer than the pipe is written in parts."""
        assert self.process.stdin
        with self.sending, memoryview(data) as view:
            at = 0
            while at < len(data):
                at += os.write(self.process.stdin.fileno(), view[at:])

    def send_body(self, body: bytes) -> None:
        self.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def send(self, **message: Any) -> None:
        self.send_body(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def notify(self, method: str, params: Any = None) -> None:
        self.send(method=method, params=params)

    def wait_for(self, wanted: Callable[[Any], bool], limit: float = LIMIT) -> Any:
        """The first message not yet taken that is as wanted; the others are kept."""
        for index, message in enumerate(self.seen):
            if wanted(message):
                return self.seen.pop(index)
        while True:
            message = self.messages.get(timeout=limit)
            if isinstance(message, EOFError):
                raise message
            if wanted(message):
                return message
            self.seen.append(message)

    def response(self, number: Any, limit: float = LIMIT) -> Any:
        return self.wait_for(lambda message: "method" not in message and message.get("id") == number, limit)

    def notification(self, method: str, limit: float = LIMIT) -> Any:
        return self.wait_for(lambda message: message.get("method") == method, limit)["params"]

    def ask(self, number: Any, method: str, params: Any = None) -> Any:
        self.send(id=number, method=method, params=params)
        return self.response(number)

    def start(self, **params: Any) -> Any:
        answer = self.ask("start", "initialize", {"processId": None, "rootUri": None, "capabilities": {}, **params})
        self.notify("initialized", {})
        return answer["result"]

    def exit_code(self, limit: float = LIMIT) -> int:
        return self.process.wait(limit)
