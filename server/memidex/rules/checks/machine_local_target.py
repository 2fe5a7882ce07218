"""A committed relation names its target by a short id or a URI.

Short ids are given by each machine for itself: `MEM-001` is another record on the next one. A record id is the same
everywhere.

```flagged
-- relations.json --
{"relations":[{"type":"derived-from","target":"agentqa://memory/@b"}]}
                                              ^^^^^^^^^^^^^^^^^^^^^
-- b/record.md --
```

```fixed
-- relations.json --
{"relations":[{"type":"derived-from","target":"@b"}]}
-- b/record.md --
```

```flagged
-- relations.json --
{"relations":[{"type":"derived-from","target":"MEM-1"}]}
                                              ^^^^^^^
```

```clean
-- relations.json --
{"relations":[{"type":"derived-from","target":"@b"}]}
-- b/record.md --
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex import ids
from memidex.rules.relation_texts import RELATIONS, found, target_at, texts
from memidex.rules.rule import Fix, Report, Rule, edit
from memidex.store.snapshot import Entry, Root


def check(root: Root, entry: Entry) -> Iterable[Report]:
    for relation in entry.relations:
        # The name of a kind, with which an id starts, has at least four letters.
        if ("-" in relation.target[:4] or ":" in relation.target) and local(relation.target):
            return locals_of(root, entry)
    return ()


def local(target: str) -> bool:
    return bool(ids.SHORT_ID.fullmatch(target) or ids.URI.fullmatch(target))


def locals_of(root: Root, entry: Entry) -> Iterator[Report]:
    bundle = texts(root, entry)
    if not bundle:
        return
    for index, relation in enumerate(entry.relations):
        if local(relation.target):
            place = target_at(bundle, index)
            other = found(root, relation.target)
            if other:
                fixes = (Fix(f"Change to {other.id}", (edit(bundle, RELATIONS, place, f'"{other.id}"'),), safe=True),)
                message = f'"{relation.target}" is an address of this machine; committed relations name {other.id}'
            else:
                fixes = ()
                message = f'"{relation.target}" is an address of one machine and unknown on this one; committed relations name a record id'
            yield Report(RELATIONS, place, message, fixes)


RULE = Rule("MX311", "machine-local-target", "warning", store=check)
