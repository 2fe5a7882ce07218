"""A child process whose disk fails: the n-th call that changes it kills the process, is cut short, or finds the disk full.

The calls of the operating system's module are wrapped, not the code under test: whatever changes the disk goes through one
of them.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

How = Literal["not", "kill", "cut", "full"]
CHANGING = ("write", "open", "replace", "rename", "mkdir", "unlink", "rmdir", "ftruncate", "fsync", "fchmod", "utime")
CREATES = os.O_CREAT | os.O_TRUNC


class End(NamedTuple):
    """How the child ended: what it said (empty where it was killed), its calls that change the disk, and its fsyncs."""

    said: str
    calls: int
    fsyncs: int


class Wound:
    def __init__(self, how: How, number: int) -> None:
        self.how = how
        self.number = number
        self.calls = 0
        self.fsyncs = 0

    def wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if name == "open" and not arguments[1] & CREATES:
                return real(*arguments, **named)
            here = self.calls
            self.calls += 1
            self.fsyncs += name == "fsync"
            if self.how == "kill" and here >= self.number:
                os._exit(9)
            if name == "write" and here == self.number and self.how in ("cut", "full") and len(arguments[1]) > 1:
                done = real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                if self.how == "cut":
                    self.how = "kill"
                return done
            if self.how == "full" and here >= self.number and name in ("write", "mkdir", "open"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*arguments, **named)

        return call


def hurt(how: How, number: int, action: Callable[[], str]) -> End:
    """Run an action in a child of this process with a failing disk."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        tell = os.write
        wound = Wound(how, number)
        for name in CHANGING:
            setattr(os, name, wound.wrapped(name, getattr(os, name)))
        try:
            said = action()
        except OSError as error:
            said = f"{type(error).__name__} {errno.errorcode.get(error.errno or 0)}"
        except BaseException as error:
            said = f"fault {error!r}"
        tell(theirs, f"{said}\n{wound.calls}\n{wound.fsyncs}".encode())
        os._exit(0)
    os.close(theirs)
    parts: list[bytes] = []
    while part := os.read(ours, 65536):
        parts.append(part)
    os.close(ours)
    os.waitpid(child, 0)
    said, *numbers = b"".join(parts).decode().split("\n") if parts else ("", "0", "0")
    return End(said, int(numbers[0]), int(numbers[1]))
