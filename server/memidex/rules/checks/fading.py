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
from memidex.learning.serving import was_confirmed_later
from memidex.rules.rule import Place, Report, Rule
from memidex.store.snapshot import Entry, Root


def check(root: Root, entry: Entry) -> Iterator[Report]:
    state = entry.standing
    served = state.status == "active" or (
        entry.kind == "procedure" and state.live and was_confirmed_later(entry, state)
    )
    if not served or is_fresh(root, entry):
        return
    since = root.unconfirmed_since(entry)
    if since is not None:
        before, now = sums.shown(state.trust), sums.shown(root.served_trust(entry))
        message = f"unconfirmed since build {since}: served with trust {now} instead of {before}"
        yield Report("record.md", Place(("id",)), message)


def is_fresh(root: Root, entry: Entry) -> bool:
    """Surely confirmed within the newest runs of the ledger; asked first since it looks at one number."""
    runs = root.product(entry.product).runs
    limit = sums.RUNS_UNTIL_MEASUREMENT_FADED if entry.subtype == "measurement" else sums.RUNS_UNTIL_FADED
    last = entry.standing.last_confirmed
    return bool(runs) and (len(runs) < limit or (entry.created if last is None else last) >= runs[-limit])


RULE = Rule("MX503", "fading", "info", store=check)
