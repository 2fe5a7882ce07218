"""A relation is not of the shape of one, or relates a record to itself.

A relation has a `type` and a `target`, both text; a record is never its own successor, rival or source.

```flagged
-- relations.json --
{"relations":[{"type":"relates-to"}]}
              ^^^^^^^^^^^^^^^^^^^^^
```

```flagged
-- relations.json --
{"relations":[{"type":"derived-from","target":"@a"}]}
                                              ^^^^
```

```clean
-- relations.json --
{"relations":[{"type":"derived-from","target":"@b"}]}
-- b/relations.json --
{"derived-from":["@a"]}
```
"""

from __future__ import annotations

from collections.abc import Iterable

from memidex.records.memidex.bundle import Bundle
from memidex.rules.relation_texts import RELATIONS, address, target_at
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterable[Report]:
    file = bundle.files.get(RELATIONS)
    if not file:
        return ()
    reports = [
        Report(RELATIONS, problem.at, problem.message) for problem in file.problems if problem.rule == "bad-relation"
    ]
    relations = bundle.relations.relations
    if relations:
        own = (bundle.record.id, bundle.folder)
        for index, relation in enumerate(relations):
            if relation.target in own or (len(relation.target) < 100 and address(root, relation.target) in own):
                message = f"`{relation.type}` relates the record to itself; it should name another record"
                reports.append(Report(RELATIONS, target_at(bundle, index), message))
    return reports


RULE = Rule("MX303", "bad-relation", "error", bundle=check)
