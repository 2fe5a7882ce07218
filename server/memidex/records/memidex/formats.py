"""The written truth of every file of the language, as pydantic models; the published schemas are made from them.

Importing this costs what pydantic costs, so nothing on the way to an `initialize` answer may: the accepting path
(`values`) reads what these models accept, and a test holds the two to each other.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel

from memidex.records.memidex import values


def rfc3339(value: str) -> str:
    """The text itself, where it is an instant as the accepting path reads one."""
    try:
        msgspec.convert(value, values.Instant)
    except msgspec.ValidationError:
        raise ValueError("not an RFC 3339 time with its offset, such as 2026-08-05T20:09:00Z") from None
    return value


def finite(value: float) -> float:
    """The number itself, where it is one of those that a measurement can have."""
    with suppress(OverflowError):
        if math.isfinite(float(value)):
            return value
    raise ValueError("too large a number")


Whole = Annotated[int, Field(ge=0, lt=2**53)]
Ordinal = Annotated[int, Field(ge=0, lt=2**53, description="A run count of the product.")]
Number = Annotated[int | float, AfterValidator(finite)]
Instant = Annotated[str, AfterValidator(rfc3339), Field(json_schema_extra={"format": "date-time"})]
Hash = Annotated[str, Field(pattern=r"^(?:[a-z0-9]+:)?[0-9a-fA-F]{32,128}$")]
Step = Whole | str


class Closed(BaseModel):
    """Of our own making alone: a key that the format does not have is a finding."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Open(BaseModel):
    """Other writers add keys of their own: they are kept and are no finding."""

    model_config = ConfigDict(extra="allow", strict=True)


# record.md ------------------------------------------------------------------------------------------------------------


class Element(Open):
    t: Literal["el"]
    role: str
    name: str
    ordinal: Whole = 0


class Page(Open):
    t: Literal["page"]
    url: str


class Flow(Open):
    t: Literal["flow"]
    name: str


class Platform(Open):
    t: Literal["platform"]
    platform: Literal["web", "android", "ios"]


class Selector(Open):
    t: Literal["selector"]
    value: str


class ErrorMessage(Open):
    t: Literal["error"]
    message: str


Target = Annotated[Element | Page | Flow | Platform | Selector | ErrorMessage, Field(discriminator="t")]


class Anchor(Open):
    """What a record is tied to: as it was seen, and as it is compared."""

    raw: Target
    normalized: Target


class Scope(Open):
    tier: Literal["global", "product", "suite", "test"]
    key: str | None = None


class Record(Closed):
    """The frontmatter of `record.md` (contract, section 3)."""

    schemaVersion: int
    id: str
    kind: Literal["fact", "caution", "procedure", "unknown", "policy"]
    subtype: Literal["selector", "behavioral", "navigational", "measurement"] | None = None
    anchors: list[Anchor]
    scope: Scope
    createdAtOrdinal: Ordinal
    originClass: Literal["user", "agent-verified"]
    evidenceIncomplete: bool


class Parameter(Open):
    name: str
    type: str
    example: Any = None


class Action(Open):
    action: str
    anchor: dict[str, Any] | None = None
    value: Any = None


class Procedure(Open):
    """The fenced `json` block in a procedure's Detail (contract, section 3)."""

    parameters: list[Parameter]
    actions: Annotated[list[Action], Field(min_length=1)]


# evidence/outcomes.jsonl ----------------------------------------------------------------------------------------------


class Event(Open):
    """One line of the outcome log (contract, section 5)."""

    buildOrdinal: Ordinal
    origin: Literal["user", "agent-verified"]
    type: Literal[
        "confirmed", "contradicted", "helpful", "harmful", "promoted", "superseded", "deprecated", "window-close",
        "retracted", "overturned",
    ]  # fmt: skip
    id: str | None = None
    at: Instant | None = None
    run: str | None = None
    actor: str | None = None
    note: str | None = None
    test: str | None = None
    step: Step | None = None
    path: Literal["deterministic-verdict-floor", "gate1-lower-trust", "gate1+gate2", "user-sovereign"] | None = None
    by: str | None = None
    reason: Literal["rejected", "forgotten", "retired"] | None = None
    retracts: list[str] | None = None
    overturns: str | None = None


# relations.json -------------------------------------------------------------------------------------------------------


class Relation(Open):
    type: str
    target: str
    atOrdinal: Ordinal | None = None
    note: str | None = None
    collected: bool | None = None


class Relations(Open):
    """Links to other records (contract, section 7)."""

    relations: list[Relation]


# manifest.json --------------------------------------------------------------------------------------------------------


class Sealed(Open):
    hash: Hash
    size: Whole | None = None


class Manifest(Open):
    """The content hash of every committed file of the bundle but itself (contract, section 8)."""

    schemaVersion: int | None = None
    algorithm: str | None = None
    files: dict[str, Sealed | Hash]


# The rest of a bundle (contract, section 9): every field may be missing, since other writers' shapes are not public. -----


class Writer(Open):
    by: Literal["template", "model", "person"] | None = None
    name: str | None = None


class Provenance(Open):
    """Where a record came from."""

    run: str | None = None
    buildOrdinal: Ordinal | None = None
    mode: Literal["local", "ci"] | None = None
    test: str | None = None
    step: Step | None = None
    writer: Writer | None = None
    at: Instant | None = None


class Observation(Open):
    """One line of `observations.jsonl`."""

    id: str | None = None
    kind: Literal["element", "value", "navigation", "failure", "flow"] | None = None
    run: str | None = None
    test: str | None = None
    step: Step | None = None


class Gate(Open):
    """One line of `evidence/gates.jsonl`: one decision of a gate."""

    gate: str | None = None
    passed: bool | None = None
    reason: str | None = None
    buildOrdinal: Ordinal | None = None
    at: Instant | None = None


class Baseline(Open):
    n: Whole | None = None
    median: Number | None = None
    mad: Number | None = None


class Sample(Open):
    buildOrdinal: Ordinal | None = None
    value: Number | None = None


class Measurement(Open):
    """`evidence/measurements.json`: the baseline of a numeric measurement, and its newest samples."""

    unit: str | None = None
    baseline: Baseline | None = None
    samples: list[Sample] | None = None


class Artifact(Open):
    path: str | None = None
    kind: Literal["screenshot", "snapshot"] | None = None
    hash: str | None = None
    step: Step | None = None


class Artifacts(Open):
    """`artifacts.index.json`: the screenshots and snapshots the record points to."""

    artifacts: list[Artifact] | None = None


class Tests(Open):
    passed: Whole | None = None
    failed: Whole | None = None
    flaky: Whole | None = None


class Run(Open):
    """One line of a product's `runs.jsonl`."""

    ordinal: Ordinal
    run: str | None = None
    at: Instant | None = None
    mode: Literal["local", "ci"] | None = None
    commit: str | None = None
    tests: Tests | None = None


class RelationList(RootModel[list[Relation]]):
    """The bare list of relations that is read too."""


# What is published: file name of the schema -> model.
SCHEMAS: dict[str, type[BaseModel]] = {
    "record": Record,
    "event": Event,
    "relations": Relations,
    "manifest": Manifest,
    "provenance": Provenance,
    "observation": Observation,
    "measurement": Measurement,
    "gate": Gate,
    "artifacts-index": Artifacts,
    "run": Run,
    "procedure": Procedure,
}
