"""A relation names a record that is not there.

The id may be misspelt, or the record may have been lost in a merge or removed by hand. A record that retention removed is
marked `"collected": true` in the relations that remain, and is no finding. A short id, which is another record's or
nobody's on the next machine, is reported as `machine-local-target`.

```flagged
-- relations.json --
{"relations":[{"type":"derived-from","target":"fact-el-button-b-3e23e816003959a4"}]}
                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
-- b/record.md --
```

```fixed
-- relations.json --
{"relations":[{"type":"derived-from","target":"@b"}]}
-- b/record.md --
```

```flagged
-- relations.json --
{
  "relations": [
    {"type": "relates-to", "target": "@b"},
    {"type": "derived-from", "target": "fact-el-button-gone-0000000000000000"}
                                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  ]
}
-- b/relations.json --
{"relations":[{"type":"relates-to","target":"@a"}]}
```

```fixed
-- relations.json --
{
  "relations": [
    {"type": "relates-to", "target": "@b"}
  ]
}
-- b/relations.json --
{"relations":[{"type":"relates-to","target":"@a"}]}
```

```clean
-- relations.json --
{"relations":[{"type":"relates-to","target":"@b"},{"type":"supersedes","target":"@c","collected":true}]}
-- b/relations.json --
{"relations":[{"type":"relates-to","target":"@a"}]}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex import ids
from memidex.records.memidex.values import Relation
from memidex.rules.relation_texts import RELATIONS, found, removal, target_at, texts
from memidex.rules.rule import Fix, Report, Rule, edit
from memidex.store.snapshot import Entry, Root, normal_address

FEW = 3
"""Characters that a misspelt id may be away from the one that was meant."""


def check(root: Root, entry: Entry) -> Iterable[Report]:
    for relation in entry.relations:
        if leads_nowhere(root, relation):
            return dangling(root, entry)
    return ()


def leads_nowhere(root: Root, relation: Relation) -> bool:
    if relation.collected or found(root, relation.target) is not None:
        return False
    return not ids.SHORT_ID.fullmatch(normal_address(relation.target))


def dangling(root: Root, entry: Entry) -> Iterator[Report]:
    bundle = texts(root, entry)
    if not bundle:
        return
    for index, relation in enumerate(entry.relations):
        if not leads_nowhere(root, relation):
            continue
        place = target_at(bundle, index)
        meant = nearest_id(root, entry, relation.target)
        fixes = [Fix(f"Change to {meant}", (edit(bundle, RELATIONS, place, f'"{meant}"'),))] if meant else []
        removed = removal(bundle, index)
        if removed:
            fixes.append(Fix("Remove the relation", (removed,), preferred=False))
        yield Report(
            RELATIONS,
            place,
            f'`{relation.type}` names "{relation.target}", and no such record is in this root',
            tuple(fixes),
        )


def nearest_id(root: Root, entry: Entry, target: str) -> str | None:
    """The one record id that a target is surely meant to be: a few characters away, or with the same hash; else None."""
    if not ids.kind_of(target) and len(target) < 20:
        return None
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    words = list(root.ids)
    near = process.extract(target, words, scorer=Levenshtein.distance, score_cutoff=FEW, limit=3)
    near = [found for found in near if found[0] != entry.id]
    if near and (len(near) == 1 or near[0][1] < near[1][1]):
        return near[0][0]
    ending = target[-17:]
    alike = (
        [word for word in words if word.endswith(ending) and word != entry.id]
        if ids.kind_of(target) and not near
        else []
    )
    return alike[0] if len(alike) == 1 else None


RULE = Rule("MX301", "relation-to-nowhere", "error", store=check)
