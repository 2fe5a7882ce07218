"""What is asked for, by whom, and what is answered where it is not granted. A change is not yet an event."""

from __future__ import annotations

import hashlib
from typing import Final, Literal

from msgspec import Struct

from memidex.records.memidex.values import Origin

Operation = Literal[
    "confirm", "accept", "reject", "forget", "supersede", "contradict", "retract", "overturn", "seal"
]  # fmt: skip
OPERATIONS: Final[dict[str, str]] = {
    "confirm": "Says that it is true; a candidate fact or caution becomes active.",
    "accept": "Confirms a candidate, applies a proposal, or takes a policy's rule into `policies.md`.",
    "reject": "Turns a candidate or a proposal down; what a proposal would replace is untouched.",
    "forget": "Retires a record for good and closes its window; it stays as a tombstone.",
    "supersede": "Replaces a record by a new one that a person words, or by one that is there.",
    "contradict": "Says that it is not true; trust falls, the status stays.",
    "retract": "Takes events back: they count for nothing. The way to undo each of the others.",
    "overturn": "A person's last word on an agent's decision, which an agent may not simply repeat.",
    "seal": "Writes the manifest anew over the files as they are, after a look at what changed.",
}
"""Each operation of the contract's section 10, with what it means to a reader."""


class Change(Struct, frozen=True, kw_only=True):
    """What somebody asks for. `record` is any address of the record, or its folder."""

    operation: Operation
    record: str
    seen: str | None = None
    """The `tail` of the log that the person saw; None where nothing was looked at, as on the command line."""
    note: str | None = None
    events: tuple[str, ...] = ()
    """Of retract and overturn the identities of the events."""
    summary: str = ""
    detail: str = ""
    """Of supersede what the new record says."""
    by: str | None = None
    """Of supersede the address of a record that is there and replaces it, in place of a new one."""
    draft: bool = False
    """Of supersede whether the new record is a proposal to be worded, with the old one's text where none is given."""
    label: str = ""
    """Of an undo what it takes back, such as `accept`."""


class Actor(Struct, frozen=True):
    """Who asks: a person (`user`) or an agent, with the name that is written beside its events."""

    origin: Origin
    name: str | None = None


class Policy(Struct, frozen=True, kw_only=True):
    """What the surroundings allow, as the front door read it."""

    trusted: bool = True
    """Whether the person trusts the folder (an editor's workspace trust)."""
    ci: bool = False
    read_only: bool = False


class Refused(Struct, frozen=True):
    """A change that is not granted; nothing of it is written anywhere. `reason` is a name with a page."""

    reason: str
    message: str


class Held(Struct, frozen=True):
    """A change that is not granted now and may be kept as a proposal; nothing of it is written."""

    reason: str
    message: str


def tail(log: bytes) -> str:
    """What tells the state of a log that somebody saw: its size and the hash of its bytes (contract, section 10)."""
    return f"{len(log)}-{hashlib.sha256(log).hexdigest()[:16]}"
