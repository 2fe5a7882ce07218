"""Eight or more anchors came new into one scope within the five newest runs.

So much at once is more often a changed test, another product's run or a broken page than knowledge: look before it is
believed. It is told once, on the newest of the records, and no longer when newer runs bring less.

```flagged
-- a/record.md --
-- b/record.md --
-- c/record.md --
-- d/record.md --
-- e/record.md --
-- f/record.md --
-- g/record.md --
-- h/record.md --
createdAtOrdinal: 2
scope: {"tier":"product","key":"shop"}
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
```

```clean
-- a/record.md --
-- b/record.md --
-- c/record.md --
-- d/record.md --
-- e/record.md --
-- f/record.md --
-- g/record.md --
```

```clean
-- a/record.md --
-- b/record.md --
-- c/record.md --
-- d/record.md --
-- e/record.md --
-- f/record.md --
-- g/record.md --
-- h/record.md --
createdAtOrdinal: 2
-- runs.jsonl --
{"ordinal":1}
{"ordinal":2}
{"ordinal":3}
{"ordinal":4}
{"ordinal":5}
{"ordinal":6}
```
"""

from __future__ import annotations

from collections.abc import Iterable

from memidex.records.memidex.places import Place
from memidex.rules.rule import Related, Report, Rule
from memidex.store import churn
from memidex.store.snapshot import Entry, Root

MAX_SHOWN = 10


def check(root: Root, entry: Entry) -> Iterable[Report]:
    if entry.scope is None or not churn.is_newest_first(root, entry):
        return ()
    found = churn.burst(root, entry.scope, entry.product)
    if not found:
        return ()
    others = found.records[-2 : -2 - MAX_SHOWN : -1]
    near = tuple(
        Related(folder, "record.md", Place(("anchors", 0)), f"new at build {root.entries[folder].created}")
        for folder in others
    )
    message = f"{found.anchors} new anchors came into scope {entry.scope} since build {found.since}; look whether they belong there"
    return [Report("record.md", Place(("scope",)), message, related=near)]


RULE = Rule("MX315", "anchor-burst", "info", store=check)
