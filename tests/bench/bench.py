"""The benchmark: how memidex stands to the floors of this machine, taken in the same run.

    .venv/bin/python tests/bench/bench.py                      everything, at 1,000, 10,000 and 50,000 bundles
    .venv/bin/python tests/bench/bench.py --bundles 10000      one size
    .venv/bin/python tests/bench/bench.py --only cold warm     some measures

The machine may be shared and noisy, so work is measured in CPU time and given as the ratio to a floor that was taken
right beside it: measure and floor in turn, median of `--runs` ratios. Waiting (edits, hovers) is measured by the clock
and given beside the same messages to a bare pygls server. Nothing here passes or fails; see the table.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS / "tools"), str(TESTS / "lsp")]

PYTHON = sys.executable
BARE = (PYTHON, str(HERE / "bare_server.py"))
MEMIDEX = (PYTHON, "-m", "memidex", "lsp", "--stdio")


def row(measure: str, size: int | str, value: str, limit: str) -> None:
    print(f"| {measure:<44} | {size:>7} | {value:<58} | {limit:<22} |", flush=True)


def cpu(work: Callable[[], Any]) -> float:
    """Seconds of CPU that `work` takes in this process."""
    gc.collect()
    before = time.process_time()
    made = work()
    used = time.process_time() - before
    del made  # to take apart what was made is no part of making it
    return used


def child_cpu(*command: str) -> float:
    """Seconds of CPU that a process takes from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def against(runs: int, work: Callable[[], float], floor: Callable[[], float]) -> str:
    """Median ratio of `work` to `floor`, taken in turn, with the medians themselves in ms."""
    pairs = [(work(), floor()) for _ in range(runs)]
    ratio = statistics.median(one / two for one, two in pairs)
    ours, base = (statistics.median(column) * 1000 for column in zip(*pairs, strict=True))
    return f"{ratio:.2f} x ({ours:,.0f} ms to {base:,.0f} ms CPU)"


# Floors ---------------------------------------------------------------------------------------------------------------


def files_of(root: Path) -> list[str]:
    return [os.path.join(folder, name) for folder, _, names in os.walk(root / "memory") for name in names]


def folders_of(root: Path) -> list[str]:
    return [folder for folder, _, _ in os.walk(root / "memory") if "/bundles/" in folder]


def read_all(paths: list[str]) -> None:
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        size = os.fstat(handle).st_size
        os.read(handle, size + 1)
        os.close(handle)


def stat_all(paths: list[str]) -> None:
    for path in paths:
        os.stat(path)


# Measures of the store ------------------------------------------------------------------------------------------------


def cold(root: Path, size: int, runs: int) -> None:
    from memidex.store import opening

    paths = files_of(root)
    value = against(runs, lambda: cpu(lambda: opening.cold(root.as_posix())), lambda: cpu(lambda: read_all(paths)))
    row("cold index / reading the same files", size, value, "2.0 x")


def warm(root: Path, size: int, runs: int) -> None:
    from memidex.store import opening

    opening.save(opening.cold(root.as_posix()))
    time.sleep(2.2)  # so that no stamp is too young to be believed
    fresh = opening.cold(root.as_posix())
    fresh = opening.refreshed(fresh, opening.changes(fresh)[0])
    opening.save(fresh)
    paths = files_of(root)
    both = [*paths, *folders_of(root)]
    known = opening.warm(root.as_posix())
    assert known is not None
    changed, gone = opening.changes(known)
    assert not changed
    assert not gone
    value = against(runs, lambda: cpu(lambda: opening.changes(known)), lambda: cpu(lambda: stat_all(both)))
    row("warm: full verification / stat of files, folders", size, value, "1.3 x")
    value = against(runs, lambda: cpu(lambda: opening.changes(known)), lambda: cpu(lambda: stat_all(paths)))
    row("warm: full verification / stat of files alone", size, value, "")
    value = against(runs, lambda: cpu(lambda: opening.warm(root.as_posix())), lambda: cpu(lambda: stat_all(both)))
    row("warm: usable index / stat of files, folders", size, value, "")


def check(root: Path, size: int, runs: int) -> None:
    paths = files_of(root)
    command = (PYTHON, "-m", "memidex", "check", str(root), "--format", "json", "--fail-on", "never")
    value = against(runs, lambda: child_cpu(*command), lambda: cpu(lambda: read_all(paths)))
    row("memidex check, whole process / reading", size, value, "5 x")


def memory(root: Path, size: int, runs: int) -> None:
    script = (
        "import gc, sys, resource, os\n"
        "from memidex.store import opening\n"
        "def rss():\n"
        "    gc.collect(); return int(open('/proc/self/statm').read().split()[1]) * os.sysconf('SC_PAGE_SIZE')\n"
        "before = rss(); root = opening.warm(sys.argv[1]); print(rss() - before, len(root.entries))\n"
    )
    found = [
        subprocess.run((PYTHON, "-c", script, str(root)), capture_output=True, text=True, check=True).stdout.split()
        for _ in range(runs)
    ]
    per = statistics.median(int(used) / int(count) for used, count in found)
    row("resident memory of the index, per bundle", size, f"{per / 1024:.1f} KB", "6 KB")


# Measures of the server -----------------------------------------------------------------------------------------------


class Client:
    """As much of a client as a measure needs: messages out, messages in, nothing kept."""

    def __init__(self, command: tuple[str, ...], folder: Path | None) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.number = 0
        self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folder.as_uri() if folder else None,
                "workspaceFolders": [{"uri": folder.as_uri(), "name": "w"}] if folder else None,
                "capabilities": {
                    "general": {"positionEncodings": ["utf-32", "utf-16"]},
                    "textDocument": {"publishDiagnostics": {"versionSupport": True}},
                },
            },
        )
        self.notify("initialized", {})

    def write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def notify(self, method: str, params: Any) -> None:
        self.write({"method": method, "params": params})

    def request(self, method: str, params: Any) -> Any:
        self.number += 1
        self.write({"id": self.number, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == self.number and "method" not in message:
                return message.get("result")
            if "id" in message and "method" in message:
                self.write({"id": message["id"], "result": None})

    def diagnostics(self, uri: str, version: int) -> None:
        while True:
            message = self.read()
            if message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                if params["uri"] == uri and params.get("version") == version:
                    return

    def stop(self) -> None:
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.wait(20)

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def started(command: tuple[str, ...]) -> float:
    """Seconds of CPU from a server's start to its answer to `initialize`."""
    client = Client(command, None)
    used = client.cpu()
    client.process.kill()
    client.process.wait()
    return used


def start(_root: Path, _size: int, runs: int) -> None:
    pairs = [(started(MEMIDEX), started(BARE)) for _ in range(max(runs, 9))]
    ratio = statistics.median(ours for ours, _ in pairs) / statistics.median(base for _, base in pairs)
    row("process start to initialize / bare pygls (CPU)", "", f"{ratio:.2f} x", "1.15 x")
    walls: list[tuple[float, float]] = []
    for _ in range(max(runs, 9)):
        times: list[float] = []
        for command in (MEMIDEX, BARE):
            before = time.perf_counter()
            client = Client(command, None)
            times.append(time.perf_counter() - before)
            client.process.kill()
            client.process.wait()
        walls.append((times[0], times[1]))
    ratio = statistics.median(one / two for one, two in walls)
    row(
        "process start to initialize / bare pygls (wall)",
        "",
        f"{ratio:.2f} x ({statistics.median(one for one, _ in walls) * 1000:,.0f} ms)",
        "1.15 x",
    )


def opened(client: Client, root: Path) -> tuple[str, list[str], Path]:
    """Open a record of average size; its uri and lines."""
    record = sorted((root / "memory").glob("*/bundles/fact-*"))[7] / "record.md"
    text = record.read_text()
    uri = record.as_uri()
    client.notify(
        "textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "markdown", "version": 0, "text": text}}
    )
    return uri, text.split("\n"), record


def typed(client: Client, uri: str, lines: list[str], count: int, after: int = 0) -> list[float]:
    """Seconds from each edit to its diagnostics: a word is misspelt and put right again, key by key.

    Versions go on from `after`, an even number.
    """
    line = next(index for index, text in enumerate(lines) if text.startswith("kind:"))
    end = len(lines[line]) - 1
    times: list[float] = []
    for version in range(after + 1, after + count + 1):
        if version % 2:
            change = {"range": place(line, end, line, end), "text": "x"}
        else:
            change = {"range": place(line, end, line, end + 1), "text": ""}
        before = time.perf_counter()
        client.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}
        )
        client.diagnostics(uri, version)
        times.append(time.perf_counter() - before)
    return times


def place(line: int, character: int, end_line: int, end: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": character}, "end": {"line": end_line, "character": end}}


def quantiles(times: list[float]) -> tuple[float, float]:
    ordered = sorted(times)
    return ordered[len(ordered) // 2] * 1e3, ordered[int(len(ordered) * 0.95)] * 1e3


def settled(client: Client) -> None:
    """Wait until the server has checked everything."""
    client.request("workspace/diagnostic", {"previousResultIds": []})


def edits(root: Path, size: int, runs: int) -> None:
    ours, floor = Client(MEMIDEX, root), Client(BARE, root)
    settled(ours)
    rounds: list[tuple[tuple[float, float], tuple[float, float]]] = []
    texts = [(client, *opened(client, root)[:2]) for client in (ours, floor)]
    for client, uri, _ in texts:
        client.diagnostics(uri, 0)
    for number in range(runs):
        found = [quantiles(typed(client, uri, lines, 300, 300 * number)) for client, uri, lines in texts]
        rounds.append((found[0], found[1]))
    p50, p95, base50, base95 = (
        statistics.median(round_[which][quantile] for round_ in rounds) for which in (0, 1) for quantile in (0, 1)
    )
    ratio = statistics.median(one[0] / two[0] for one, two in rounds)
    row(
        "edit to diagnostics / bare pygls echo",
        size,
        f"{ratio:.2f} x (p50 {p50:.2f} p95 {p95:.2f} ms to {base50:.2f} {base95:.2f})",
        "2 x at p50",
    )
    ours.stop()
    floor.process.kill()
    floor.process.wait()


def answers(root: Path, size: int, runs: int) -> None:
    client = Client(MEMIDEX, root)
    settled(client)
    uri, lines, _ = opened(client, root)
    client.diagnostics(uri, 0)
    relations = next(
        path for path in sorted(root.glob("memory/*/bundles/*/relations.json")) if '"target"' in path.read_text()
    )
    text = relations.read_text()
    other = relations.as_uri()
    client.notify(
        "textDocument/didOpen", {"textDocument": {"uri": other, "languageId": "json", "version": 0, "text": text}}
    )
    line = next(index for index, item in enumerate(text.split("\n")) if '"target"' in item)
    column = text.split("\n")[line].index('"target"') + 14
    title = next(index for index, item in enumerate(lines) if item.startswith("id:"))
    at = {"textDocument": {"uri": uri}, "position": {"line": title, "character": 12}}
    target = {"textDocument": {"uri": other}, "position": {"line": line, "character": column}}
    words = ["place order", "refund", "confirm ticket", "x", "cancel appointment next", "textbox"]
    for name, ask in (
        ("hover", lambda _n: client.request("textDocument/hover", at)),
        ("hover of a target", lambda _n: client.request("textDocument/hover", target)),
        ("definition", lambda _n: client.request("textDocument/definition", target)),
        ("completion of a target", lambda _n: client.request("textDocument/completion", target)),
        ("workspace symbol", lambda n: client.request("workspace/symbol", {"query": words[n % len(words)]})),
    ):
        times: list[float] = []
        for number in range(60 * runs):
            before = time.perf_counter()
            ask(number)
            times.append(time.perf_counter() - before)
        p50, p95 = quantiles(times)
        row(f"{name}, p50 and p95", size, f"{p50:.2f} ms, {p95:.2f} ms", "p95 10 ms at 10,000")
    client.stop()


def sweep(root: Path, size: int, runs: int) -> None:
    """How long a keystroke waits at worst while a whole root is being read and checked."""
    state = root / ".memidex" / "index"
    state.unlink(missing_ok=True)
    client = Client(MEMIDEX, root)
    uri, lines, _ = opened(client, root)
    client.diagnostics(uri, 0)
    p50, p95 = quantiles(times := typed(client, uri, lines, 100 * runs))
    row(
        "edit to diagnostics while a cold root is checked",
        size,
        f"p50 {p50:.2f} p95 {p95:.2f} worst {max(times) * 1e3:.1f} ms",
        "",
    )
    client.process.kill()
    client.process.wait()


WRITER = """
import os, sys
from memidex import desk
from memidex.history.change import Actor, Change, Policy
from memidex.learning.decide import undo
from memidex.store import opening
count = 0
real = os.fsync
def counted(handle):
    global count
    count += 1
    real(handle)
os.fsync = os.fdatasync = counted
root = opening.cold(sys.argv[1])
for operation in ("accept", "contradict", "retract", "retract"):
    entry = root.find(sys.argv[2])
    change = undo(root, entry) if operation == "retract" else Change(operation=operation, record=entry.id)
    count = 0
    root = desk.ask(root, change, Actor("user", "bench"), Policy()).root
    print(count)
"""
"""A process that decides, and prints how often it made sure that the disk has it."""


def floored(bundle: Path, away: Path) -> float:
    """Seconds for what no decision can do without: read the bundle, append a line and replace a manifest, both durably."""
    before = time.perf_counter()
    read_all([os.path.join(folder, name) for folder, _, names in os.walk(bundle) for name in names])
    handle = os.open(away / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(handle, b"x" * 200)
    os.fsync(handle)
    os.close(handle)
    handle = os.open(away / "new", os.O_WRONLY | os.O_CREAT, 0o644)
    os.write(handle, b"x" * 600)
    os.fsync(handle)
    os.close(handle)
    (away / "new").replace(away / "manifest")
    return time.perf_counter() - before


def decide(root: Path, size: int, runs: int) -> None:
    """From a decision's command to its card, and to the diagnostics of the record, in turn for and against one record.

    The second message is the hint that a candidate waits, which goes and comes as it is accepted and that is undone.
    """
    client = Client(MEMIDEX, root)
    settled(client)
    answered: list[float] = []
    refreshed: list[float] = []
    floors: list[float] = []
    candidates = client.request("memidex/inspect", {"status": "candidate", "kind": "fact", "limit": 40})["records"]
    with tempfile.TemporaryDirectory(dir=root.parent) as temporary:
        for record in candidates[:40]:
            path = Path(record["path"])
            path = path if path.suffix == ".md" else path / "record.md"
            uri = path.as_uri()
            text = path.read_text()
            client.notify(
                "textDocument/didOpen",
                {"textDocument": {"uri": uri, "languageId": "markdown", "version": 0, "text": text}},
            )
            client.request(
                "textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 6}}
            )
            for operation in ("accept", "retract") * max(1, runs // 2):
                card, after = commanded(client, f"memidex.{operation}", {"id": record["id"], "root": str(root)}, uri)
                if "refused" in card:
                    print(f"refused: {card}", file=sys.stderr)
                    continue
                answered.append(card["seconds"])
                refreshed.append(after)
                floors.append(floored(path.parent, Path(temporary)))
            client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    base, _ = quantiles(floors)
    for name, times in (("card", answered), ("diagnostics", refreshed)):
        p50, p95 = quantiles(times)
        row(
            f"decision to its {name}, p50, p95 / floor",
            size,
            f"{p50:.2f} ms, {p95:.2f} ms ({p50 / base:.2f} x {base:.2f} ms)",
            "50,000 / 1,000: 1.2 x",
        )
    client.stop()
    if candidates:
        command = (PYTHON, "-c", WRITER, str(root), candidates[0]["id"])
        used = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        row("fsyncs of accept, contradict, and their undo", size, ", ".join(used), "3")


def commanded(client: Client, command: str, argument: dict[str, Any], uri: str) -> tuple[dict[str, Any], float]:
    """The card that answers a command, with the `seconds` it took, and the seconds until the diagnostics of `uri` came."""
    client.number += 1
    before = time.perf_counter()
    client.write(
        {
            "id": client.number,
            "method": "workspace/executeCommand",
            "params": {"command": command, "arguments": [argument]},
        }
    )
    card: dict[str, Any] | None = None
    told = None
    while card is None or (told is None and "refused" not in card):
        message = client.read()
        if "method" not in message and message.get("id") == client.number:
            card = {**(message.get("result") or {"refused": message}), "seconds": time.perf_counter() - before}
        elif message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
            told = time.perf_counter() - before
        elif "id" in message and "method" in message:
            client.write({"id": message["id"], "result": None})
    return card, told or 0.0


MEASURES: dict[str, Callable[[Path, int, int], None]] = {
    "start": start,
    "cold": cold,
    "warm": warm,
    "check": check,
    "memory": memory,
    "edits": edits,
    "answers": answers,
    "sweep": sweep,
    "decide": decide,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure memidex against floors taken in the same run.")
    parser.add_argument("--bundles", type=int, nargs="+", default=[1000, 10000, 50000], metavar="N")
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--runs", type=int, default=5, help="how often each is taken; the median is given")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the generated roots there, for the next run")
    options = parser.parse_args()
    from gen_root import generate

    print(f"| {'measure':<44} | bundles | {'value':<58} | {'line':<22} |")
    print(f"| {'-' * 44} | ------: | {'-' * 58} | {'-' * 22} |")
    with tempfile.TemporaryDirectory() as temporary:
        for index, size in enumerate(options.bundles):
            folder = (options.keep or Path(temporary)) / f"root-{size}"
            if not folder.exists():
                generate(folder, size, 1)
            for name in options.only:
                if name != "start" or index == 0:
                    MEASURES[name](folder / "agent-qa-knowledge", size, options.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
