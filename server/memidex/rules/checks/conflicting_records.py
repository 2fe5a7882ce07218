"""Two active records are known to conflict, and both are served.

`conflicts-with` says that both cannot be true. While both are active a run is told either.

```flagged
-- relations.json --
{"relations":[{"type":"conflicts-with","target":"@b"}]}
                                                ^^^^
-- b/relations.json --
{"relations":[{"type":"conflicts-with","target":"@a"}]}
                                                ^^^^
```

```clean
-- relations.json --
{"relations":[{"type":"conflicts-with","target":"@b"}]}
-- b/relations.json --
{"relations":[{"type":"conflicts-with","target":"@a"}]}
-- b/evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"deprecated","reason":"forgotten"}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.learning.review import conflicts
from memidex.records.memidex.places import Place
from memidex.rules.relation_texts import RELATIONS, called, found, target_at, texts
from memidex.rules.rule import Related, Report, Rule
from memidex.store.snapshot import Entry, Root


def check(root: Root, entry: Entry) -> Iterable[Report]:
    if entry.standing.status == "active":
        for relation in entry.relations:
            if relation.type == "conflicts-with":
                return reports(root, entry)
    return ()


def reports(root: Root, entry: Entry) -> Iterator[Report]:
    rivalling = {other.directory for other in conflicts(root, entry)}
    active = [
        (index, other)
        for index, relation in enumerate(entry.relations)
        if relation.type == "conflicts-with"
        and (other := found(root, relation.target)) is not None
        and other.directory in rivalling
    ]
    bundle = texts(root, entry) if active else None
    if not bundle:
        return
    for index, other in active:
        near = Related(other.directory, "record.md", Place(("## Summary",)), f"{other.id} claims this")
        yield Report(
            RELATIONS,
            target_at(bundle, index),
            f"this record and {called(other)} conflict, and both are active",
            related=(near,),
        )


RULE = Rule("MX309", "conflicting-records", "warning", store=check)
