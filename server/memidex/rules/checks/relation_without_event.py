"""The relations and the log of a record say different things of what superseded it.

`superseded-by` tells by which record it was replaced, the `superseded` event that and when it was. Status is worked out from
the event alone: with only the relation the record is served on; with only the event nobody finds what replaced it.

```flagged
-- relations.json --
{"relations":[{"type":"superseded-by","target":"@b"}]}
                                               ^^^^
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
```

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"superseded","by":"@b"}
                                                                     ^^^^
-- b/record.md --
```

```flagged
-- relations.json --
{"relations":[{"type":"superseded-by","target":"@b"}]}
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"superseded","by":"@c"}
                                                                     ^^^^
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
-- c/record.md --
```

```clean
-- relations.json --
{"relations":[{"type":"superseded-by","target":"@b"}]}
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"superseded","by":"@b"}
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex.places import Place
from memidex.rules.log_events import LOG, at, counting
from memidex.rules.relation_texts import RELATIONS, address, target_at, texts
from memidex.rules.rule import Related, Report, Rule
from memidex.store.snapshot import Entry, Root


def check(root: Root, entry: Entry) -> Iterable[Report]:
    standing = entry.standing
    superseded = standing.status == "superseded"
    for relation in entry.relations:
        if relation.type == "superseded-by" and not (
            superseded and (standing.by is None or standing.by == relation.target)
        ):
            return differing(root, entry)
    if superseded or standing.by is not None:
        return (
            differing(root, entry)
            if standing.by is None or not any(r.type == "superseded-by" for r in entry.relations)
            else ()
        )
    return ()


def differing(root: Root, entry: Entry) -> Iterator[Report]:
    bundle = texts(root, entry)
    if not bundle:
        return
    events = [(line, event) for line, event in counting(bundle.log) if event.type == "superseded"]
    own = [(index, relation) for index, relation in enumerate(entry.relations) if relation.type == "superseded-by"]
    for index, relation in own if not events else ():
        message = f"`superseded-by` names {relation.target}, but no `superseded` event that counts is in the log, so the record is {entry.status}"
        yield Report(RELATIONS, target_at(bundle, index), message)
    # Where only the other record has the relation, one-sided-relation is reported there.
    names = {address(root, relation.target) for _, relation in own} | {other.id for other in root.successors(entry)}
    file = RELATIONS if RELATIONS in bundle.files else "record.md"
    place = target_at(bundle, own[0][0]) if own else Place() if file == RELATIONS else Place(("id",))
    there = Related(entry.directory, file, place, "the record's relations")
    for line, event in events:
        if not names:
            by = f" by {event.by}" if event.by else ""
            message = f"superseded{by} at build {event.ordinal}, but the record has no `superseded-by` relation"
            yield Report(LOG, at(line, "by" if event.by else "type"), message, related=(there,))
        elif event.by is not None and address(root, event.by) not in names:
            message = f"`by` names {event.by}, but by the relations {' and '.join(sorted(names))} superseded the record"
            yield Report(LOG, at(line, "by"), message, related=(there,))


RULE = Rule("MX306", "relation-without-event", "warning", store=check)
