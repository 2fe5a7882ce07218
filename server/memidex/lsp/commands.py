"""The commands of `workspace/executeCommand`: what they are called and take. What they do is imported when one is run.

A decision has one object argument, `{"uri" | "id", "root"?, "seen"?, "note"?, "events"?, "summary"?, "detail"?, "by"?}`, and
gives the new card, or `{"refused": reason, "message", "card"?}` with nothing written. Those of one root are made one by one,
in the order in which they came.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from memidex.lsp.requests import members
from memidex.lsp.wire import InvalidParams

if TYPE_CHECKING:
    from memidex.history.change import Operation
    from memidex.lsp.server import App

OPERATIONS: tuple[Operation, ...] = (
    "accept", "confirm", "reject", "forget", "contradict", "supersede", "retract", "overturn", "seal",
)  # fmt: skip


def register(app: App) -> None:
    locks: dict[str, asyncio.Lock] = {}

    def decision(operation: Operation) -> None:
        @app.server.command(f"memidex.{operation}")
        async def run(*arguments: Any) -> Any:
            from memidex.lsp.deciding import Deciding

            return await Deciding(app, locks, operation, argument(arguments)).answer()

    for operation in OPERATIONS:
        decision(operation)

    @app.server.command("memidex.gc")
    async def gc(*arguments: Any) -> Any:
        """Remove old generations: `{"root"?, "dryRun"?}` to `{"removed", "marked"}`, places in the root."""
        from memidex.lsp.deciding import Collecting

        return await Collecting(app, locks, argument(arguments)).answer()

    walked: list[str] = []

    def neighbour(name: str, forward: int) -> None:
        @app.server.command(f"memidex.{name}")
        async def run(*arguments: Any) -> Any:
            from memidex.lsp.reviewing import step

            return await step(app, walked, argument(arguments), forward)

    neighbour("reviewNext", 1)
    neighbour("reviewPrevious", -1)

    @app.server.command("memidex.compare")
    async def compare(*arguments: Any) -> Any:
        """Open the record that a proposal `{"id" | "uri", "root"?, "target"?, "show"?}` would replace; gives both URIs."""
        from memidex.lsp.deciding import compared

        return await compared(app, argument(arguments))


def argument(arguments: Iterable[Any]) -> dict[str, Any]:
    """The one object that a command is given."""
    found = list(arguments)
    if len(found) > 1:
        raise InvalidParams("Invalid Params: a command has one argument, an object")
    return members(found[0] if found else None)
