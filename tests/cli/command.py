"""The command, as a process of its own, on a terminal, and inside this process."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from memidex.cli import main
from memidex.cli.console import Console


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "PYTHONUTF8")}
    return {**kept, "TERM": "xterm", **more}


def process(directory: Path, *arguments: str, **more: str) -> Done:
    """`python -m memidex` with these arguments, run in a folder."""
    command = [sys.executable, "-m", "memidex", *arguments]
    done = subprocess.run(command, cwd=directory, env=environment(**more), capture_output=True, check=False, timeout=60)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def terminal(directory: Path, *arguments: str, **more: str) -> str:
    """What a terminal gets to see of a command."""
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "memidex", *arguments]
    with subprocess.Popen(
        command, cwd=directory, env=environment(**more), stdout=theirs, stderr=theirs, stdin=theirs
    ) as running:
        os.close(theirs)
        parts: list[bytes] = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            parts.append(part)
        running.wait(60)
    os.close(ours)
    return b"".join(parts).decode()


def inside(directory: Path, *arguments: str) -> Done:
    """The same without a process: the command's own code with streams in memory."""
    out, err = io.StringIO(), io.StringIO()
    code = main.run(arguments, Console(directory.as_posix(), {}, out, err, time.perf_counter))
    return Done(code, out.getvalue(), err.getvalue())
