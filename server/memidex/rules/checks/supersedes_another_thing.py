"""A record supersedes one that is about something else.

A replacement is of the same kind, main anchor and scope; otherwise it retires knowledge that it says nothing about. A changed
anchor is right where `renamed-from` says that the thing was renamed.

```flagged
-- relations.json --
{"relations":[{"type":"supersedes","target":"@b"}]}
                                            ^^^^
-- b/relations.json --
{"relations":[{"type":"superseded-by","target":"@a"}]}
```

```clean
-- relations.json --
{"relations":[{"type":"supersedes","target":"@b"},{"type":"supersedes","target":"@c"},{"type":"renamed-from","target":"@c"}]}
-- b/record.md --
anchors: [{"raw":{"t":"el","role":"button","name":"a","ordinal":0},"normalized":{"t":"el","role":"button","name":"a","ordinal":0}}]
-- c/relations.json --
{"relations":[{"type":"superseded-by","target":"@a"}]}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex.places import Place
from memidex.rules.relation_texts import RELATIONS, called, found, same, target_at, texts
from memidex.rules.rule import Related, Report, Rule
from memidex.store.snapshot import Entry, Root


def check(root: Root, entry: Entry) -> Iterable[Report]:
    for relation in entry.relations:
        if relation.type == "supersedes" or relation.type == "superseded-by":
            other = found(root, relation.target)
            if other is not None and differences(
                root, *((entry, other) if relation.type == "supersedes" else (other, entry))
            ):
                return strays(root, entry)
    return ()


def differences(root: Root, new: Entry, old: Entry) -> list[str]:
    """In what the two differ that should be equal; what either does not say is no difference."""
    told: list[str] = []
    if new.kind != old.kind and new.kind and old.kind:
        told.append(f"kind ({new.kind}, not {old.kind})")
    moved = new.main != old.main and new.main is not None and old.main is not None
    if moved and not any(same(found(root, target), old) for target in new.related("renamed-from")):
        told.append(f"main anchor ({new.main}, not {old.main})")
    if new.scope != old.scope and new.scope is not None and old.scope is not None:
        told.append(f"scope ({new.scope}, not {old.scope})")
    return told


def strays(root: Root, entry: Entry) -> Iterator[Report]:
    bundle = texts(root, entry)
    if not bundle:
        return
    for index, relation in enumerate(entry.relations):
        if relation.type not in ("supersedes", "superseded-by"):
            continue
        other = found(root, relation.target)
        if other is None or other.directory == entry.directory:
            continue
        if relation.type == "superseded-by" and any(
            same(found(root, target), entry) for target in other.related("supersedes")
        ):
            continue  # told on the newer record
        new, old = (entry, other) if relation.type == "supersedes" else (other, entry)
        told = differences(root, new, old)
        if told:
            near = Related(other.directory, "record.md", Place(("anchors", 0)), f"what {other.id} is about")
            which = f"supersedes {called(other)}" if new is entry else f"is superseded by {called(other)}"
            yield Report(
                RELATIONS,
                target_at(bundle, index),
                f"this record {which} with another {' and '.join(told)}",
                related=(near,),
            )


RULE = Rule("MX312", "supersedes-another-thing", "warning", store=check)
