"""Roots on disk in which tests decide: drawn from sketches, decided upon and written for real."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from memidex.history.change import Actor, Change, Policy, Refused, tail
from memidex.learning.decide import Accepted, Decision, decide, undo
from memidex.records.memidex import ids
from memidex.store import opening, writing
from memidex.store.snapshot import Entry, Root
from sketch import Sketch, sketch

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
MIRA = Actor("user", "mira")
AGENT = Actor("agent-verified", "agent-qa")
LOG = "evidence/outcomes.jsonl"
CONFIRMED = '{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed","id":"%s-1","at":"2026-01-01T00:00:00Z"}'
PROMOTED = '{"buildOrdinal":1,"origin":"agent-verified","type":"promoted","path":"deterministic-verdict-floor","id":"%s-2","at":"2026-01-01T00:00:01Z"}'
ENDED = '{"buildOrdinal":2,"origin":"%s","type":%s,"id":"%s-3","at":"2026-02-01T00:00:00Z"}'
STATES: dict[str, tuple[str, ...]] = {
    "candidate": (CONFIRMED,),
    "active": (CONFIRMED, PROMOTED),
    "superseded": (CONFIRMED, PROMOTED, '{"buildOrdinal":2,"origin":"agent-verified","type":"superseded","by":"@b","id":"%s-3","at":"2026-02-01T00:00:00Z"}'),
    "deprecated": (CONFIRMED, PROMOTED, '{"buildOrdinal":2,"origin":"user","type":"deprecated","reason":"retired","id":"%s-3","at":"2026-02-01T00:00:00Z"}'),
}  # fmt: skip
THREE = f"""\
-- record.md --
-- {LOG} --
{CONFIRMED % "a"}
-- b/record.md --
-- c/record.md --
-- c/{LOG} --
{CONFIRMED % "c"}
-- c/relations.json --
{{"relations":[{{"type":"proposed-supersession-of","target":"@b"}}]}}
"""
"""A candidate, an active record, and a proposal to replace that."""
TEXT = {"summary": "the button is now called Buy", "detail": "Seen in the shop."}


def ids_from(start: int = 0) -> Callable[[], str]:
    numbers = count(start)
    return lambda: ids.uuid7(1_780_000_000_000 + next(numbers), bytes(10))


NEXT = ids_from()


class Decided:
    """A root on disk, and decisions upon it."""

    def __init__(self, drawn: Sketch) -> None:
        self.drawn = drawn
        self.path = drawn.root.as_posix()

    @property
    def root(self) -> Root:
        return opening.cold(self.path)

    def entry(self, nick: str = "a") -> Entry:
        found = self.root.find(self.drawn.ids.get(nick, nick))
        assert found
        return found

    def decide(
        self,
        operation: Any,
        nick: str = "a",
        actor: Actor = MIRA,
        policy: Policy = Policy(),  # noqa: B008
        now: datetime = NOW,
        **more: Any,
    ) -> Decision:
        root = self.root
        change = Change(operation=operation, record=self.drawn.ids.get(nick, nick), **more)
        found = root.find(change.record)
        ordinal = root.product(found.product).current if found else 0
        return decide(root, change, actor, policy, ordinal, now, NEXT)

    def apply(self, decision: Decision) -> Accepted:
        assert isinstance(decision, Accepted), decision
        written = writing.commit(self.path, decision.commit)
        assert isinstance(written, writing.Written), written
        assert written.unsealed == ()
        return decision

    def do(self, operation: Any, nick: str = "a", **more: Any) -> Accepted:
        return self.apply(self.decide(operation, nick, **more))

    def undo(self, nick: str = "a") -> str:
        root = self.root
        entry = self.entry(nick)
        change = undo(root, entry)
        assert change
        self.apply(decide(root, change, MIRA, Policy(), root.product(entry.product).current, NOW, NEXT))
        return change.label

    def file(self, name: str, nick: str = "a") -> Path:
        return self.drawn.path(name, nick)

    def tail(self, nick: str = "a") -> str:
        return tail(self.file(LOG, nick).read_bytes())

    def files(self) -> dict[str, bytes]:
        """Every file of the root but the machine-local state."""
        return {
            path.relative_to(self.path).as_posix(): path.read_bytes()
            for path in sorted(Path(self.path).rglob("*"))
            if path.is_file() and ".memidex" not in path.relative_to(self.path).parts[:1]
        }


def drawn(text: str, folder: Path) -> Decided:
    return Decided(sketch(text, folder))


def record(nick: str, state: str = "active", kind: str = "fact", more: str = "") -> str:
    """A sketch of one record of this kind and state."""
    lines = [line % nick if "%s" in line else line for line in STATES[state]]
    if kind not in ("fact", "caution"):
        lines = [line for line in lines if '"promoted"' not in line]
    front = f'kind: "{kind}"\n' + ("" if kind == "fact" else "- subtype\n")
    return f"-- {nick}/record.md --\n{front}-- {nick}/{LOG} --\n" + "".join(line + "\n" for line in lines) + more


def related(nick: str, kind: str, target: str) -> str:
    return f'-- {nick}/relations.json --\n{{"relations":[{{"type":"{kind}","target":"@{target}"}}]}}\n'


def reason(decision: Decision | Refused) -> str:
    assert not isinstance(decision, Accepted), decision
    return decision.reason
