"""An `unknown`: a question that nobody has answered yet.

It is raised instead of a guess, such as for an anchor whose facts keep changing, and is never served. Answer it by a
record of your own, or forget it.

```flagged
-- record.md --
kind: "unknown"
- subtype
id: "@a"
    ^^^^
```

```clean
-- record.md --
kind: "fact"
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.learning.review import is_question
from memidex.rules.rule import Place, Report, Rule
from memidex.store.snapshot import Entry, Root


def check(root: Root, entry: Entry) -> Iterator[Report]:
    if is_question(entry):
        yield Report("record.md", Place(("id",)), f"an open question since build {entry.created}: {entry.title}")


RULE = Rule("MX506", "open-question", "info", store=check)
