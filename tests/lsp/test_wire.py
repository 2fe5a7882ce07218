"""The faults of pygls that `memidex.lsp.wire` answers, each through a real process."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memidex.lsp.wire import Frames, find_id

sys.path.insert(0, str(Path(__file__).parent))
from raw_client import STUB, RawClient

URI = "file:///work/a%20b.md"


@pytest.fixture
def fresh() -> Iterator[RawClient]:
    with RawClient() as client:
        yield client


@pytest.fixture
def client(fresh: RawClient) -> RawClient:
    fresh.start()
    return fresh


def opened(client: RawClient, text: str, uri: str = URI) -> None:
    client.notify(
        "textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "markdown", "version": 1, "text": text}}
    )


def edit(client: RawClient, line: int, character: int, text: str, version: int = 2) -> None:
    place = {"line": line, "character": character}
    client.notify(
        "textDocument/didChange",
        {
            "textDocument": {"uri": URI, "version": version},
            "contentChanges": [{"range": {"start": place, "end": place}, "text": text}],
        },
    )


def text(client: RawClient, uri: str = URI) -> Any:
    return client.ask("text", "stub/text", {"uri": uri})["result"]


def hover(client: RawClient, line: int, character: int) -> Any:
    params = {"textDocument": {"uri": URI}, "position": {"line": line, "character": character}}
    return client.ask("hover", "textDocument/hover", params)


def alive(client: RawClient) -> bool:
    return client.ask("alive", "stub/echo", "yes")["result"] == "yes"


# 1, 2: documents


def test_an_edit_past_the_end_of_a_line_lands_at_its_end(client: RawClient) -> None:
    opened(client, "abc")
    edit(client, 0, 9, "!")
    assert text(client)["text"] == "abc!"


def test_an_edit_past_the_last_line_lands_at_the_end(client: RawClient) -> None:
    opened(client, "abc\ndef")
    edit(client, 4294967295, 4294967295, "!")
    assert text(client)["text"] == "abc\ndef!"


def test_a_position_past_every_end_is_clamped(client: RawClient) -> None:
    opened(client, "abc\ndef\n")
    assert hover(client, 0, 4294967295)["result"]["contents"] == "3"
    assert hover(client, 4294967295, 0)["result"]["contents"] == "8"


def test_only_the_line_ends_of_lsp_end_a_line(client: RawClient) -> None:
    opened(client, "a\u2028b\x0cc\x85d\re\r\nf")
    assert hover(client, 1, 0)["result"]["contents"] == "8"
    assert hover(client, 2, 0)["result"]["contents"] == "11"


def test_a_change_of_a_document_that_is_not_open_is_ignored(client: RawClient) -> None:
    edit(client, 0, 0, "x")
    assert text(client) is None


def test_a_document_opened_twice_is_replaced_and_a_version_may_go_back(client: RawClient) -> None:
    opened(client, "one")
    opened(client, "two")
    edit(client, 0, 0, "x", version=-5)
    assert text(client) == {"text": "xtwo", "version": -5, "language": "markdown"}


def test_the_session_hears_of_open_change_save_and_close(client: RawClient) -> None:
    opened(client, "one")
    edit(client, 0, 0, "x")
    client.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert client.ask(1, "stub/log")["result"] == [f"{what} {URI}" for what in ("open", "change", "save", "close")]
    assert text(client) is None


def test_half_an_emoji_typed_keeps_the_buffer_in_step(client: RawClient) -> None:
    opened(client, "ab")
    client.send_body(
        b'{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"%b","version":2},'
        b'"contentChanges":[{"text":"\\ud83d","range":{"start":{"line":0,"character":1},'
        b'"end":{"line":0,"character":1}}}]}}' % URI.encode()
    )
    edit(client, 0, 2, "|")
    assert text(client)["text"] == "a\ufffd|b"


def test_a_request_sees_the_text_that_its_client_saw(client: RawClient) -> None:
    opened(client, "before")
    whole = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": "after"}]}
    bodies = [
        {"jsonrpc": "2.0", "id": 1, "method": "stub/text", "params": {"uri": URI}},
        {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": whole},
    ]
    encoded = [json.dumps(body).encode() for body in bodies]
    client.send_bytes(b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in encoded))
    assert client.response(1)["result"]["text"] == "before"
    assert text(client)["text"] == "after"


# 3, 4, 5, 17: what is said


def test_invalid_params_are_refused(client: RawClient) -> None:
    answer = client.ask(1, "textDocument/hover", {"textDocument": 5})
    assert answer["error"]["code"] == -32602
    assert "traceback" not in json.dumps(answer).lower()
    assert alive(client)


@pytest.mark.parametrize("params", [None, [], [1], "x", 7])
def test_params_of_another_shape_are_refused(client: RawClient, params: Any) -> None:
    assert client.ask(1, "textDocument/hover", params)["error"]["code"] == -32602


def test_malformed_json_is_answered_and_survived(client: RawClient) -> None:
    for body in (b'{"jsonrpc": "2.0", ', b"nonsense", b'{"a": NaN}', b"", b"\xff\xfe"):
        client.send_body(body)
        assert client.response(None)["error"]["code"] == -32700, body
    assert alive(client)


def test_malformed_params_are_answered_under_their_id(client: RawClient) -> None:
    client.send_body(b'{"jsonrpc":"2.0","id":4,"method":"stub/echo","params":"\xff"}')
    assert client.response(4)["error"]["code"] == -32700


def test_an_object_with_a_jsonrpc_key_is_plain_data(client: RawClient) -> None:
    inner = {"jsonrpc": "2.0", "id": 1, "method": "exit", "deeper": [{"jsonrpc": 3}]}
    assert client.ask(1, "stub/echo", inner)["result"] == inner
    command = {"command": "stub.echo", "arguments": [inner]}
    assert client.ask(2, "workspace/executeCommand", command)["result"] == inner


def test_an_unknown_method_is_not_found_and_an_unknown_notification_is_ignored(client: RawClient) -> None:
    assert client.ask(1, "no/such")["error"]["code"] == -32601
    client.notify("no/such")
    client.notify("$/whatever", {})
    client.notify("notebookDocument/didOpen", {})
    assert alive(client)


def test_a_message_that_is_neither_request_nor_response_is_invalid(client: RawClient) -> None:
    for body, number in ((b"{}", None), (b'{"jsonrpc":"2.0","id":5}', 5), (b'{"jsonrpc":"2.0","params":{}}', None)):
        client.send_body(body)
        assert client.response(number)["error"]["code"] == -32600
    assert alive(client)


def test_an_unknown_command_and_wrong_arguments_are_refused(client: RawClient) -> None:
    for params in ({"command": "no"}, {"command": "stub.echo"}, {"command": "stub.echo", "arguments": [{}, {}]}):
        assert client.ask(1, "workspace/executeCommand", params)["error"]["code"] == -32602, params


@pytest.mark.parametrize("number", ["text", 7, -1, 2**53, "é\U0001f600", ""])
def test_an_id_comes_back_as_it_was(client: RawClient, number: Any) -> None:
    assert client.ask(number, "stub/echo", 1)["result"] == 1


def test_a_request_with_id_null_is_answered(client: RawClient) -> None:
    assert client.ask(None, "stub/echo", 1)["result"] == 1


@pytest.mark.parametrize("body", [b"[]", b'[{"jsonrpc":"2.0","id":1,"method":"stub/echo"}]', b"3", b"null", b'"x"'])
def test_a_batch_and_what_is_no_object_are_invalid_requests(client: RawClient, body: bytes) -> None:
    client.send_body(body)
    assert client.response(None)["error"]["code"] == -32600
    assert alive(client)


def test_an_id_or_method_of_another_type_is_an_invalid_request(client: RawClient) -> None:
    for message in ({"id": [1], "method": "stub/echo"}, {"id": 1.5, "method": "stub/echo"}, {"id": 1, "method": 3}):
        client.send(**message)
        assert client.response(None)["error"]["code"] == -32600
    client.send_body(b'{"id":9,"method":"stub/echo"}')
    assert client.response(9)["error"]["code"] == -32600
    assert alive(client)


def test_duplicate_ids_are_each_answered(client: RawClient) -> None:
    client.send(id=1, method="stub/echo", params="a")
    client.send(id=1, method="stub/echo", params="b")
    assert [client.response(1)["result"], client.response(1)["result"]] == ["a", "b"]


def test_json_too_deep_to_read_is_answered_under_its_id(client: RawClient) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    client.send_body(b'{"jsonrpc":"2.0","method":"stub/echo","params":{"id":3,"a":%b},"id":"deep"}' % deep)
    assert client.response("deep")["error"]["code"] == -32600
    assert alive(client)


@pytest.mark.parametrize("kind", ["value", "exit", "interrupt"])
def test_any_exception_of_a_handler_is_an_answer(client: RawClient, kind: str) -> None:
    error = client.ask(1, "stub/fail", kind)["error"]
    assert error["code"] == -32603
    assert "data" not in error
    assert alive(client)


def test_an_exception_of_a_synchronous_handler_is_an_answer(client: RawClient) -> None:
    assert client.ask(1, "stub/failNow")["error"]["code"] == -32603
    assert alive(client)


@pytest.mark.parametrize("kind", ["deep", "object"])
def test_a_result_that_cannot_be_written_is_an_error(client: RawClient, kind: str) -> None:
    assert client.ask(1, "stub/unsendable", kind)["error"]["code"] == -32603
    assert alive(client)


def test_a_lone_surrogate_can_be_sent(client: RawClient) -> None:
    assert client.ask(1, "stub/surrogate")["result"] == "\ud83d"


def test_the_errors_of_lsp_have_their_codes(client: RawClient) -> None:
    assert client.ask(1, "stub/fail", "modified")["error"]["code"] == -32801
    assert client.ask(2, "stub/fail", "cancelled")["error"]["code"] == -32802
    error = client.ask(3, "stub/fail", "failed")["error"]
    assert error == {"code": -32803, "message": "held: stale", "data": {"reason": "stale"}}


def test_raw_results_and_params_are_sent_as_they_are(client: RawClient) -> None:
    assert client.ask(1, "stub/raw")["result"] == [{"jsonrpc": "2.0"}]
    assert client.notification("stub/rawNotice") == {"spliced": True}


# 6, 7, 8: beginning and end


def test_nothing_is_answered_before_initialize(fresh: RawClient) -> None:
    answer = fresh.ask(1, "stub/echo", 1)
    assert answer["error"]["code"] == -32002
    assert "data" not in answer["error"]
    assert fresh.ask(2, "shutdown")["error"]["code"] == -32002
    opened(fresh, "dropped")
    fresh.start()
    assert text(fresh) is None


def test_a_second_initialize_is_refused(client: RawClient) -> None:
    assert client.ask(1, "initialize", {"processId": None, "capabilities": {}})["error"]["code"] == -32600


def test_initialize_that_failed_may_be_tried_again(fresh: RawClient) -> None:
    assert fresh.ask(1, "initialize", {"capabilities": 3, "processId": "x"})["error"]["code"] == -32602
    assert fresh.start()["serverInfo"]["name"] == "stub"


def test_a_client_newer_than_lsprotocol_is_served(fresh: RawClient) -> None:
    kinds = {"symbol": {"symbolKind": {"valueSet": [1, 999]}}}
    general = {"positionEncodings": ["utf-8"]}
    result = fresh.start(capabilities={"workspace": kinds, "general": general, "textDocument": "?"})
    assert result["capabilities"]["positionEncoding"] == "utf-8"


def test_after_shutdown_requests_are_refused_and_exit_is_clean(client: RawClient) -> None:
    client.send(id=1, method="stub/sleep")
    assert client.ask(2, "shutdown")["result"] is None
    assert client.response(1)["error"]["code"] == -32800
    assert client.ask(3, "stub/echo", 1)["error"]["code"] == -32600
    client.notify("exit")
    assert client.exit_code() == 0


def test_exit_without_shutdown_is_a_failure(client: RawClient) -> None:
    client.notify("exit")
    assert client.exit_code() == 1


def test_exit_before_initialize_is_a_failure(fresh: RawClient) -> None:
    fresh.notify("exit")
    assert fresh.exit_code() == 1


def test_a_client_that_closes_its_end_ends_the_server(client: RawClient) -> None:
    assert client.process.stdin
    client.process.stdin.close()
    assert client.exit_code() == 1


def test_a_client_that_stops_listening_ends_the_server() -> None:
    process = subprocess.Popen([sys.executable, str(STUB)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    process.stdout.close()
    try:
        assert process.wait(10) == 1
    finally:
        process.kill()
        process.stdin.close()


def test_the_death_of_the_clients_process_ends_the_server(fresh: RawClient) -> None:
    parent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    fresh.start(processId=parent.pid)
    assert alive(fresh)
    parent.kill()  # not waited for: a zombie has ended too
    assert fresh.exit_code(5) == 1
    parent.wait(5)


def test_a_client_process_that_cannot_be_seen_is_not_watched(fresh: RawClient) -> None:
    fresh.start(processId=2**22 - 3)
    time.sleep(0.5)
    assert alive(fresh)


def test_input_from_a_file_is_served_to_its_end(tmp_path: Path) -> None:
    script, output = tmp_path / "in", tmp_path / "out"
    bodies = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}},
        {"jsonrpc": "2.0", "id": 2, "method": "shutdown"},
        {"jsonrpc": "2.0", "method": "exit"},
    ]
    encoded = [json.dumps(body).encode() for body in bodies]
    script.write_bytes(b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in encoded))
    with script.open("rb") as source, output.open("wb") as target:
        done = subprocess.run([sys.executable, str(STUB)], stdin=source, stdout=target, timeout=20, check=False)
    assert done.returncode == 0
    assert output.read_bytes().endswith(b'{"jsonrpc":"2.0","id":2,"result":null}')


def test_no_input_at_all_ends_the_server() -> None:
    done = subprocess.run([sys.executable, str(STUB)], stdin=subprocess.DEVNULL, timeout=20, check=False)
    assert done.returncode == 1


# 9: framing


def body_of(number: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"method":"stub/echo","params":1}' % number


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length:   %d  \r\nX-Other: 1\r\n\r\n",
        b"Content-Length: %d\n\n",
        b"\r\n\r\nContent-Length: %d\r\n\r\n",
    ],
)
def test_headers_are_read_in_any_spelling(client: RawClient, header: bytes) -> None:
    body = body_of(1)
    client.send_bytes(header % len(body) + body)
    assert client.response(1)["result"] == 1


@pytest.mark.parametrize(
    "bad",
    [
        b"Content-Length: -5\r\n\r\n{}",
        b"Content-Length: many\r\n\r\n{}",
        b"Content-Length: 99999999999999999999\r\n\r\n{}",
        b"Content-Length: 999999999999\r\n\r\n{}",
        b"Content-Length:\r\n\r\n{}",
        b'X: y\r\n\r\n{"no": "length"}',
        b"garbage" * 20_000,
        b"Content-Length: 3\r\n\r\n" + body_of(5),
        b"Content-Length: 60\r\n\r\n" + b"{}",
    ],
)
def test_a_broken_header_is_answered_and_the_next_message_read(client: RawClient, bad: bytes) -> None:
    client.send_bytes(bad)
    client.send_body(body_of(1))
    client.send_body(body_of(2))
    assert client.response(2)["result"] == 1
    assert client.response(None)["error"]["code"] == -32700
    assert alive(client)


@given(bodies=st.lists(st.binary(max_size=50)), cuts=st.lists(st.integers(1, 40)))
def test_frames_do_not_depend_on_how_the_bytes_arrive(bodies: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    frames = Frames()
    found: list[object] = []
    for cut in cuts:
        found += frames.feed(stream[:cut])
        stream = stream[cut:]
    found += frames.feed(stream)
    assert found == bodies


@given(st.binary(max_size=300))
def test_frames_survive_any_bytes(data: bytes) -> None:
    frames = Frames()
    list(frames.feed(data))
    list(frames.feed(b"\r\n\r\n" * 200))


def test_the_id_of_a_message_is_found_at_its_own_depth() -> None:
    assert find_id(b'{"params": {"id": 1}, "x": ["id", 2], "id" : -3}') == -3
    assert find_id(b'{"id":"a"}') == "a"
    assert find_id(b'{"params":{"id":1}}') is None


# 10, 11: cancelling


def test_cancelling_a_command_stops_it(client: RawClient) -> None:
    client.send(id=1, method="workspace/executeCommand", params={"command": "stub.command", "arguments": [{}]})
    assert "sleep begun" in client.ask(2, "stub/log")["result"]
    client.notify("$/cancelRequest", {"id": 1})
    assert client.response(1)["error"]["code"] == -32800
    assert "sleep cancelled" in client.ask(3, "stub/log")["result"]


def test_cancelling_a_handler_stops_it(client: RawClient) -> None:
    client.send(id="x", method="stub/sleep")
    client.notify("$/cancelRequest", {"id": "x"})
    assert client.response("x")["error"]["code"] == -32800


def test_requests_that_wait_are_cancelled_before_they_begin(client: RawClient) -> None:
    for number in range(1, 11):
        client.send(id=number, method="stub/spin", params=number)
    for number in range(2, 11):
        client.notify("$/cancelRequest", {"id": number})
    assert client.response(1)["result"] == 1
    answers = [client.response(number) for number in range(2, 11)]
    assert sum("error" in answer for answer in answers) >= 7
    spun = client.ask(11, "stub/log")["result"]
    assert len(spun) == 10 - sum("error" in answer for answer in answers)


def test_cancelling_what_is_not_there_changes_nothing(client: RawClient) -> None:
    for params in ({"id": 1}, {"id": []}, {}, None, 3, {"id": None}):
        client.notify("$/cancelRequest", params)
    assert alive(client)


def test_work_in_a_thread_learns_that_it_was_cancelled(client: RawClient) -> None:
    client.send(id=1, method="stub/thread", params=5_000)
    assert alive(client)
    client.notify("$/cancelRequest", {"id": 1})
    assert client.response(1)["error"]["code"] == -32800
    until = time.monotonic() + 5
    while "thread stopped" not in client.ask(2, "stub/log")["result"]:
        assert time.monotonic() < until
    assert client.ask(3, "stub/thread", 1)["result"] == 1


def test_the_thread_decorator_of_pygls_works(client: RawClient) -> None:
    assert client.ask(1, "stub/threadStock", "x")["result"] == "x"


# 12, 14: what is agreed


@pytest.mark.parametrize(
    ("offered", "agreed", "offset"),
    [
        (["utf-8", "utf-16", "utf-32"], "utf-32", "4"),
        (["utf-16", "utf-8"], "utf-8", "1"),
        (["utf-16"], "utf-16", "3"),
        (None, "utf-16", "3"),
        (["utf-7"], "utf-16", "3"),
    ],
)
def test_the_server_chooses_the_encoding(fresh: RawClient, offered: Any, agreed: str, offset: str) -> None:
    capabilities = {"general": {"positionEncodings": offered}} if offered else {}
    assert fresh.start(capabilities=capabilities)["capabilities"]["positionEncoding"] == agreed
    opened(fresh, "a\U0001f600bcd")
    answer = hover(fresh, 0, 4)["result"]
    assert answer["contents"] == offset
    assert answer["range"]["start"]["character"] == {"utf-8": 1, "utf-16": 4, "utf-32": 4}[agreed]


def test_capabilities_are_built_and_can_be_amended(fresh: RawClient) -> None:
    capabilities = fresh.start()["capabilities"]
    assert capabilities["experimental"] == {"amended": True}
    assert capabilities["hoverProvider"] is True
    assert capabilities["executeCommandProvider"]["commands"] == ["stub.command", "stub.echo"]
    assert capabilities["textDocumentSync"] == {
        "openClose": True, "change": 2, "save": True
    }  # fmt: skip


def test_folders_follow_the_client(fresh: RawClient) -> None:
    fresh.start(workspaceFolders=[{"uri": "file:///a", "name": "a"}])
    event = {"added": [{"uri": "file:///b", "name": "b"}], "removed": [{"uri": "file:///a", "name": "a"}]}
    fresh.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    assert fresh.ask(1, "stub/folders")["result"] == ["file:///b"]


# 13: progress, and requests of our own


def test_partial_results_come_under_the_clients_token(client: RawClient) -> None:
    assert client.ask(1, "workspace/symbol", {"query": "", "partialResultToken": 7})["result"] == []
    progress = client.notification("$/progress")
    assert progress["token"] == 7
    assert progress["value"][0]["name"] == "a"


def test_work_done_progress_can_be_cancelled_by_the_client(client: RawClient) -> None:
    client.send(id=1, method="stub/progress")
    created = client.wait_for(lambda message: message.get("method") == "window/workDoneProgress/create")
    client.send(id=created["id"], result=None)
    assert client.notification("$/progress")["value"]["kind"] == "begin"
    client.notify("window/workDoneProgress/cancel", {"token": "work"})
    assert client.notification("$/progress")["value"] == {"kind": "end", "message": "stopped"}
    assert client.response(1)["result"] == "stopped"


def test_the_clients_answers_come_back(client: RawClient) -> None:
    for answer, expected in (
        ({"result": [{"jsonrpc": "2.0"}]}, [{"jsonrpc": "2.0"}]),
        ({"error": {"code": -32601, "message": "no"}}, "JsonRpcException: no"),
    ):
        client.send(id=1, method="stub/askClient")
        asked = client.wait_for(lambda message: message.get("method") == "workspace/configuration")
        client.send(id=asked["id"], **answer)
        assert client.response(1)["result"] == expected
    client.send(id="nobody asked", result=1)
    client.send(result=1)
    assert alive(client)


def test_the_client_hears_that_its_answer_is_not_awaited_any_more(client: RawClient) -> None:
    client.send(id=1, method="stub/askClient")
    asked = client.wait_for(lambda message: message.get("method") == "workspace/configuration")
    client.notify("$/cancelRequest", {"id": 1})
    assert client.response(1)["error"]["code"] == -32800
    assert client.notification("$/cancelRequest") == {"id": asked["id"]}
    client.send(id=asked["id"], result=[])
    assert alive(client)


def test_threads_may_send_and_keep_their_order(client: RawClient) -> None:
    assert client.ask(1, "stub/threadReports")["result"] == "reported"
    assert [client.notification("$/progress")["value"] for _ in range(100)] == list(range(100))


# 16, 18: noise and pipes


def test_an_exception_in_a_notification_is_logged_and_not_shown(client: RawClient) -> None:
    client.notify("stub/noticeFails")
    client.notify("stub/noticeFailsLater")
    client.notify("textDocument/didOpen", {"wrong": True})
    assert alive(client)
    client.notify("exit")
    client.exit_code()
    assert client.seen == []
    assert "a notification failed later" in "".join(client.log)


def test_what_is_printed_goes_to_stderr(client: RawClient) -> None:
    assert client.ask(1, "stub/print")["result"] == "said"
    assert alive(client)
    client.notify("exit")
    client.exit_code()
    log = "".join(client.log)
    assert "printed" in log
    assert "written to descriptor 1" in log
    assert "child 0" in log


def test_long_answers_keep_their_order(client: RawClient) -> None:
    for number in range(20):
        client.send(id=number, method="stub/flood", params=300_000 + number)
    assert [len(client.response(number)["result"]) for number in range(20)] == [300_000 + n for n in range(20)]


def test_a_client_that_does_not_read_is_still_served_and_can_end_the_server() -> None:
    process = subprocess.Popen(
        [sys.executable, str(STUB)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin
    for body in (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"capabilities":{}}}',
        b'{"jsonrpc":"2.0","id":2,"method":"stub/flood","params":5000000}',
        b'{"jsonrpc":"2.0","id":3,"method":"shutdown"}',
        b'{"jsonrpc":"2.0","method":"exit"}',
    ):
        process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    process.stdin.flush()
    try:
        assert process.wait(15) == 0
    finally:
        process.kill()


def test_a_client_that_never_reads_is_given_up_before_memory_is(client: RawClient) -> None:
    quiet = subprocess.Popen(
        [sys.executable, str(STUB)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert quiet.stdin
    first = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"capabilities":{}}}'
    more = b'{"jsonrpc":"2.0","id":2,"method":"stub/flood","params":50000000}'
    try:
        for body in (first, *[more] * 7):
            quiet.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        quiet.stdin.flush()
        assert quiet.wait(20) == 1
    finally:
        quiet.kill()


def test_a_handler_and_a_thread_that_do_not_stop_do_not_keep_the_process(client: RawClient) -> None:
    client.send(id=1, method="stub/stubborn")
    assert client.ask(2, "shutdown")["result"] is None
    client.notify("exit")
    assert client.exit_code(8) == 0


def test_one_client_is_served_over_tcp() -> None:
    process = subprocess.Popen([sys.executable, str(STUB), "--tcp"], stderr=subprocess.PIPE)
    limit = threading.Timer(20, process.kill)
    limit.start()
    try:
        assert process.stderr
        line = process.stderr.readline().decode()
        found = re.fullmatch(r"stub: listening on 127\.0\.0\.1:(\d+)\n", line)
        assert found, line
        with socket.create_connection(("127.0.0.1", int(found[1])), 10) as connection:
            for body in (
                b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"capabilities":{}}}',
                b'{"jsonrpc":"2.0","id":2,"method":"shutdown"}',
                b'{"jsonrpc":"2.0","method":"exit"}',
            ):
                connection.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            received = b""
            while data := connection.recv(65536):
                received += data
        assert received.endswith(b'{"jsonrpc":"2.0","id":2,"result":null}')
        assert process.wait(10) == 0
    finally:
        limit.cancel()
        process.kill()


def test_a_tcp_client_that_goes_away_ends_the_server() -> None:
    process = subprocess.Popen([sys.executable, str(STUB), "--tcp"], stderr=subprocess.PIPE)
    try:
        assert process.stderr
        port = int(process.stderr.readline().rsplit(b":", 1)[1])
        socket.create_connection(("127.0.0.1", port), 10).close()
        assert process.wait(10) == 1
    finally:
        process.kill()
