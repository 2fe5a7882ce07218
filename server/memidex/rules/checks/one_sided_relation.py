"""A relation lacks its inverse on the record that it names.

Who reads only the other record does not learn of it: a record that was replaced looks as if it still held. `supersedes` and
`superseded-by` are each other's inverse; `conflicts-with`, `equivalent-to` and `relates-to` stand on both records; the other
types go one way.

```flagged
-- relations.json --
{"relations":[{"type":"supersedes","target":"@b","atOrdinal":2}]}
                                            ^^^^
-- b/relations.json --
{
  "relations": []
}
```

```fixed
-- relations.json --
{"relations":[{"type":"supersedes","target":"@b","atOrdinal":2}]}
-- b/relations.json --
{
  "relations": [
    {
      "type": "superseded-by",
      "target": "@a",
      "atOrdinal": 2
    }
  ]
}
```

```flagged
-- relations.json --
{"relations":[{"type":"conflicts-with","target":"@b"}]}
                                                ^^^^
-- b/relations.json --
{"relations":[{"type":"derived-from","target":"@a"}]}
```

```fixed
-- relations.json --
{"relations":[{"type":"conflicts-with","target":"@b"}]}
-- b/relations.json --
{"relations":[{"type":"derived-from","target":"@a"},{"type":"conflicts-with","target":"@a"}]}
```

```clean
-- relations.json --
{"relations":[{"type":"proposed-supersession-of","target":"@b"},{"type":"relates-to","target":"@c"}]}
-- b/record.md --
-- c/relations.json --
{"relates-to":["@a"]}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex.places import Place
from memidex.records.memidex.vocabulary import INVERSE
from memidex.rules.relation_texts import RELATIONS, addition, called, found, target_at, texts
from memidex.rules.rule import Fix, Related, Report, Rule
from memidex.store.snapshot import Entry, Root


def check(root: Root, entry: Entry) -> Iterable[Report]:
    for relation in entry.relations:
        if relation.type in INVERSE and not relation.collected:
            other = found(root, relation.target)
            if other is not None and not answers(root, other, INVERSE[relation.type], entry):
                return unanswered(root, entry)
    return ()


def answers(root: Root, other: Entry, kind: str, entry: Entry) -> bool:
    for relation in other.relations:
        if relation.type == kind:
            target = relation.target
            if target == entry.id or target == entry.folder:
                return True
            back = found(root, target)
            if back is not None and back.directory == entry.directory:
                return True
    return other.directory == entry.directory  # related to itself: bad-relation


def unanswered(root: Root, entry: Entry) -> Iterator[Report]:
    bundle = texts(root, entry)
    if not bundle:
        return
    for index, relation in enumerate(entry.relations):
        inverse = INVERSE.get(relation.type)
        other = found(root, relation.target) if inverse and not relation.collected else None
        if not inverse or other is None or answers(root, other, inverse, entry):
            continue
        there = root.bundle(other)
        if there is None:
            continue
        file = there.files.get(RELATIONS)
        if RELATIONS in there.faults or (file and file.tree is None):
            continue  # what cannot be read may well have it; that is reported there
        added = addition(there, inverse, entry.id, relation.ordinal)
        fixes = (Fix(f"Add {inverse} to {other.id}", (added,), safe=True),) if added else ()
        near = Related(
            other.directory,
            RELATIONS if file else "record.md",
            Place() if file else Place(("id",)),
            "the inverse belongs here",
        )
        message = f"`{relation.type}` names {called(other)}, which has no `{inverse}` back to this record"
        yield Report(RELATIONS, target_at(bundle, index), message, fixes, (near,))


RULE = Rule("MX304", "one-sided-relation", "warning", store=check)
