"""Nothing has confirmed the record for long, so it is served with less trust.

Five runs without a confirmation (three for a measurement) lower its trust to six tenths, once. It may still be true:
confirm it, or let the next run that meets it do so.

```flagged
-- record.md --
id: "@a"
    ^^^^
-- runs.jsonl --
{"ordinal":1}
{"ordinal":2}
{"ordinal":3}
{"ordinal":4}
{"ordinal":5}
{"ordinal":6}
```

```clean
-- record.md --
createdAtOrdinal: 1
-- runs.jsonl --
{"ordinal":1}
{"ordinal":2}
{"ordinal":3}
{"ordinal":4}
{"ordinal":5}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.history import trust as sums
from memidex.learning.review import fading_since
from memidex.rules.rule import Place, Report, Rule
from memidex.store.snapshot import Entry, Root


def check(root: Root, entry: Entry) -> Iterator[Report]:
    since = fading_since(root, entry)
    if since is not None:
        before, now = sums.shown(entry.standing.trust), sums.shown(root.served_trust(entry))
        message = f"unconfirmed since build {since}: served with trust {now} instead of {before}"
        yield Report("record.md", Place(("id",)), message)


RULE = Rule("MX503", "fading", "info", store=check)
