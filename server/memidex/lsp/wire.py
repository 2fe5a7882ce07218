"""The wire: messages in and out, over pygls' extension points, with an answer to each fault of pygls that a user would meet.

Each line is a fault of pygls 2.1.1, seen in a real process (`tests/lsp/test_wire.py` shows our behaviour), and our
answer. 2.1.1 is the newest pygls there is; an answer may retire with the first later one that passes its test alone.

1. An edit or position past the end of the last line lands one character early.  Our own `Documents`.
2. Lines end at U+2028, form feeds and such.  Our own `Documents`.
3. Invalid params are never answered.  -32602.
4. Malformed JSON is never answered.  -32700 with id null, and the next message is read.
5. An object inside params that has a `jsonrpc` key loses the request.  Only the outermost object is a message.
6. A request before `initialize` gives -32603 with a traceback.  -32002; notifications but `exit` are dropped.
7. A request after `shutdown` is never answered.  -32600.
8. `exit` without `shutdown`, and a client that goes away, end with code 0; the client's death is not noticed.
   Code 1; the process named in `initialize` is watched.
9. Header names count only in one spelling; a bad length hangs or kills the server.  Any spelling; -32700 and on.
10. Cancelling `workspace/executeCommand` leaves the command running.  A request is one task, cancelled as a whole.
11. Work in a thread cannot be cancelled and shares its pool with the reader of stdin.  `run_cancellable`.
12. The client's first encoding is taken.  utf-32, utf-8, utf-16: the cheaper to convert first.
13. No helper for partial results.  `partial`.
14. Some capabilities are never built.  `amend_capabilities`.
15. No exceptions for -32802 and -32803.  `ServerCancelled`, `RequestFailed`.
16. An exception in a notification handler pops up in the editor.  It is logged.
17. A result that cannot be written, an unknown command, a batch: no answer.  Every request has exactly one answer.
18. stdin goes through a thread pool, writing blocks the loop, printing breaks the session.  Our own pipes.

pygls' `handle_message`, `structure_message`, `pygls.io_` and `pygls.workspace` are not used at all; its registration of
features and commands, builder of capabilities, work-done progress and typed requests to the client are.
Beyond faults: params are structured once and only when wanted, and what is a `msgspec.Raw` already is sent as it is.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import logging
import os
import queue
import re
import stat
import sys
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any, BinaryIO, Concatenate, Literal, NamedTuple, ParamSpec, Protocol, TypeVar, cast

import cattrs
import msgspec
from lsprotocol import converters, types
from msgspec import UNSET, Raw, UnsetType
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.exceptions import (
    JsonRpcContentModified,
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.feature_manager import is_thread_function  # pyright: ignore[reportUnknownVariableType] - pygls is half typed
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import _prepare_command_arguments  # pyright: ignore[reportPrivateUsage]

from memidex.lsp.convert import MOST
from memidex.lsp.documents import Change, Document, Documents
from memidex.text import Encoding

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
Id = int | str | None

PREFERRED: tuple[Encoding, ...] = ("utf-32", "utf-8", "utf-16")
LONGEST_MESSAGE = 256 * 2**20  # bytes of one body; a longer one is a broken length
LONGEST_HEADER = 64 * 2**10
MOST_UNREAD = 256 * 2**20  # bytes written that the client does not read, before it is taken for dead
MOST_QUEUED = 1024  # messages read and not begun, before reading rests
LAST_WORDS = 2.0  # seconds that the end waits for the client to read
THREADS = 4

ContentModified = JsonRpcContentModified
InvalidParams = JsonRpcInvalidParams
RequestCancelled = JsonRpcRequestCancelled


class ServerCancelled(JsonRpcException):
    """The server gave a request up; the client may ask again (LSP 3.17, `ServerCancelled`)."""

    CODE = -32802
    MESSAGE = "Server Cancelled"


class RequestFailed(JsonRpcException):
    """A right request that cannot be granted (LSP 3.17, `RequestFailed`)."""

    CODE = -32803
    MESSAGE = "Request Failed"


# ── Bytes to messages ────────────────────────────────────────────────────────────────────────────────────────────────

HEADER_END = re.compile(rb"\r?\n\r?\n")
# Anywhere in the header: what a wrong length left over of the message before may stand in front of it.
CONTENT_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)


class Frames:
    """Cuts a stream of bytes into message bodies; an exception stands for what is not a message."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None
        self._lost = False

    def feed(self, data: bytes) -> Iterator[bytes | JsonRpcParseError]:
        buffer = self._buffer
        buffer += data
        while True:
            if self._length is not None:
                if len(buffer) < self._length:
                    return
                with memoryview(buffer) as view:
                    body = bytes(view[: self._length])
                del buffer[: self._length]
                self._length = None
                yield body
            end = HEADER_END.search(buffer)
            if end is None:
                if len(buffer) > LONGEST_HEADER:
                    del buffer[: -LONGEST_HEADER // 2]
                    yield from self._lose("no header in sight")
                return
            header = bytes(buffer[: end.start()])
            del buffer[: end.end()]
            if not header.strip():
                continue
            found = CONTENT_LENGTH.findall(header)
            # The last counts: what stands in front of it may be another message's text.
            digits = found[-1].strip() if found else b""
            if not digits.isdigit() or len(digits) > 12 or int(digits) > LONGEST_MESSAGE:
                yield from self._lose("a header without a usable Content-Length")
                continue
            self._lost = False
            self._length = int(digits)

    def _lose(self, reason: str) -> Iterator[JsonRpcParseError]:
        """One complaint until a header is found again, however much is skipped until then."""
        if not self._lost:
            self._lost = True
            yield JsonRpcParseError(f"Parse Error: {reason}")


class Message(msgspec.Struct, gc=False):
    """The outermost object of a message; what it holds stays bytes until wanted."""

    jsonrpc: str = ""
    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class TextDocument(msgspec.Struct, gc=False, rename="camel"):
    uri: str
    version: int | None = None
    text: str = ""
    language_id: str = ""


class Sync(msgspec.Struct, gc=False, rename="camel"):
    """The params of the four notifications that keep documents."""

    text_document: TextDocument
    content_changes: list[Change] = []  # msgspec copies it


decode_message: Callable[[bytes], Message] = msgspec.json.Decoder(Message).decode
decode_any: Callable[[bytes | Raw], Any] = msgspec.json.Decoder().decode
decode_sync: Callable[[bytes | Raw], Sync] = msgspec.json.Decoder(Sync).decode


def refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def read_message(body: bytes) -> Message:
    """The message in a body; raises what the client is to be told."""
    try:
        return decode_message(body)
    except msgspec.ValidationError as error:
        raise JsonRpcInvalidRequest(f"Invalid Request: {error}") from error
    except msgspec.DecodeError as error:
        # msgspec refuses a lone surrogate, which is JSON and which an editor sends when half a character is typed.
        try:
            plain: object = json.loads(body, parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            raise JsonRpcParseError(f"Parse Error: {error}") from error
        # As every encoder of UTF-8 does, U+FFFD for it; both are one unit of UTF-16, so no column moves.
        text = json.dumps(plain, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return read_message(text.encode("utf-8"))


TOKEN = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)"|[\[\]{}:]|-?\d{1,18}')


def find_id(body: bytes) -> Id:
    """The id of a message that is nested too deep to be read, so that its sender does not wait for ever."""
    depth = 0
    before: bytes = b""
    name: bytes = b""
    for match in TOKEN.finditer(body):
        token = match[0]
        if depth == 1 and before == b":" and name == b'"id"' and token[:1] not in b"[{":
            return match[1].decode("utf-8", "replace") if token[:1] == b'"' else int(token)
        if token in b"[{":
            depth += 1
        elif token in b"]}":
            depth -= 1
        elif token == b":":
            name = before
        before = token
    return None


# ── Pipes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Outlet(Protocol):
    """Where bytes go: an asyncio transport, or a thread where there is none."""

    def write(self, data: bytes) -> None: ...
    def get_write_buffer_size(self) -> int: ...
    def abort(self) -> None: ...


class ThreadOutlet:
    """Writes from a thread, for what asyncio cannot wait on: files, and every pipe on Windows."""

    def __init__(self, descriptor: int, lost: Callable[[], object]) -> None:
        self._descriptor = descriptor
        self._lost = lost
        self._queue: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._written = 0
        self._accepted = 0
        threading.Thread(target=self._run, name="memidex-writer", daemon=True).start()

    def write(self, data: bytes) -> None:
        self._accepted += len(data)
        self._queue.put(data)

    def get_write_buffer_size(self) -> int:
        return self._accepted - self._written

    def abort(self) -> None:
        """Nothing to do: the thread ends with the process."""

    def _run(self) -> None:
        while True:
            data = self._queue.get()
            try:
                with memoryview(data) as view:
                    at = 0
                    while at < len(data):
                        at += os.write(self._descriptor, view[at:])
            except OSError:
                self._lost()
                return
            self._written += len(data)


class OutletEvents(asyncio.BaseProtocol):
    """Tells when a pipe that asyncio writes to is gone."""

    def __init__(self, lost: Callable[[], object]) -> None:
        self._lost = lost

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost()


class Inlet(asyncio.Protocol):
    """Bytes from a pipe or socket into the wire."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._frames = Frames()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire.source = cast(asyncio.ReadTransport, transport)

    def data_received(self, data: bytes) -> None:
        for frame in self._frames.feed(data):
            self._wire.accept(frame)
        self._wire.proceed()

    def eof_received(self) -> bool:
        self._wire.accept(None)
        self._wire.proceed()
        return True  # what is still to be written is written

    def connection_lost(self, exc: Exception | None) -> None:
        self.eof_received()


class SocketInlet(Inlet):
    """The same for the one client of a socket, whose transport is the outlet too."""

    def __init__(self, wire: Wire, listening: Callable[[], asyncio.Server]) -> None:
        super().__init__(wire)
        self._listening = listening
        self._refused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._refused = self._wire.outlet is not None
        if self._refused:
            cast(asyncio.Transport, transport).abort()
            return
        super().connection_made(transport)
        self._wire.outlet = cast(asyncio.Transport, transport)
        self._listening().close()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._refused:
            super().connection_lost(exc)


def is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return os.name != "nt" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def read_in_thread(descriptor: int, loop: asyncio.AbstractEventLoop, inlet: Inlet) -> None:
    """Feed an inlet from a thread, never more than a few reads ahead of it."""
    ahead = threading.Semaphore(8)

    def hand_over(data: bytes) -> None:
        ahead.release()
        if data:
            inlet.data_received(data)
        else:
            inlet.eof_received()

    def run() -> None:
        data = b" "
        while data:
            ahead.acquire()
            try:
                data = os.read(descriptor, 2**16)
            except OSError:
                data = b""
            try:
                loop.call_soon_threadsafe(hand_over, data)
            except RuntimeError:  # the loop is closed: the process is ending
                return

    threading.Thread(target=run, name="memidex-reader", daemon=True).start()


# ── Threads ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Cancelled:
    """Whether the request that work is done for was cancelled; long work asks often, and stops."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def __call__(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        self._event.set()

    def check(self) -> None:
        """Raise `RequestCancelled` if so."""
        if self._event.is_set():
            raise RequestCancelled()


class Job(NamedTuple):
    future: Future[Any]
    work: Callable[[], Any]


class Workers:
    """A few threads that never keep the process alive, unlike those of `ThreadPoolExecutor`, joined at exit."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._number = count(1)
        self._threads = 0

    def submit(self, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        self._jobs.put(Job(future, work))
        if not self._idle.acquire(blocking=False) and self._threads < THREADS:
            self._threads += 1
            threading.Thread(target=self._run, name=f"memidex-worker-{self._threads}", daemon=True).start()
        return future

    def _run(self) -> None:
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                self._idle.release()
                job = self._jobs.get()
            if not job.future.set_running_or_notify_cancel():
                continue
            try:
                result = job.work()
            except BaseException as error:
                job.future.set_exception(error)
            else:
                job.future.set_result(result)
            del job


# ── The client's process ─────────────────────────────────────────────────────────────────────────────────────────────


def is_alive(process: int) -> bool:
    if os.name == "nt":
        import ctypes

        kernel: Any = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore] # pyright: ignore
        handle = kernel.OpenProcess(0x00100000, False, process)  # SYNCHRONIZE
        if not handle:
            return False
        running = kernel.WaitForSingleObject(handle, 0) == 0x102  # WAIT_TIMEOUT
        kernel.CloseHandle(handle)
        return bool(running)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is another user's
    return True


async def outlive(process: int) -> None:
    """Return when a process has ended."""
    loop = asyncio.get_running_loop()
    try:
        descriptor = os.pidfd_open(process)  # Linux: at once, and a zombie counts as ended
        ended = asyncio.Event()
        loop.add_reader(descriptor, ended.set)
    except (AttributeError, OSError, NotImplementedError):
        child = os.name != "nt" and os.getppid() == process
        while is_alive(process) and (not child or os.getppid() == process):
            await asyncio.sleep(1)
        return
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


# ── The protocol ─────────────────────────────────────────────────────────────────────────────────────────────────────


def converter() -> cattrs.Converter:
    """lsprotocol's, with positions clamped: clients send line 4294967295 for "the end", which is more than LSP allows."""
    made = converters.get_converter()
    made.register_structure_hook(types.Position, structure_position)
    return made


def structure_position(value: Any, _: object) -> types.Position:
    line, character = value["line"], value["character"]
    if type(line) is not int or type(character) is not int:
        raise ValueError("line and character are integers")
    return types.Position(min(max(0, line), MOST), min(max(0, character), MOST))


State = Literal["created", "initializing", "running", "shut down"]


class Wire(LanguageServerProtocol):
    """One client's session: the gate, dispatch, answers, requests of our own."""

    _server: Server  # pyright: ignore[reportIncompatibleVariableOverride] - pygls assigns what it is given

    def __init__(self, server: Server, converter: cattrs.Converter) -> None:
        super().__init__(server, converter)
        self.state: State = "created"
        self.source: asyncio.ReadTransport | None = None
        self.outlet: Outlet | None = None
        self.documents = Documents()
        self.folders: dict[str, types.WorkspaceFolder] = {}
        self.workers = Workers()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread = 0
        self._ended: asyncio.Future[int] | None = None
        self._queue: deque[Message | None] = deque()  # None: the client closed its end
        self._proceeding = False
        self._resting = False
        self._running: dict[Id, asyncio.Task[None]] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._asked: dict[Id, tuple[str, Future[Any]]] = {}
        self._numbers = count(1)
        # pygls' own tables, which it does not type.
        self._features = cast(dict[str, Callable[[Any], Any]], self.fm.features)  # pyright: ignore[reportUnknownMemberType]
        self._builtin = cast(dict[str, Callable[[Any], Any]], self.fm.builtin_features)  # pyright: ignore[reportUnknownMemberType]
        self._commands = cast(dict[str, Callable[..., Any]], self.fm.commands)  # pyright: ignore[reportUnknownMemberType]
        self._builtin |= {
            types.INITIALIZE: self._initialize,
            types.SHUTDOWN: self._shut_down,
            types.EXIT: self._exit,
            types.SET_TRACE: self._set_trace,
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._change_folders,
            types.WORKSPACE_EXECUTE_COMMAND: self._execute_command,
            types.WINDOW_WORK_DONE_PROGRESS_CANCEL: self._cancel_progress,
        }
        self._sync: dict[str, Callable[[Sync], None]] = {
            types.TEXT_DOCUMENT_DID_OPEN: self._did_open,
            types.TEXT_DOCUMENT_DID_CHANGE: self._did_change,
            types.TEXT_DOCUMENT_DID_CLOSE: self._did_close,
            types.TEXT_DOCUMENT_DID_SAVE: self._did_save,
        }
        self._builtin |= self._sync  # where the builder of capabilities finds them

    def _register_builtin_features(self) -> None:
        """None of pygls' own, which keep `pygls.workspace`: ours follow at the end of `__init__`."""

    # Coming and going

    def begin(self) -> asyncio.Future[int]:
        """Attach to the running loop; the future holds the exit code when the session is over."""
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._ended = self._loop.create_future()
        return self._ended

    def end(self, code: int) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(code)
            self._queue.clear()
            for _, future in list(self._asked.values()):
                future.cancel()

    def lose(self) -> None:
        """The client reads no more; any thread may say so."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.end, 1)

    async def last_words(self) -> None:
        """Wait for the client to read what was written, but not for ever."""
        deadline = time.monotonic() + LAST_WORDS
        while self.outlet is not None and self.outlet.get_write_buffer_size() and time.monotonic() < deadline:
            await asyncio.sleep(0.005)

    @property
    def _over(self) -> bool:
        return self._ended is None or self._ended.done()

    # In

    def accept(self, frame: bytes | JsonRpcException | None) -> None:
        """Take what came from the client; it is acted on in `proceed`, but cancelling overtakes what waits."""
        if frame is None:
            self._queue.append(None)
            return
        if isinstance(frame, JsonRpcException):
            self._refuse(None, frame)
            return
        try:
            message = read_message(frame)
        except JsonRpcException as error:
            self._refuse(None, error)
        except Exception as error:
            self._refuse(find_id(frame), JsonRpcInvalidRequest(f"Invalid Request: {error}"))
        else:
            if message.method == types.CANCEL_REQUEST:
                self._cancel(message)
            else:
                self._queue.append(message)

    def proceed(self) -> None:
        """Act on what was accepted, in order.

        After a request the loop runs once: the request's handler takes its first step, up to its first `await`, before
        a later edit is applied, so it sees the documents that its client saw; and a cancel that arrives is noticed.
        """
        if not self._proceeding:
            self._proceed()
        if len(self._queue) > MOST_QUEUED and not self._resting and self.source is not None:
            self._resting = True
            self.source.pause_reading()

    def _proceed(self) -> None:
        self._proceeding = False
        while self._queue and not self._over:
            message = self._queue.popleft()
            if message is None:
                self.end(0 if self.state == "shut down" else 1)
            elif self._dispatch(message) and self._loop is not None:
                self._proceeding = True
                self._loop.call_soon(self._proceed)
                return
        if self._resting and self.source is not None and not self.source.is_closing():
            self._resting = False
            self.source.resume_reading()

    def _dispatch(self, message: Message) -> bool:
        """Act on one message; whether that goes on in a task."""
        method = message.method
        if method is UNSET:
            if message.id in self._asked or not (message.result is UNSET and message.error is UNSET):
                self._take_response(message)
            else:
                number = None if isinstance(message.id, UnsetType) else message.id
                self._refuse(number, JsonRpcInvalidRequest("Invalid Request: no method"))
            return False
        if message.id is UNSET:
            return self._notice(message, method)
        try:
            handler = self._admit(message, method)
            outcome = self._call(handler, self._params(method, message.params))
            if inspect.isawaitable(outcome):
                self._running[message.id] = self._start(self._answer(message.id, outcome))
                return True
            self._send(self._response(message.id, outcome))
        except BaseException as error:
            self._refuse(message.id, error)
        return False

    def _admit(self, message: Message, method: str) -> Callable[[Any], Any]:
        """The handler of a request, if this is a time for it."""
        if message.jsonrpc != self.VERSION:
            raise JsonRpcInvalidRequest('Invalid Request: jsonrpc is not "2.0"')
        if self.state == "shut down":
            raise JsonRpcInvalidRequest("Invalid Request: the server was shut down")
        if (method == types.INITIALIZE) != (self.state == "created"):
            if method == types.INITIALIZE:
                raise JsonRpcInvalidRequest("Invalid Request: the server was initialized before")
            raise JsonRpcServerNotInitialized("Server not initialized")
        if self.state == "initializing":
            raise JsonRpcServerNotInitialized("Server not initialized")
        handler = self._builtin.get(method) or self._features.get(method)
        if handler is None:
            raise JsonRpcMethodNotFound.of(method)
        return handler

    def _notice(self, message: Message, method: str) -> bool:
        """Act on a notification; whatever goes wrong is logged, for nobody waits."""
        if method != types.EXIT and self.state != "running":
            return False
        try:
            if (keep := self._sync.get(method)) is not None:
                keep(self._decode_sync(message.params))
                handler = self._features.get(method)
            else:
                handler = self._builtin.get(method) or self._features.get(method)
            if handler is None:
                return False
            outcome = self._call(handler, self._params(method, message.params))
            if inspect.isawaitable(outcome):
                self._start(self._watch(method, outcome))
                return True
        except BaseException:
            logger.exception("%s failed", method)
        return False

    def _call(self, handler: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if is_thread_function(handler):
            return asyncio.wrap_future(self.workers.submit(partial(handler, *args, **kwargs)))
        return handler(*args, **kwargs)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)  # the loop itself holds tasks weakly
        task.add_done_callback(self._background.discard)
        return task

    async def _answer(self, request: Id, outcome: Awaitable[Any]) -> None:
        self._ctx_msg_id.set(cast(Any, request))  # what `msg_id` of pygls reads
        try:
            data = self._response(request, await outcome)
        except GeneratorExit:
            raise
        except BaseException as error:
            self._refuse(request, error)
        else:
            self._send(data)
        finally:
            if self._running.get(request) is asyncio.current_task():
                del self._running[request]

    async def _watch(self, method: str, outcome: Awaitable[Any]) -> None:
        try:
            await outcome
        except (GeneratorExit, asyncio.CancelledError):
            raise
        except BaseException:
            logger.exception("%s failed", method)

    def _params(self, method: str, params: Raw | UnsetType) -> Any:
        """Params as lsprotocol's objects; plain values for a method that is not LSP's."""
        if method not in types.METHOD_TO_TYPES:
            return self._decode(params)
        wanted = types.METHOD_TO_TYPES[method][2]
        if wanted is None:
            return None
        plain = self._decode(params)
        if plain is None:
            plain = {}
        try:
            return self._converter.structure(plain, wanted)
        except Exception as error:
            if method == types.INITIALIZE and (pruned := self._prune(plain)) is not None:
                return pruned
            reasons = cattrs.transform_error(error)
            raise JsonRpcInvalidParams(f"Invalid Params: {'; '.join(reasons)}") from error

    def _prune(self, plain: Any) -> types.InitializeParams | None:
        """`initialize` without the groups of capabilities that lsprotocol cannot read.

        A client newer than lsprotocol is served with less, rather than refused.
        """
        if not isinstance(plain, dict):
            return None
        plain = cast(dict[str, Any], plain)
        kept: dict[str, Any] = {}
        groups = plain.get("capabilities")
        for name, group in cast(dict[str, Any], groups).items() if isinstance(groups, dict) else ():
            try:
                self._converter.structure({name: group}, types.ClientCapabilities)
            except Exception:
                logger.warning("the client's %s capabilities are not as expected; taken as none", name)
            else:
                kept[name] = group
        try:
            return self._converter.structure({**plain, "capabilities": kept}, types.InitializeParams)
        except Exception:
            return None

    @staticmethod
    def _decode(value: Raw | UnsetType) -> Any:
        if isinstance(value, UnsetType):
            return None
        try:
            return decode_any(value)
        except (ValueError, RecursionError) as error:
            raise JsonRpcParseError(f"Parse Error: {error}") from error

    @staticmethod
    def _decode_sync(value: Raw | UnsetType) -> Sync:
        if isinstance(value, UnsetType):
            raise JsonRpcInvalidParams("Invalid Params: none")
        return decode_sync(value)

    def _cancel(self, message: Message) -> None:
        """Cancel a request that runs, or answer one that still waits; any other was answered already."""
        try:
            params = self._decode(message.params)
            cancelled: Id = params["id"]
            task = self._running.get(cancelled)
        except Exception as error:
            logger.warning("ignored %s: %s", types.CANCEL_REQUEST, error)
            return
        if task is not None and self._loop is not None:
            # Not at once: a task that is cancelled before its first step would never answer.
            self._loop.call_soon(task.cancel)
            return
        for waiting in self._queue:
            if waiting is not None and waiting.method is not UNSET and waiting.id == cancelled:
                self._queue.remove(waiting)
                self._refuse(cancelled, RequestCancelled())
                return

    # Out

    def _encode(self, value: Any) -> bytes:
        if type(value) is Raw:
            return bytes(value)
        if value is None:
            return b"null"
        plain = self._converter.unstructure(value)
        try:
            return encode(plain)
        except UnicodeEncodeError:  # a lone surrogate, which JSON can say and UTF-8 cannot
            return json.dumps(plain, default=in_json).encode("ascii")

    def _response(self, request: Id, result: Any) -> bytes:
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(request), self._encode(result))

    def _refuse(self, request: Id, error: BaseException) -> None:
        """Answer a request with what went wrong; what we did not mean is logged with its traceback, and not sent."""
        if isinstance(error, asyncio.CancelledError):
            error = RequestCancelled()
        elif not isinstance(error, JsonRpcException):
            logger.error("request %r failed", request, exc_info=error)
            error = JsonRpcInternalError(f"{type(error).__name__}: {error}")
        answer: dict[str, Any] = {"code": error.code, "message": error.message}
        try:
            if error.data is not None:
                answer["data"] = Raw(self._encode(error.data))
            body = encode(answer)
        except Exception:
            body = encode({"code": error.code, "message": ascii(error.message)})
        try:
            name = encode(request)
        except UnicodeEncodeError:
            name = json.dumps(request).encode("ascii")
        self._send(b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (name, body))

    def _send(self, body: bytes) -> None:
        """Write a message; any thread may, and each thread's messages keep their order."""
        if threading.get_ident() == self._loop_thread:
            self._write(body)
        elif self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._write, body)

    def _write(self, body: bytes) -> None:
        outlet = self.outlet
        if outlet is None or self._over:
            return
        outlet.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        if outlet.get_write_buffer_size() > MOST_UNREAD:
            logger.error("the client has stopped reading; giving up")
            outlet.abort()
            self.end(1)

    def notify(self, method: str, params: Any | None = None) -> None:
        """Send a notification; params are lsprotocol's objects, plain values, or `Raw`."""
        tail = b"" if params is None else b',"params":' + self._encode(params)
        self._send(b'{"jsonrpc":"2.0","method":%b%b}' % (encode(method), tail))

    def send_request(
        self,
        method: str,
        params: Any | None = None,
        callback: Callable[[Any], None] | None = None,
        msg_id: int | str | None = None,
    ) -> Future[Any]:
        """Ask the client; the future fails with `JsonRpcException`, and is cancelled when the session ends."""
        number = f"memidex-{next(self._numbers)}" if msg_id is None else msg_id
        tail = b"" if params is None else b',"params":' + self._encode(params)
        future: Future[Any] = Future()
        if callback is not None:
            future.add_done_callback(partial(self._call_back, method, callback))
        self._asked[number] = method, future
        future.add_done_callback(partial(self._withdraw, number))
        self._send(b'{"jsonrpc":"2.0","id":%b,"method":%b%b}' % (encode(number), encode(method), tail))
        return future

    def _withdraw(self, number: Id, future: Future[Any]) -> None:
        """Tell the client that nobody waits for its answer any more."""
        if future.cancelled() and self._asked.pop(number, None) is not None:
            self.notify(types.CANCEL_REQUEST, types.CancelParams(cast(int | str, number)))

    @staticmethod
    def _call_back(method: str, callback: Callable[[Any], None], future: Future[Any]) -> None:
        if future.cancelled():
            return
        if (error := future.exception()) is not None:
            logger.warning("the client refused %s: %s", method, error)
            return
        callback(future.result())

    def _take_response(self, message: Message) -> None:
        number = None if isinstance(message.id, UnsetType) else message.id
        method, future = self._asked.pop(number, ("", None))
        if future is None:
            logger.warning("ignored a response to %r, which was not asked", number)
            return
        try:
            if not isinstance(message.error, UnsetType):
                error = self._converter.structure(self._decode(message.error), types.ResponseError)
                raise JsonRpcException(error.message, error.code, error.data)
            result = self._decode(message.result)
            wanted = types.METHOD_TO_TYPES[method][1] if method in types.METHOD_TO_TYPES else None
            if wanted is not None:
                whole: Any = self._converter.structure({"id": number, "jsonrpc": "2.0", "result": result}, wanted)
                result = whole.result
            settle = partial(future.set_result, result)
        except Exception as error:
            settle = partial(future.set_exception, error)
        with suppress(InvalidStateError):  # when whoever asked does not wait any more
            settle()

    # What the protocol itself defines

    async def _user(self, method: str, params: Any) -> None:
        """Run what was registered for a method that we answer ourselves."""
        if (handler := self._features.get(method)) is not None:
            outcome = self._call(handler, params)
            if inspect.isawaitable(outcome):
                await outcome

    async def _initialize(self, params: types.InitializeParams) -> types.InitializeResult:
        self.state = "initializing"
        try:
            result = await self._agree(params)
        except BaseException:
            self.state = "created"
            raise
        self.state = "running"
        return result

    async def _agree(self, params: types.InitializeParams) -> types.InitializeResult:
        server = self._server
        server.process_id = params.process_id
        if params.process_id is not None and (params.process_id == os.getppid() or is_alive(params.process_id)):
            # A process that cannot be seen, for we are in a container, is not watched.
            self._start(self._watch_client(params.process_id))
        self.client_capabilities = params.capabilities
        self.trace = params.trace or types.TraceValue.Off
        general = params.capabilities.general
        offered: Sequence[object] = (general.position_encodings if general else None) or ()
        agreed: list[Encoding] = [encoding for encoding in PREFERRED if encoding in offered]
        self.documents.encoding = agreed[0] if agreed else "utf-16"
        self.folders = {folder.uri: folder for folder in params.workspace_folders or ()}
        if not self.folders and params.root_uri:
            self.folders[params.root_uri] = types.WorkspaceFolder(params.root_uri, "")
        await self._user(types.INITIALIZE, params)
        self.server_capabilities = ServerCapabilitiesBuilder(
            params.capabilities,
            {*self._features, *self._builtin},
            cast(dict[str, Any], self.fm.feature_options),  # pyright: ignore[reportUnknownMemberType]
            list(self._commands),
            types.TextDocumentSyncKind.Incremental,
            None,
            types.PositionEncodingKind(self.documents.encoding),
        ).build()
        server.amend_capabilities(self.server_capabilities)
        return types.InitializeResult(self.server_capabilities, self.server_info)

    async def _watch_client(self, process: int) -> None:
        await outlive(process)
        logger.warning("the client's process %d has ended", process)
        self.end(1)

    async def _shut_down(self, params: None) -> None:
        self.state = "shut down"
        try:
            await self._user(types.SHUTDOWN, params)
        finally:
            for task in set(self._running.values()) - {asyncio.current_task()}:
                asyncio.get_running_loop().call_soon(task.cancel)

    async def _exit(self, params: None) -> None:
        code = 0 if self.state == "shut down" else 1
        try:
            await asyncio.wait_for(self._user(types.EXIT, params), LAST_WORDS)
        finally:
            self.end(code)

    async def _execute_command(self, params: types.ExecuteCommandParams) -> Any:
        handler = self._commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams(f"Invalid Params: no command {params.command!r}")
        try:
            args, kwargs = _prepare_command_arguments(handler, params, self._converter)
            inspect.signature(handler).bind(*args, **kwargs)
        except Exception as error:
            raise JsonRpcInvalidParams(f"Invalid Params: {error}") from error
        outcome = self._call(handler, *args, **kwargs)
        return await outcome if inspect.isawaitable(outcome) else outcome

    async def _set_trace(self, params: types.SetTraceParams) -> None:
        self.trace = params.value
        await self._user(types.SET_TRACE, params)

    async def _cancel_progress(self, params: types.WorkDoneProgressCancelParams) -> None:
        tokens = cast(dict[types.ProgressToken, Future[Any]], self.progress.tokens)  # pyright: ignore[reportUnknownMemberType]
        if (future := tokens.get(params.token)) is not None:
            future.cancel()
        await self._user(types.WINDOW_WORK_DONE_PROGRESS_CANCEL, params)

    async def _change_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            self.folders.pop(folder.uri, None)
        for folder in params.event.added:
            self.folders[folder.uri] = folder
        await self._user(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, params)

    def _did_open(self, params: Sync) -> None:
        document = params.text_document
        self._tell(
            self._server.on_document_open,
            self.documents.open(document.uri, document.language_id, document.version, document.text),
        )

    def _did_change(self, params: Sync) -> None:
        document = params.text_document
        changed = self.documents.change(document.uri, document.version, params.content_changes)
        self._tell(self._server.on_document_change, changed)

    def _did_close(self, params: Sync) -> None:
        self._tell(self._server.on_document_close, self.documents.close(params.text_document.uri))

    def _did_save(self, params: Sync) -> None:
        self._tell(self._server.on_document_save, self.documents.find(params.text_document.uri))

    @staticmethod
    def _tell(listener: Callable[[str], object], document: Document | None) -> None:
        if document is not None:
            listener(document.uri)


def in_json(value: Any) -> Any:
    """What msgspec does not know how to write."""
    if type(value) is Raw:
        return json.loads(bytes(value))
    if hasattr(value, "__attrs_attrs__"):
        return SPARE.unstructure(value)
    raise TypeError(f"{type(value).__name__} cannot be sent")


encode: Callable[[Any], bytes] = msgspec.json.Encoder(enc_hook=in_json).encode
SPARE = cattrs.Converter()


def nothing(_: object) -> None:
    """Nobody listens."""


class Server(LanguageServer):
    """A language server on `Wire`; features and commands are registered as with pygls."""

    protocol: Wire  # pyright: ignore[reportIncompatibleVariableOverride] - as `protocol_cls` says

    def __init__(self, name: str, version: str) -> None:
        super().__init__(name, version, protocol_cls=Wire, converter_factory=converter)  # pyright: ignore[reportUnknownMemberType]
        self.amend_capabilities: Callable[[types.ServerCapabilities], object] = nothing
        """Called with the capabilities as built, to set what the builder misses."""
        self.on_document_open: Callable[[str], object] = nothing
        self.on_document_change: Callable[[str], object] = nothing
        self.on_document_save: Callable[[str], object] = nothing
        self.on_document_close: Callable[[str], object] = nothing
        """Called on the loop, with the uri as the client spells it, once `documents` is up to date; to be quick."""

    @property
    def documents(self) -> Documents:
        return self.protocol.documents

    @property
    def encoding(self) -> Encoding:
        """What the client counts columns in; utf-16 until it is agreed."""
        return self.protocol.documents.encoding

    @property
    def folders(self) -> list[types.WorkspaceFolder]:
        """The workspace folders as they are now; a client's single root counts as one."""
        return list(self.protocol.folders.values())

    async def run_cancellable(
        self, function: Callable[Concatenate[Cancelled, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The result of `function(cancelled, ...)`, run in a thread of our own.

        When the request is cancelled it is answered at once; the function learns of it by calling `cancelled()`.
        """
        cancelled = Cancelled()
        future = self.protocol.workers.submit(partial(function, cancelled, *args, **kwargs))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def partial(self, token: types.ProgressToken, value: Any) -> None:
        """Send a part of a result, or work done, under the token that the client gave."""
        self.protocol.notify(
            types.PROGRESS,
            Raw(b'{"token":%b,"value":%b}' % (encode(token), self.protocol._encode(value))),  # pyright: ignore[reportPrivateUsage]
        )

    def report_server_error(self, error: Exception, source: object) -> None:
        """Log it: the client has its answer, and a person nothing to do about it."""
        logger.error("%s", error, exc_info=error)

    def start_io(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Serve the client at the other end of stdin and stdout, and return the exit code.

        From here on what is printed, by anyone, goes to stderr, and nothing else can read stdin.
        """
        if stdin is not None and stdout is not None:
            return self._run(self._serve_pipes(stdin.fileno(), stdout.fileno()))
        source, target = os.dup(0), os.dup(1)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # started without a stderr
            os.dup2(nowhere, 1)
        os.close(nowhere)
        sys.stdout = sys.stderr
        return self._run(self._serve_pipes(source, target))

    def start_tcp(self, host: str, port: int) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Serve the one client that connects, and return the exit code; port 0 takes one that is free."""
        return self._run(self._serve_socket(host, port))

    async def _serve_pipes(self, source: int, target: int) -> int:
        loop = asyncio.get_running_loop()
        ended = self.protocol.begin()
        inlet = Inlet(self.protocol)
        if is_pipe(target):
            file = os.fdopen(target, "wb", 0)
            self.protocol.outlet, _ = await loop.connect_write_pipe(lambda: OutletEvents(self.protocol.lose), file)
        else:
            self.protocol.outlet = ThreadOutlet(target, self.protocol.lose)
        if is_pipe(source):
            await loop.connect_read_pipe(lambda: inlet, os.fdopen(source, "rb", 0))
        else:
            read_in_thread(source, loop, inlet)
        return await self._until(ended)

    async def _serve_socket(self, host: str, port: int) -> int:
        loop = asyncio.get_running_loop()
        ended = self.protocol.begin()
        listening = await loop.create_server(lambda: SocketInlet(self.protocol, lambda: listening), host, port)
        name, chosen = listening.sockets[0].getsockname()[:2]
        name = f"[{name}]" if ":" in name else name
        print(f"{self.name}: listening on {name}:{chosen}", file=sys.stderr, flush=True)
        return await self._until(ended)

    async def _until(self, ended: asyncio.Future[int]) -> int:
        code = await ended
        await self.protocol.last_words()
        if self.protocol.source is not None:
            self.protocol.source.close()
        outlet = self.protocol.outlet
        if outlet is not None and not (isinstance(outlet, asyncio.BaseTransport) and outlet.is_closing()):
            outlet.abort()
        return code

    def _run(self, session: Coroutine[Any, Any, int]) -> int:
        """Run a session in a loop of its own; `asyncio.run` would wait for handlers that do not stop."""
        gc.freeze()  # lsprotocol's classes are not looked through again and again
        gc.enable()
        loop = asyncio.new_event_loop()
        try:
            code = loop.run_until_complete(session)
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            if left:
                loop.run_until_complete(asyncio.wait(left, timeout=1))
        except KeyboardInterrupt:
            return 130
        finally:
            loop.close()
        return code
