"""Every request has exactly one answer, whatever it holds, and what is cancelled stops."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

sys.path.insert(0, str(Path(__file__).parent))
from editor_client import COMMAND, NEOVIM, NOTHING, PULLS, VSCODE, Editor, merged, uri
from raw_client import LIMIT, RawClient
from roots import healthy, many, wrong

from memidex.lsp.server import App

NOT_REQUESTS = {method for method, (_, response, *_) in types.METHOD_TO_TYPES.items() if response is None}
REGISTERED = sorted({*App().server.protocol.fm.features, *App().server.protocol.fm.builtin_features} - NOT_REQUESTS)
METHODS = [method for method in REGISTERED if method not in ("initialize", "shutdown", "exit")]
BAD_URIS = [
    "",
    "x",
    "file:///%00",
    "file://",
    "file:///\udc80".encode("utf-8", "replace").decode(),
    "git:/a",
    "http://[",
    7,
]
PLACE = {"line": 0, "character": 0}


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    folder = tmp_path_factory.mktemp("work")
    record = healthy(folder).path("record.md")
    with Editor(folder, capabilities=merged(VSCODE, PULLS)) as client:
        client.settled()
        client.open(record)
        client.record = record  # type: ignore[attr-defined]
        yield client


def variants(record: Path) -> Iterator[Any]:
    yield from (None, {}, [], [1], "x", 7, True, {"jsonrpc": "2.0", "id": 1}, {"textDocument": None}, {"item": None})
    for name in [uri(record), *BAD_URIS]:
        for place in (PLACE, None, {"line": -1, "character": 2**32}, {"line": "x"}, {"line": 2**31, "character": 0.5}):
            yield {
                "textDocument": {"uri": name, "extra": [1]},
                "position": place,
                "positions": [place],
                "range": {"start": place, "end": place},
                "context": {"diagnostics": [{"range": None}], "includeDeclaration": True},
                "query": name,
                "previousResultIds": [{"uri": name, "value": None}],
                "uri": name,
                "id": name,
                "command": name,
                "title": "t",
                "label": "l",
                "data": {"record": [name, place], "path": name, "finding": place},
                "item": {"name": "n", "kind": 1, "uri": name, "range": place, "selectionRange": place, "data": place},
                "extra": {"jsonrpc": "2.0"},
            }
    yield {"textDocument": {"uri": uri(record)}, "position": PLACE, "context": {"diagnostics": []}, "query": ""}
    yield {"title": "x", "data": {"path": uri(record), "finding": []}}
    yield {"title": "x", "label": "x", "data": [{"record": 5}]}
    yield {"offset": -1, "limit": "x"}
    yield {"id": "MEM-999999999", "asOfBuild": 3, "limit": 10**9}


@pytest.mark.parametrize("method", METHODS)
def test_every_request_has_one_answer_whatever_it_holds(editor: Editor, method: str) -> None:
    record: Path = editor.record  # type: ignore[attr-defined]
    numbers = [editor.begin(method, params) for params in variants(record)]
    editor.count += 1
    editor.send(id=editor.count, method=method)
    for number in [*numbers, editor.count]:
        answer = editor.response(number)
        assert ("result" in answer) != ("error" in answer)
        if "error" in answer:
            assert answer["error"]["code"] in (-32602, -32801, -32600), answer
    assert editor.hover(record, 2, 6)
    assert not [message for message in editor.seen if "method" not in message], "no second answer"


def test_a_client_of_no_capabilities_at_all_is_served(tmp_path: Path) -> None:
    made = healthy(tmp_path)
    record = made.path("record.md")
    with Editor(tmp_path, capabilities=NOTHING) as client:
        client.open(record)
        place = {"textDocument": {"uri": uri(record)}, "position": {"line": 2, "character": 6}}
        assert client.request("textDocument/hover", place)["contents"]["kind"] == "markdown"
        assert "uri" in client.request("textDocument/definition", place)[0]
        symbols = client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri(record)}})
        assert all("location" in item for item in symbols)
        assert client.asked == []


def test_a_client_that_never_says_it_is_ready_is_served(tmp_path: Path) -> None:
    record = wrong(tmp_path).path("record.md")
    with RawClient(command=COMMAND) as client:
        folders = [{"uri": uri(tmp_path), "name": "w"}]
        client.ask(1, "initialize", {"processId": None, "capabilities": {}, "workspaceFolders": folders})
        found = client.ask(2, "workspace/diagnostic", {"previousResultIds": []})["result"]["items"]
        assert [item["uri"] for item in found] == [uri(record)]


def test_answers_are_of_the_form_that_the_client_knows(tmp_path: Path) -> None:
    made = healthy(tmp_path)
    record = made.path("record.md")
    plain = merged(NEOVIM, {"textDocument": {"hover": {"contentFormat": ["plaintext"]}}})
    with Editor(tmp_path, capabilities=plain) as client:
        client.open(record)
        place = {"textDocument": {"uri": uri(record)}, "position": {"line": 2, "character": 6}}
        hover = client.request("textDocument/hover", place)["contents"]
        assert hover["kind"] == "plaintext"
        assert not {"**", "![", "](", "\\"} & {part for part in ("**", "![", "](", "\\") if part in hover["value"]}
        assert "targetUri" in client.request("textDocument/definition", place)[0]
        symbols = client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri(record)}})
        assert all("selectionRange" in item for item in symbols)


def test_a_picture_is_left_out_for_an_editor_in_a_terminal(tmp_path: Path) -> None:
    record = healthy(tmp_path).path("record.md")
    for name, drawn in (("Neovim", False), ("Visual Studio Code", True)):
        with Editor(tmp_path, capabilities=VSCODE, clientInfo={"name": name}) as client:
            client.open(record)
            assert ("data:image" in str(client.hover(record, 2, 6))) == drawn


def test_records_are_read_by_requests_of_our_own(tmp_path: Path) -> None:
    made = many(tmp_path, 5)
    record = made.path("record.md", "r0")
    with Editor(tmp_path) as client:
        page = client.request("memidex/inspect", {"offset": 1, "limit": 2, "status": "active"})
        assert (page["total"], len(page["records"]), page["ordinals"]) == (5, 2, {"shop": 3})
        assert client.request("memidex/inspect", {"asOfBuild": 0})["total"] == 0
        card = client.request("memidex/card", {"uri": uri(record)})
        assert (card["id"], card["status"]) == (made.ids["r0"], "active")
        assert client.request("memidex/card", {"id": made.ids["r0"]}) == card
        assert client.request("memidex/card", {"id": "nobody"}) is None
        events = client.request("memidex/timeline", {"id": made.ids["r0"]})["events"]
        assert [event["statusAfter"] for event in events] == ["candidate", "active"]
        time.sleep(0.5)  # that everything was read is told too
        client.settled()
        client.seen.clear()
        log = made.path("evidence/outcomes.jsonl", "r0")
        log.write_text(log.read_text() + '{"buildOrdinal":3,"origin":"user","type":"contradicted","id":"c"}\n')
        client.changed(log)
        assert made.ids["r0"] in client.notification("memidex/changed")["records"]


# Under load


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    many(folder, 2000, every_wrong=10)
    return folder


def test_hovers_and_shutdown_are_answered_while_two_thousand_records_are_checked(large: Path) -> None:
    for _ in range(2):  # cold, and once more
        shutil_cache(large)
        with Editor(large) as client:
            record = next(large.rglob("record.md"))
            client.open(record)
            assert client.hover(record, 2, 6)
            times: list[float] = []
            for _ in range(20):
                started = time.monotonic()
                client.hover(record, 2, 6)
                times.append(time.monotonic() - started)
            assert sorted(times)[10] < 0.25, times
            started = time.monotonic()
            assert client.request("shutdown") is None
            assert time.monotonic() - started < 1
            client.notify("exit")
            assert client.exit_code() == 0


def shutil_cache(folder: Path) -> None:
    for path in folder.rglob(".memidex/index"):
        path.unlink()


def test_what_is_cancelled_is_answered_as_such_at_once_and_stops(large: Path) -> None:
    shutil_cache(large)
    with Editor(large, capabilities=PULLS) as client:
        record = next(large.rglob("record.md"))
        client.open(record)
        number = client.begin("workspace/diagnostic", {"previousResultIds": []})
        client.notify("$/cancelRequest", {"id": number})
        started = time.monotonic()
        assert client.response(number)["error"]["code"] == -32800
        assert time.monotonic() - started < 2
        assert len(client.settled()) >= 200
        place = {"textDocument": {"uri": uri(record)}, "position": {"line": 3, "character": 7}}
        for method, params in (("workspace/symbol", {"query": "button r"}), ("textDocument/completion", place)):
            numbers = [client.begin(method, params) for _ in range(20)]
            for number in numbers[:-1]:
                client.notify("$/cancelRequest", {"id": number})
            codes = [client.response(number).get("error", {}).get("code") for number in numbers]
            assert codes[-1] is None
            assert codes.count(-32800) >= 15, codes


def test_nothing_is_checked_again_while_nothing_changes(large: Path) -> None:
    with Editor(large, capabilities=PULLS) as client:
        known = {name: item["resultId"] for name, item in client.pull_all(limit=60).items()}
        before = processor_time(client)
        for _ in range(10):
            assert {item["kind"] for item in client.pull_all(known).values()} == {"unchanged"}
        assert processor_time(client) - before < 1


def test_an_idle_server_rests(large: Path) -> None:
    with Editor(large) as client:  # which nobody tells of changes
        client.settled()
        client.until((next(large.rglob("memory")).parent / ".memidex" / "index").exists)
        time.sleep(1)
        before = processor_time(client)
        time.sleep(5)
        assert processor_time(client) - before < 0.25, "a twentieth here, for the machine is shared"


def processor_time(client: Editor) -> float:
    import psutil

    times = psutil.Process(client.process.pid).cpu_times()
    return times.user + times.system


def test_quick_typing_starves_nobody(tmp_path: Path) -> None:
    made = many(tmp_path, 20)
    record = made.path("record.md")
    text = record.read_text()
    with Editor(tmp_path) as client:
        client.settled()
        client.open(record)
        for version in range(2, 202):
            client.change(record, text + "x" * version, version)
        started = time.monotonic()
        number = client.begin("shutdown")
        assert client.response(number)["result"] is None
        assert time.monotonic() - started < 2


def test_typing_in_a_log_of_megabytes_lets_other_requests_through(tmp_path: Path) -> None:
    made = many(tmp_path, 3)
    log, other = made.path("evidence/outcomes.jsonl", "r0"), made.path("record.md", "r1")
    line = '{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed","id":"e%d","at":"2026-01-01T00:00:00Z"}\n'
    text = log.read_text() + "".join(line % number for number in range(60_000))
    log.write_text(text)
    with Editor(tmp_path) as client:
        client.settled()
        client.open(log, language="jsonl")
        times: list[float] = []
        for version in range(2, 12):
            client.notify(
                "textDocument/didChange",
                {
                    "textDocument": {"uri": uri(log), "version": version},
                    "contentChanges": [{"range": {"start": PLACE, "end": PLACE}, "text": " "}],
                },
            )
            started = time.monotonic()
            assert client.hover(other, 2, 6)
            times.append(time.monotonic() - started)
        assert sorted(times)[5] < 0.5, times
        client.until(lambda: client.pushed.get(uri(log), {}).get("version") == 11, 60)


# Columns and ends


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", None])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_columns_are_counted_as_agreed(tmp_path: Path, encoding: str | None, line_end: str, mark: str) -> None:
    made = healthy(tmp_path)
    notes = tmp_path / "notes.md"
    before = "\U0001f600\u4e2d\u00e9 "
    offered = {"general": {"positionEncodings": [encoding]}} if encoding else NOTHING
    text = f"{mark}{before}{made.ids['a']}{line_end}{before}{made.ids['a']}{line_end}"
    with Editor(tmp_path, capabilities=offered) as client:
        client.settled()
        assert client.result["capabilities"]["positionEncoding"] == (encoding or "utf-16")
        client.open(notes, text)
        units = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding or "utf-16"]
        codec = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding or "utf-16"]
        for line, head in enumerate((mark + before, before)):
            column = len(head.encode(codec)) // units
            found = client.at("textDocument/hover", notes, line, column)
            stretch = found["range"]
            assert (stretch["start"], stretch["end"]["character"]) == (
                {"line": line, "character": column},
                column + len(made.ids["a"]),
            )
            assert client.at("textDocument/hover", notes, line, 0) is None


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_findings_stand_right_behind_wide_characters(tmp_path: Path, mark: str) -> None:
    made = healthy(tmp_path)
    log = made.path("evidence/outcomes.jsonl")
    event = '{"note":"\U0001f600\u4e2d","buildOrdinal":2,"origin":"user","type":"confirmedd"}'
    with Editor(tmp_path) as client:
        client.open(log, mark + event + "\r\n", language="jsonl")
        client.until(lambda: "unknown-event-type" in client.rules(log))
        found = client.pushed[uri(log)]["diagnostics"]
        stretch = next(item["range"] for item in found if item["data"]["rule"] == "unknown-event-type")
        shown = (mark + event).encode("utf-16-le")[2 * stretch["start"]["character"] : 2 * stretch["end"]["character"]]
        assert shown.decode("utf-16-le") == '"confirmedd"'


def test_one_client_is_served_over_tcp_and_the_process_ends_with_it(tmp_path: Path) -> None:
    healthy(tmp_path)
    command = [sys.executable, "-m", "memidex", "lsp", "--tcp", "127.0.0.1:0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stderr
        port = int(process.stderr.readline().rsplit(b":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), LIMIT) as client:
            body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
            client.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            client.settimeout(LIMIT)
            assert b"memidex" in client.recv(65536)
        assert process.wait(LIMIT) == 1, "it went without a word"
        assert process.stdout
        assert process.stdout.read() == b""
    finally:
        process.kill()
        process.wait()
