"""A server with one handler for each behaviour of the wire that the tests look at."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from typing import Any

from lsprotocol import types
from msgspec import Raw

from memidex.lsp import convert
from memidex.lsp.wire import Cancelled, ContentModified, RequestFailed, Server, ServerCancelled

server = Server("stub", "1")
log: list[str] = []


def amend(capabilities: types.ServerCapabilities) -> None:
    capabilities.experimental = {"amended": True}


server.amend_capabilities = amend
server.on_document_open = lambda uri: log.append(f"open {uri}")
server.on_document_change = lambda uri: log.append(f"change {uri}")
server.on_document_save = lambda uri: log.append(f"save {uri}")
server.on_document_close = lambda uri: log.append(f"close {uri}")


@server.feature("stub/text")
async def text(params: Any) -> Any:
    document = server.documents.find(params["uri"])
    return document and {"text": document.source.string, "version": document.version, "language": document.language}


@server.feature("stub/log")
async def told(params: Any) -> Any:
    return log


@server.feature("stub/echo")
async def echo(params: Any) -> Any:
    return params


@server.feature("stub/echoNow")
def echo_now(params: Any) -> Any:
    return params


@server.feature(types.TEXT_DOCUMENT_HOVER)
async def hover(params: types.HoverParams) -> types.Hover:
    document = server.documents.find(params.text_document.uri)
    assert document
    offset = convert.offset(document.source, params.position, server.encoding)
    place = convert.position(document.source, offset, server.encoding)
    return types.Hover(str(offset), types.Range(place, place))


@server.feature("stub/fail")
async def fail(params: Any) -> Any:
    raise {
        "modified": ContentModified(),
        "cancelled": ServerCancelled(),
        "failed": RequestFailed("held: stale", data={"reason": "stale"}),
        "value": ValueError("no"),
        "exit": SystemExit(3),
        "interrupt": KeyboardInterrupt(),
    }[params]


@server.feature("stub/failNow")
def fail_now(params: Any) -> Any:
    raise SystemExit(3)


@server.feature("stub/unsendable")
async def unsendable(params: Any) -> Any:
    if params == "deep":
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        return deep
    return object()


@server.feature("stub/surrogate")
async def surrogate(params: Any) -> Any:
    return "\ud83d"


@server.feature("stub/raw")
async def raw(params: Any) -> Any:
    server.protocol.notify("stub/rawNotice", Raw(b'{"spliced":true}'))
    return Raw(b'[{"jsonrpc":"2.0"}]')


@server.feature("stub/sleep")
async def sleep(params: Any) -> Any:
    log.append("sleep begun")
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        log.append("sleep cancelled")
        raise


@server.feature("stub/spin")
async def spin(params: Any) -> Any:
    """Holds the loop, as a computation without an `await` does."""
    log.append(f"spin {params}")
    time.sleep(0.3)
    return params


@server.command("stub.command")
async def command(argument: Any) -> Any:
    return await sleep(argument)


@server.command("stub.echo")
async def echo_command(argument: dict[str, Any]) -> Any:
    return argument


def count_slowly(cancelled: Cancelled, ticks: int) -> int:
    for _ in range(ticks):
        if cancelled():
            log.append("thread stopped")
            cancelled.check()
        time.sleep(0.01)
    return ticks


@server.feature("stub/thread")
async def thread(params: int) -> Any:
    return await server.run_cancellable(count_slowly, params)


@server.feature("stub/threadStock")
@server.thread()
def thread_stock(params: Any) -> Any:
    return params


def report_from_thread(cancelled: Cancelled) -> None:
    for number in range(100):
        server.partial("thread", number)


@server.feature("stub/threadReports")
async def thread_reports(params: Any) -> Any:
    await server.run_cancellable(report_from_thread)
    return "reported"


@server.feature(types.WORKSPACE_SYMBOL)
async def symbols(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
    place = types.Location("file:///a", types.Range(types.Position(0, 0), types.Position(0, 1)))
    if params.partial_result_token is not None:
        server.partial(params.partial_result_token, [types.WorkspaceSymbol(place, "a", types.SymbolKind.File)])
    return []


@server.feature("stub/progress")
async def progress(params: Any) -> Any:
    await server.work_done_progress.create_async("work")
    server.work_done_progress.begin("work", types.WorkDoneProgressBegin("Working", cancellable=True))
    while not server.work_done_progress.tokens["work"].cancelled():
        await asyncio.sleep(0.01)
    server.work_done_progress.end("work", types.WorkDoneProgressEnd(message="stopped"))
    return "stopped"


@server.feature("stub/askClient")
async def ask_client(params: Any) -> Any:
    items = [types.ConfigurationItem(section="memidex")]
    try:
        return await server.workspace_configuration_async(types.ConfigurationParams(items))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@server.feature("stub/noticeFails")
def notice_fails(params: Any) -> None:
    raise ValueError("a notification failed")


@server.feature("stub/noticeFailsLater")
async def notice_fails_later(params: Any) -> None:
    raise ValueError("a notification failed later")


@server.feature("stub/print")
async def say(params: Any) -> Any:
    print("printed")
    os.write(1, b"written to descriptor 1\n")
    subprocess.run([sys.executable, "-c", "import sys; print('child', len(sys.stdin.read()))"], check=True)
    return "said"


@server.feature("stub/flood")
async def flood(params: int) -> Any:
    return "x" * params


@server.feature("stub/folders")
async def folders(params: Any) -> Any:
    return [folder.uri for folder in server.folders]


@server.feature("stub/stubborn")
async def stubborn(params: Any) -> Any:
    """Neither the task nor its thread stops."""
    while True:
        try:
            await server.run_cancellable(lambda cancelled: time.sleep(60))
        except asyncio.CancelledError:
            log.append("refused to stop")


if __name__ == "__main__":
    sys.exit(server.start_tcp("127.0.0.1", 0) if "--tcp" in sys.argv else server.start_io())
