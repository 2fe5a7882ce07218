"""A relation has a type that the format does not have.

It is kept, since a newer writer may know it, but it joins nothing: no view shows it and no rule follows it.

```flagged
-- relations.json --
{"relations":[{"type":"superceded-by","target":"@b"}]}
                      ^^^^^^^^^^^^^^^
-- b/record.md --
```

```fixed
-- relations.json --
{"relations":[{"type":"superseded-by","target":"@b"}]}
-- b/record.md --
```

```clean
-- relations.json --
{"relations":[{"type":"derived-from","target":"@b"}]}
-- b/record.md --
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.vocabulary import RELATIONS as TYPES
from memidex.rules.nearest import nearest
from memidex.rules.relation_texts import RELATIONS, type_at
from memidex.rules.rule import Fix, Report, Rule, edit
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterable[Report]:
    for relation in bundle.relations.relations:
        if relation.type not in TYPES:
            return unknown(bundle)
    return ()


def unknown(bundle: Bundle) -> Iterator[Report]:
    for index, relation in enumerate(bundle.relations.relations):
        if relation.type not in TYPES:
            place = type_at(bundle, index)
            meant = nearest(relation.type, TYPES)
            fixes = (Fix(f"Change to {meant}", (edit(bundle, RELATIONS, place, f'"{meant}"'),)),) if meant else ()
            yield Report(
                RELATIONS, place, f'"{relation.type}" is no type of relation; it can be {", ".join(TYPES)}', fixes
            )


RULE = Rule("MX302", "unknown-relation-type", "warning", bundle=check)
