"""A record's card: everything that is known of one record, as plain JSON values (surfaces, section 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from memidex.history.standing import Standing, Step, standing, timeline
from memidex.learning.review import Item
from memidex.learning.serving import Run, held_reason
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import File
from memidex.records.memidex.render import bare, instant
from memidex.records.memidex.values import Flow
from memidex.store.snapshot import Entry, Root, normal_address


def card(root: Root, entry: Entry, as_of: int | None = None) -> dict[str, Any] | None:
    """The card of a record, as it is or as it was at build `as_of`; None where it was not there yet."""
    bundle = root.bundle(entry)
    head = row_of(root, entry, bundle, as_of)
    if head is None:
        return None
    path = head.pop("path")
    return {
        **{name: value for name, value in head.items() if name not in AFTER_DETAIL},
        "detail": bundle.record.detail if bundle else "",
        **{name: head[name] for name in AFTER_DETAIL},
        "events": [event_row(step) for step in steps(bundle, as_of)] if bundle else [],
        "path": path,
    }


AFTER_DETAIL = ("relations", "integrity", "servable", "heldReason")


def row(root: Root, entry: Entry, as_of: int | None = None) -> dict[str, Any] | None:
    """The card without its detail and events, for lists."""
    return row_of(root, entry, root.bundle(entry), as_of)


def row_of(root: Root, entry: Entry, bundle: Bundle | None, as_of: int | None) -> dict[str, Any] | None:
    if as_of is not None and entry.created > as_of:
        return None
    state = standing_of(entry, bundle, as_of)
    reason = held(root, entry, as_of)
    short = root.short(entry)
    return {
        "id": entry.id,
        "shortId": short,
        "uri": uri(root, entry),
        "format": "memidex",
        "kind": entry.kind or None,
        "subtype": entry.subtype,
        "scope": bare(entry.scope),
        "status": state.status,
        "trust": float(state.trust),
        "servedTrust": float(root.served_trust(entry, as_of, state)),
        "unconfirmedSince": root.unconfirmed_since(entry, as_of, state),
        "counts": {
            "confirmed": state.confirmed,
            "contradicted": state.contradicted,
            "helpful": state.helpful,
            "harmful": state.harmful,
        },
        "origin": state.origin,
        "validFrom": entry.created,
        "validTo": state.valid_to,
        "anchors": anchors(entry, bundle),
        "summary": entry.summary,
        "relations": list(relations(root, entry, as_of)),
        "integrity": bundle.integrity if bundle else "unknown",
        "servable": reason is None,
        "heldReason": reason,
        "path": f"{entry.directory}/record.md",
    }


def title(entry: Entry) -> str:
    """What a person knows the record by, not folded to one line; of a huge summary its beginning."""
    return entry.summary[:2_000].strip() or entry.id


def uri(root: Root, entry: Entry) -> str:
    """The record's address as an MCP resource, by its short id where it has one."""
    return f"agentqa://memory/{root.short(entry) or entry.id}"


def anchors(entry: Entry, bundle: Bundle | None) -> list[dict[str, Any]]:
    """The anchors as `record.md` has them."""
    if bundle:
        return bare(bundle.record.anchors)
    return [{"raw": bare(anchor), "normalized": bare(anchor)} for anchor in entry.anchors]


def standing_of(entry: Entry, bundle: Bundle | None, as_of: int | None) -> Standing:
    """The record's standing; as of a build it is folded again from the log."""
    if as_of is None or bundle is None:
        return entry.standing
    return standing(bundle.record, bundle.log, as_of)


# Relations ------------------------------------------------------------------------------------------------------------


def relations(root: Root, entry: Entry, as_of: int | None = None) -> Iterator[dict[str, Any]]:
    """The record's own relations in their order, then those that name it, each with the other record's status."""
    for relation in entry.relations:
        if known_at(relation.ordinal, as_of):
            other = root.find(relation.target)
            target = other.id if other else relation.target
            yield {"type": relation.type, "target": target, "direction": "out", "status": status_of(root, other, as_of)}
    names = {entry.id, entry.folder, root.short(entry)}
    for other, kind in root.links_to(entry):
        if as_of is None or any(
            relation.type == kind and normal_address(relation.target) in names and known_at(relation.ordinal, as_of)
            for relation in other.relations
        ):
            status = status_of(root, other, as_of)
            if as_of is None or status is not None:
                yield {"type": kind, "target": other.id, "direction": "in", "status": status}


def known_at(ordinal: int | None, as_of: int | None) -> bool:
    return as_of is None or ordinal is None or ordinal <= as_of


def status_of(root: Root, entry: Entry | None, as_of: int | None) -> str | None:
    """The status of a record; None where it is not there, or was not there yet."""
    if entry is None or (as_of is not None and entry.created > as_of):
        return None
    return standing_of(entry, None if as_of is None else root.bundle(entry), as_of).status


# Events ---------------------------------------------------------------------------------------------------------------

# By log file, with the two parts of the record that the fold looks at.
KNOWN_STEPS: WeakKeyDictionary[File, tuple[str, str, list[Step]]] = WeakKeyDictionary()


def steps(bundle: Bundle, as_of: int | None = None) -> list[Step]:
    """The log's timeline, in reading order; kept with the file, since hovers, hints and lenses all ask for it."""
    file = bundle.files.get("evidence/outcomes.jsonl")
    if file is None:
        return []
    if as_of is not None:
        return timeline(bundle.record, bundle.log, as_of)
    record = bundle.record
    known = KNOWN_STEPS.get(file)
    if known is None or known[:2] != (record.kind, record.origin):
        known = KNOWN_STEPS[file] = (record.kind, record.origin, timeline(record, bundle.log))
    return known[2]


def event_row(step: Step) -> dict[str, Any]:
    return {
        "id": step.identity,
        "type": step.event.type,
        "buildOrdinal": step.event.ordinal,
        "origin": step.event.origin,
        "at": instant(step.event.at) if step.event.at else None,
        "live": step.live,
        "trustAfter": float(step.trust),
        "statusAfter": step.status,
        "line": step.line + 1,
    }


# Serving --------------------------------------------------------------------------------------------------------------


def held(root: Root, entry: Entry, as_of: int | None = None) -> str | None:
    """Why no run of the record's own scope is served it; None where one is."""
    return held_reason(root, entry, own_run(entry, as_of))


def own_run(entry: Entry, as_of: int | None) -> Run:
    """The run that the record is for: of its scope, and of a procedure the test whose flow it is."""
    key = entry.scope.key if entry.scope else None
    tier = entry.scope.tier if entry.scope else None
    flow = next((anchor.name for anchor in entry.anchors if isinstance(anchor, Flow)), None)
    test = key if tier == "test" else flow if entry.kind == "procedure" else None
    return Run(entry.product, key if tier == "suite" else None, test, None, as_of)


def review(item: Item) -> dict[str, Any]:
    """Why a record waits for a person, beside its row."""
    return {"reason": item.reason, "message": item.message, "reasons": list(item.reasons), "risk": item.risk}
