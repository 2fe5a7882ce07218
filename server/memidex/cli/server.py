"""`memidex lsp`: the language server, for editors. Nothing else may print on stdout."""

from __future__ import annotations

import gc
from argparse import ArgumentTypeError, Namespace

from memidex.cli.console import Console, Parser


def lsp_arguments(parser: Parser) -> None:
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--stdio", action="store_true", help="talk on stdin and stdout (the default)")
    way.add_argument("--tcp", type=address, metavar="HOST:PORT", help="wait for one editor on a port of this machine")
    parser.add_argument(
        "--clientProcessId", dest="client", metavar="PID", help="taken as editors give it; the handshake tells the same"
    )


def lsp(options: Namespace, console: Console) -> int:
    # The protocol's some five hundred classes are made and stay: to look through them for garbage meanwhile takes a
    # tenth of the start. The wire turns collection on again, and leaves these out of it.
    gc.disable()
    from memidex.lsp import server

    if options.tcp:
        return server.serve_tcp(*options.tcp)
    return server.serve_stdio()


def address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise ArgumentTypeError(f"must be HOST:PORT, not {text!r}")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)
