"""An editor on the raw client: it keeps what it was told, answers what it is asked, and has an editor's capabilities."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import converters
from pytest_lsp import client_capabilities
from raw_client import LIMIT, RawClient

COMMAND = (sys.executable, "-m", "memidex", "lsp", "--stdio")
Capabilities = dict[str, Any]


def profile(name: str) -> Capabilities:
    """What an editor says it can: `neovim`, `visual-studio-code`, each with the newest that it has."""
    found: Capabilities = converters.get_converter().unstructure(client_capabilities(name))
    return found


def merged(one: Capabilities, two: Capabilities) -> Capabilities:
    result = dict(one)
    for name, value in two.items():
        before = result.get(name)
        result[name] = merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return result


PULLS: Capabilities = {
    "textDocument": {"diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": False}},
    "workspace": {"diagnostics": {"refreshSupport": True}},
}
NOTHING: Capabilities = {}
VSCODE = profile("visual-studio-code")
VSCODE_PULLS = merged(VSCODE, PULLS)
NEOVIM = profile("neovim")


def uri(path: Path | str) -> str:
    return Path(path).as_uri()


class Editor(RawClient):
    """A client of the real server."""

    def __init__(
        self,
        *folders: Path,
        capabilities: Capabilities = NOTHING,
        settings: Any = None,
        command: tuple[str, ...] = COMMAND,
        answers: dict[str, Callable[[Any], Any]] | None = None,
        **params: Any,
    ) -> None:
        self.pushed: dict[str, Any] = {}
        self.history: list[Any] = []
        self.asked: list[Any] = []
        self.settings = settings
        self.answers = answers or {}
        self.count = 0
        super().__init__(command=command)
        self.capabilities = capabilities
        self.result = self.start(
            capabilities=capabilities,
            workspaceFolders=[{"uri": uri(folder), "name": folder.name} for folder in folders],
            **params,
        )

    def _read(self) -> None:
        out = self.process.stdout
        assert out
        while header := out.readline():
            length = int(header.split(b":")[1])
            out.readline()
            message = json.loads(out.read(length))
            if message.get("method") == "textDocument/publishDiagnostics":
                self.pushed[message["params"]["uri"]] = message["params"]
                self.history.append(message["params"])
            elif "method" in message and "id" in message:
                self.asked.append(message)
                self.answer(message)
            else:
                self.messages.put(message)
        self.messages.put(EOFError("the server closed its output"))

    def answer(self, message: Any) -> None:
        method = message["method"]
        if method in self.answers:
            result = self.answers[method](message.get("params"))
            if result is NotImplemented:
                return
        elif method == "workspace/configuration":
            result = [self.settings for _ in message["params"]["items"]]
        else:
            result = None
        self.send(id=message["id"], result=result)

    def request(self, method: str, params: Any = None, limit: float = LIMIT) -> Any:
        """The result of a request, which must not fail."""
        answer = self.call(method, params, limit)
        assert "error" not in answer, answer
        return answer["result"]

    def call(self, method: str, params: Any = None, limit: float = LIMIT) -> Any:
        self.count += 1
        self.send(id=self.count, method=method, params=params)
        return self.response(self.count, limit)

    def begin(self, method: str, params: Any = None) -> int:
        self.count += 1
        self.send(id=self.count, method=method, params=params)
        return self.count

    # Documents

    def open(self, path: Path, text: str | None = None, version: int = 1, language: str = "markdown") -> None:
        text = path.read_bytes().decode() if text is None else text
        item = {"uri": uri(path), "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, path: Path, text: str, version: int = 2) -> None:
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri(path), "version": version}, "contentChanges": [{"text": text}]},
        )

    def close(self, path: Path) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri(path)}})

    def changed(self, *paths: Path, kind: int = 2) -> None:
        """What the client's watcher says."""
        changes = [{"uri": uri(path), "type": kind} for path in paths]
        self.notify("workspace/didChangeWatchedFiles", {"changes": changes})

    # What it shows

    def rules(self, path: Path) -> list[str]:
        """The rules that the file's pushed diagnostics are of."""
        found = self.pushed.get(uri(path), {"diagnostics": []})["diagnostics"]
        return sorted(item["data"]["rule"] for item in found)

    def shows(self, path: Path, *rules: str, limit: float = LIMIT) -> None:
        """Wait until a file's pushed diagnostics, hints left aside, are of these rules."""
        self.until(lambda: self.problems(path) == sorted(rules), limit, lambda: f"{path}: {self.problems(path)}")

    def problems(self, path: Path) -> list[str]:
        found = self.pushed.get(uri(path), {"diagnostics": []})["diagnostics"]
        return sorted(item["data"]["rule"] for item in found if item["severity"] < 4)

    def until(self, wanted: Callable[[], bool], limit: float = LIMIT, said: Callable[[], object] = lambda: "") -> None:
        deadline = time.monotonic() + limit
        while not wanted():
            if time.monotonic() > deadline:
                raise AssertionError(f"not in {limit} s: {said()}\n{''.join(self.log[-20:])}")
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended: {''.join(self.log[-20:])}")
            time.sleep(0.005)

    def pull(self, path: Path, previous: str | None = None) -> Any:
        params: dict[str, Any] = {"textDocument": {"uri": uri(path)}, "identifier": "memidex"}
        if previous is not None:
            params["previousResultId"] = previous
        return self.request("textDocument/diagnostic", params)

    def pull_all(self, known: dict[str, str] | None = None, limit: float = LIMIT) -> dict[str, Any]:
        """The workspace's reports by uri."""
        previous = [{"uri": name, "value": value} for name, value in (known or {}).items()]
        found = self.request("workspace/diagnostic", {"identifier": "memidex", "previousResultIds": previous}, limit)
        return {item["uri"]: item for item in found["items"]}

    def settled(self) -> dict[str, list[Any]]:
        """The workspace's findings once everything is read and checked, by uri, those without any left out."""
        return {name: item["items"] for name, item in self.pull_all().items() if item["items"]}

    def at(self, method: str, path: Path, line: int, character: int, **params: Any) -> Any:
        place = {"line": line, "character": character}
        return self.request(method, {"textDocument": {"uri": uri(path)}, "position": place, **params})

    def hover(self, path: Path, line: int, character: int) -> str | None:
        found = self.at("textDocument/hover", path, line, character)
        return found and found["contents"]["value"]

    def actions(self, path: Path, only: list[str] | None = None, **stretch: int) -> Any:
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 100_000, "character": 0}}
        context: dict[str, Any] = {"diagnostics": self.pushed.get(uri(path), {"diagnostics": []})["diagnostics"]}
        if only:
            context["only"] = only
        return self.request(
            "textDocument/codeAction", {"textDocument": {"uri": uri(path)}, "range": whole, "context": context}
        )


def applied(text: str, edits: list[Any]) -> str:
    """A text after edits whose columns are ASCII."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(place: Any) -> int:
        return min(starts[min(place["line"], len(lines))] + place["character"], len(text))

    for edit in sorted(edits, key=lambda edit: offset(edit["range"]["start"]), reverse=True):
        text = text[: offset(edit["range"]["start"])] + edit["newText"] + text[offset(edit["range"]["end"]) :]
    return text
