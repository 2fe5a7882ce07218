"""The closed lists of the language, in the seed's order, and what each word means to a reader."""

from __future__ import annotations

from typing import Final

SCHEMA_VERSION: Final = 2

KINDS: Final[dict[str, str]] = {
    "fact": "Something true about the app.",
    "caution": "A known failure mode, learned from a test that timed out, flaked or met a broken environment.",
    "procedure": "A flow that passed end to end, kept as a replayable list of actions; served by its own matcher.",
    "unknown": "An open question; never served as a hint.",
    "policy": "A QA rule held as a record; accepting it appends the rule to `policies.md`.",
}
PROMOTABLE_KINDS: Final = frozenset({"fact", "caution"})

SUBTYPES: Final[dict[str, str]] = {
    "selector": "How an element is located.",
    "behavioral": "How an element behaves.",
    "navigational": "Where an element leads.",
    "measurement": "A value that a step reported, with a baseline.",
}

ANCHORS: Final[dict[str, str]] = {
    "page": "A route or URL.",
    "flow": "A named flow, such as a test.",
    "el": "An element, by role, accessible name and position.",
    "platform": "`web`, `android` or `ios`, so that web and mobile facts stay apart.",
    "selector": "A literal selector.",
    "error": "An error message.",
}
# The payload of each anchor, in the order the slug of an id uses (contract, sections 3 and 4).
ANCHOR_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "el": ("role", "name", "ordinal"),
    "page": ("url",),
    "flow": ("name",),
    "platform": ("platform",),
    "selector": ("value",),
    "error": ("message",),
}
PLATFORMS: Final = ("web", "android", "ios")

TIERS: Final[dict[str, str]] = {
    "global": "Everywhere.",
    "product": "One product; `key` is the name of the product's folder.",
    "suite": "One suite of tests.",
    "test": "One test.",
}

ORIGINS: Final[dict[str, str]] = {
    "user": "A person, through a mark or a review; trust starts from α 3, β 1.",
    "agent-verified": "Learned from a run; trust starts from α 2, β 1.",
}

FIELDS: Final[dict[str, str]] = {
    "schemaVersion": "The version of the record format; 2.",
    "id": "The record's id: its kind, a slug of its main anchor and 16 hex digits. Equal to the folder's name.",
    "kind": "What kind of knowledge this is: fact, caution, procedure, unknown or policy.",
    "subtype": "What a fact is about: selector, behavioral, navigational or measurement. Only facts have one.",
    "anchors": "What the record is tied to in the app. The first is the main anchor and part of the id.",
    "scope": "Where the record applies: global, product, suite or test.",
    "createdAtOrdinal": "The run count at which the record was created; its validity starts here.",
    "originClass": "Where the record came from: a person (user) or a run (agent-verified). Sets where trust starts.",
    "evidenceIncomplete": "Whether evidence is missing; a candidate with incomplete evidence is not promoted.",
}
# Worked out from the log each time a record is read; never stored (contract, section 3).
DERIVED_FIELDS: Final = frozenset(
    {
        "trust", "servedTrust", "status", "confirmed", "contradicted", "helpful", "harmful", "confirmedCount",
        "contradictedCount", "helpfulCount", "harmfulCount", "counts", "counters", "validFrom", "validTo", "validity",
        "active", "promoted", "promotedAt", "supersededBy", "supersededAt", "deprecatedAt", "lastConfirmed",
        "unconfirmedSince",
    }
)  # fmt: skip

SECTIONS: Final[dict[str, str]] = {
    "Summary": "The claim, in one or two sentences; part of the record's identity.",
    "Detail": "How it was seen, and what else a reader needs.",
}

EVENTS: Final[dict[str, str]] = {
    "confirmed": "Evidence for the record.",
    "contradicted": "Evidence against the record.",
    "helpful": "The record was served and helped; a quarter of a confirmation.",
    "harmful": "The record was served and hurt; a quarter of a contradiction.",
    "promoted": "A candidate became active.",
    "superseded": "Replaced by a newer record.",
    "deprecated": "Rejected, forgotten or retired; kept as a tombstone.",
    "window-close": "It stopped being true at this build.",
    "retracted": "A rollback: the named events count for nothing.",
    "overturned": "A person overruled the named event: it counts for nothing.",
}
# Ties in one instant are read in this order (contract, section 5, "lifecycle rank").
EVENT_RANK: Final[dict[str, int]] = {name: rank for rank, name in enumerate(EVENTS)}
PROMOTION_PATHS: Final = ("deterministic-verdict-floor", "gate1-lower-trust", "gate1+gate2", "user-sovereign")
DEPRECATION_REASONS: Final = ("rejected", "forgotten", "retired")

RELATIONS: Final[dict[str, str]] = {
    "supersedes": "This record replaces the target.",
    "superseded-by": "The target replaces this record.",
    "derived-from": "This record was worked out from the target.",
    "conflicts-with": "Both cannot be true.",
    "relates-to": "The two are about the same thing.",
    "renamed-from": "The target's anchor was renamed to this one's.",
    "equivalent-to": "Both say the same.",
    "proposed-supersession-of": "A proposal: this would replace the target; the target is untouched until a person applies it.",
}
INVERSE: Final[dict[str, str]] = {
    "supersedes": "superseded-by",
    "superseded-by": "supersedes",
    "conflicts-with": "conflicts-with",
    "equivalent-to": "equivalent-to",
    "relates-to": "relates-to",
}

# The committed files of a bundle (contract, section 2), and how much the lack of one matters.
FILES: Final[dict[str, str]] = {
    "record.md": "error",
    "evidence/outcomes.jsonl": "error",
    "provenance.json": "error",
    "manifest.json": "error",
    "observations.jsonl": "warning",
    "relations.json": "warning",
    "evidence/evidence.md": "warning",
    "evidence/gates.jsonl": "",
    "evidence/measurements.json": "",
    "artifacts.index.json": "",
}
MAX_FILE_SIZE: Final = 8 * 1024 * 1024
