"""The values of a bundle's files as plain structs, and the typed decoders that accept well-formed text in one step.

What is accepted here is what the models of `formats` accept (a test holds the two together); anything a decoder
refuses is read again slowly by `explain`, which says why and where.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

Ordinal = Annotated[int, Meta(ge=0, lt=2**53)]
Instant = Annotated[datetime, Meta(tz=True)]
Kind = Literal["fact", "caution", "procedure", "unknown", "policy"]
Subtype = Literal["selector", "behavioral", "navigational", "measurement"]
Origin = Literal["user", "agent-verified"]
Tier = Literal["global", "product", "suite", "test"]
EventType = Literal[
    "confirmed", "contradicted", "helpful", "harmful", "promoted", "superseded", "deprecated", "window-close",
    "retracted", "overturned",
]  # fmt: skip


class Target(Struct, frozen=True, gc=False, tag_field="t"):
    """What an anchor points at. `str()` of one is how a person reads it."""

    @property
    def t(self) -> str:
        return str(self.__struct_config__.tag)

    @property
    def words(self) -> str:
        """The payload's text, for slugs and searching."""
        return ""


class Element(Target, frozen=True, gc=False, tag="el"):
    role: str
    name: str
    ordinal: Ordinal = 0

    @property
    def words(self) -> str:
        return f"{self.role} {self.name}" + (f" {self.ordinal}" if self.ordinal else "")

    def __str__(self) -> str:
        return f'{self.role} "{self.name}"' + (f" #{self.ordinal + 1}" if self.ordinal else "")


class Page(Target, frozen=True, gc=False, tag="page"):
    url: str

    @property
    def words(self) -> str:
        return self.url

    def __str__(self) -> str:
        return f"page {self.url}"


class Flow(Target, frozen=True, gc=False, tag="flow"):
    name: str

    @property
    def words(self) -> str:
        return self.name

    def __str__(self) -> str:
        return f"flow {self.name}"


class Platform(Target, frozen=True, gc=False, tag="platform"):
    platform: Literal["web", "android", "ios"]

    @property
    def words(self) -> str:
        return self.platform

    def __str__(self) -> str:
        return self.platform


class Selector(Target, frozen=True, gc=False, tag="selector"):
    value: str

    @property
    def words(self) -> str:
        return self.value

    def __str__(self) -> str:
        return f"selector {self.value}"


class ErrorMessage(Target, frozen=True, gc=False, tag="error"):
    message: str

    @property
    def words(self) -> str:
        return self.message

    def __str__(self) -> str:
        return f"error {self.message}"


AnyTarget = Element | Page | Flow | Platform | Selector | ErrorMessage


class Anchor(Struct, frozen=True, gc=False):
    """`raw` as it was seen; `normalized` as it is compared. Two anchors are the same when `normalized` is equal."""

    raw: AnyTarget
    normalized: AnyTarget


class Scope(Struct, frozen=True, gc=False):
    tier: Tier
    key: str | None = None

    def __str__(self) -> str:
        return self.tier if self.key is None else f"{self.tier} {self.key}"


class Record(Struct, frozen=True, gc=False):
    """What `record.md` says. Of a file with problems, what could be read; the rest is empty."""

    version: int = 2
    id: str = ""
    kind: Kind | Literal[""] = ""
    subtype: Subtype | None = None
    anchors: tuple[Anchor, ...] = ()
    scope: Scope | None = None
    created: int = 0
    origin: Origin = "agent-verified"
    incomplete: bool = False
    summary: str = ""
    detail: str = ""
    allowed: tuple[str, ...] = ()
    """The rules that the body silences by `<!-- memidex: allow NAME -->`."""


class Event(Struct, frozen=True, gc=False, rename={"ordinal": "buildOrdinal"}):
    """One event of the log. Use `history.log` to get the identity of one that has no `id`."""

    ordinal: Ordinal
    origin: Origin
    type: EventType
    id: str | None = None
    at: Instant | None = None
    run: str | None = None
    actor: str | None = None
    note: str | None = None
    test: str | None = None
    step: Ordinal | str | None = None
    path: Literal["deterministic-verdict-floor", "gate1-lower-trust", "gate1+gate2", "user-sovereign"] | None = None
    by: str | None = None
    reason: Literal["rejected", "forgotten", "retired"] | None = None
    retracts: tuple[str, ...] | None = None
    overturns: str | None = None


class Relation(Struct, frozen=True, gc=False, rename={"ordinal": "atOrdinal"}):
    type: str
    target: str
    ordinal: Ordinal | None = None
    note: str | None = None
    collected: bool | None = None


class Relations(Struct, frozen=True, gc=False):
    relations: tuple[Relation, ...]


class Sealed(Struct, frozen=True, gc=False):
    hash: str
    """Hex digits, with or without the name of the algorithm and a colon before them."""
    size: Ordinal | None = None


class Manifest(Struct, frozen=True, gc=False):
    files: dict[str, Sealed]
    algorithm: str | None = None
    schemaVersion: int | None = None


class Writer(Struct, frozen=True, gc=False):
    by: Literal["template", "model", "person"] | None = None
    name: str | None = None


class Provenance(Struct, frozen=True, gc=False, rename={"ordinal": "buildOrdinal"}):
    run: str | None = None
    ordinal: Ordinal | None = None
    mode: Literal["local", "ci"] | None = None
    test: str | None = None
    step: Ordinal | str | None = None
    writer: Writer | None = None
    at: Instant | None = None


class Observation(Struct, frozen=True, gc=False):
    id: str | None = None
    kind: Literal["element", "value", "navigation", "failure", "flow"] | None = None
    run: str | None = None
    test: str | None = None
    step: Ordinal | str | None = None


class Gate(Struct, frozen=True, gc=False, rename={"ordinal": "buildOrdinal"}):
    gate: str | None = None
    passed: bool | None = None
    reason: str | None = None
    ordinal: Ordinal | None = None
    at: Instant | None = None


class Baseline(Struct, frozen=True, gc=False):
    n: Ordinal | None = None
    median: float | None = None
    mad: float | None = None


class Sample(Struct, frozen=True, gc=False, rename={"ordinal": "buildOrdinal"}):
    ordinal: Ordinal | None = None
    value: float | None = None


class Measurement(Struct, frozen=True, gc=False):
    unit: str | None = None
    baseline: Baseline | None = None
    samples: tuple[Sample, ...] | None = None


class Artifact(Struct, frozen=True, gc=False):
    path: str | None = None
    kind: Literal["screenshot", "snapshot"] | None = None
    hash: str | None = None
    step: Ordinal | str | None = None


class Artifacts(Struct, frozen=True, gc=False):
    artifacts: tuple[Artifact, ...] | None = None


class Tests(Struct, frozen=True, gc=False):
    passed: Ordinal | None = None
    failed: Ordinal | None = None
    flaky: Ordinal | None = None


class Run(Struct, frozen=True, gc=False):
    """One line of a product's run ledger."""

    ordinal: Ordinal
    run: str | None = None
    at: Instant | None = None
    mode: Literal["local", "ci"] | None = None
    commit: str | None = None
    tests: Tests | None = None


FRONTMATTER: dict[bytes, Any] = {
    b"schemaVersion": msgspec.json.Decoder(int).decode,
    b"id": msgspec.json.Decoder(str).decode,
    b"kind": msgspec.json.Decoder(Kind).decode,
    b"subtype": msgspec.json.Decoder(Subtype | None).decode,
    b"anchors": msgspec.json.Decoder(tuple[Anchor, ...]).decode,
    b"scope": msgspec.json.Decoder(Scope).decode,
    b"createdAtOrdinal": msgspec.json.Decoder(Ordinal).decode,
    b"originClass": msgspec.json.Decoder(Origin).decode,
    b"evidenceIncomplete": msgspec.json.Decoder(bool).decode,
}
EVENT = msgspec.json.Decoder(Event)
RELATIONS = msgspec.json.Decoder(Relations)
MANIFEST = msgspec.json.Decoder(Manifest)
PROVENANCE = msgspec.json.Decoder(Provenance)
OBSERVATION = msgspec.json.Decoder(Observation)
GATE = msgspec.json.Decoder(Gate)
MEASUREMENT = msgspec.json.Decoder(Measurement)
ARTIFACTS = msgspec.json.Decoder(Artifacts)
RUN = msgspec.json.Decoder(Run)
