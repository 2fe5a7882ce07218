"""The record was rejected, forgotten or retired. It stays as a tombstone, so that it is not learned again unnoticed.

```flagged
-- record.md --
id: "@a"
    ^^^^
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"deprecated","reason":"forgotten","actor":"mira","note":"The button is gone."}
```

```clean
-- record.md --
createdAtOrdinal: 1
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.history.standing import timeline
from memidex.records.memidex.values import Event
from memidex.rules.rule import Place, Report, Rule
from memidex.store.snapshot import Entry, Root


def check(root: Root, entry: Entry) -> Iterator[Report]:
    state = entry.standing
    if state.status != "deprecated" or not entry.kind:
        return
    event = last_word(root, entry)
    who = event.actor if event and event.actor else "a person" if state.ended_by == "user" else "a run"
    build = f" at build {event.ordinal}" if event else ""
    note = f": {' '.join(event.note.split())}" if event and event.note else ""
    yield Report(
        "record.md", Place(("id",)), f"{state.reason or 'deprecated'} by {who}{build}{note}", tags=("deprecated",)
    )


def last_word(root: Root, entry: Entry) -> Event | None:
    """The event that made it deprecated."""
    bundle = root.bundle(entry)
    steps = timeline(bundle.record, bundle.log) if bundle else []
    return next((step.event for step in reversed(steps) if step.effective and step.event.type == "deprecated"), None)


RULE = Rule("MX505", "deprecated", "hint", store=check)
