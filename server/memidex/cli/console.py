"""The process as the commands see it: where it stands, what it may print on, and how text is made fit for a screen."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TextIO

DONE, REFUSED, CANNOT_RUN, STOPPED, NO_READER = 0, 1, 2, 130, 141
"""Exit codes: done or clean; findings, refused or not found; could not run; Ctrl-C; who read our output went away."""
COLOURS = {"error": "31", "warning": "33", "info": "36", "hint": "2", "bold": "1", "dim": "2", "good": "32"}
# What a screen obeys or hides instead of showing it. Joiners stay: they make one picture of several.
UNSEEN = re.compile("[\0-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\uf8ff\U000e0000-\U000fffff\U00100000-\U0010ffff]")  # fmt: skip
IN_JSON = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


class Failed(Exception):
    """A command that cannot go on: a message for stderr, and the exit code."""

    def __init__(self, message: str, code: int = CANNOT_RUN) -> None:
        super().__init__(message)
        self.code = code


class Parser(ArgumentParser):
    """Arguments of one command; a wrong one is a `Failed` as everything else that cannot run."""

    def error(self, message: str) -> NoReturn:
        raise Failed(f"{message}\n{self.format_usage().strip()}")


@dataclass
class Console:
    """Where a command runs. `directory` is absolute, with forward slashes."""

    directory: str
    environment: Mapping[str, str]
    out: TextIO
    err: TextIO
    clock: Callable[[], float]
    """Seconds that only rise."""
    progress: Progress = field(init=False)

    def __post_init__(self) -> None:
        self.progress = Progress(self)

    # Printing ---------------------------------------------------------------------------------------------------------

    def print(self, text: str = "") -> None:
        self.out.write(text + "\n")

    def json(self, value: Any) -> None:
        """One JSON document: readable, but nothing in it that a screen obeys."""
        text = json.dumps(value, ensure_ascii=False, indent=2 if self.out.isatty() else None)
        self.print(IN_JSON.sub(lambda found: f"\\u{ord(found.group()):04x}", text))

    def say(self, text: str) -> None:
        """A line beside the result."""
        self.progress.clear()
        self.err.write(text + "\n")
        self.err.flush()

    def warn(self, text: str) -> None:
        self.say(f"memidex: {line(text)}")

    def painted(self, text: str, colour: str) -> str:
        """The text in a colour, on a terminal that wants one (https://no-color.org)."""
        return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if self.coloured else text

    @property
    def coloured(self) -> bool:
        return self.out.isatty() and not self.environment.get("NO_COLOR") and self.environment.get("TERM") != "dumb"

    @property
    def moves(self) -> bool:
        """Whether stderr is a terminal on which a line can be written over."""
        return self.err.isatty() and self.environment.get("TERM") != "dumb"

    @property
    def width(self) -> int | None:
        """Columns of the terminal; None where the output goes somewhere else and is not cut."""
        if not self.out.isatty():
            return None
        asked = self.environment.get("COLUMNS", "")
        try:
            return (
                int(asked)
                if asked.isdecimal() and int(asked)
                else os.get_terminal_size(self.out.fileno()).columns or 80
            )
        except OSError:
            return 80

    # Paths ------------------------------------------------------------------------------------------------------------

    def absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.directory, os.path.expanduser(path))).replace("\\", "/")

    def shown(self, path: str) -> str:
        """A path as it is printed: from the working directory where it is below it, else whole."""
        if path == self.directory:
            return "."
        return path.removeprefix(self.directory.rstrip("/") + "/")


class Progress:
    """One line on stderr for long work, on a terminal only."""

    AFTER = 0.5
    EVERY = 0.1

    def __init__(self, console: Console) -> None:
        self.console = console
        self.started: float | None = None
        self.told = 0.0
        self.there = False

    def __call__(self, what: str, done: int, whole: int) -> bool:
        now = self.console.clock()
        if self.started is None:
            self.started = now
        if self.console.moves and now - self.started > self.AFTER and now - self.told > self.EVERY:
            self.console.err.write(f"\r\x1b[K{what} {done:,} of {whole:,}")
            self.console.err.flush()
            self.told, self.there = now, True
        return True

    def clear(self) -> None:
        if self.there:
            self.console.err.write("\r\x1b[K")
            self.console.err.flush()
            self.there = False


def visible(text: str) -> str:
    """Text of a record made safe to print: what a screen would obey or hide is written as an escape. Lines stay lines."""
    return UNSEEN.sub(lambda found: found.group() if found.group() == "\n" else escape(found.group()), text)


def line(text: str) -> str:
    """The same on one line."""
    return visible(" ".join(text.split()) if "\n" in text or "\r" in text else text)


def escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) or c == "\u200d" else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def cut(text: str, width: int) -> str:
    """The text in at most so many columns, its end given up for an ellipsis where it is longer."""
    if columns(text) <= width:
        return text
    kept, room = "", max(width, 1) - 1
    for character in text:
        room -= columns(character)
        if room < 0:
            break
        kept += character
    return kept + "…"


def padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def of_process() -> Console:
    """The console of this process; its output takes every character whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="backslashreplace")
    import time

    return Console(os.getcwd().replace("\\", "/"), os.environ, sys.stdout, sys.stderr, time.perf_counter)
