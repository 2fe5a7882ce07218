"""A newer record replaced this one. It is kept for history and served to no run.

```flagged
-- record.md --
id: "@a"
    ^^^^
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"superseded","by":"@b"}
-- relations.json --
{"relations":[{"type":"superseded-by","target":"@b"}]}
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
```

```clean
-- record.md --
createdAtOrdinal: 1
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.rules.rule import Place, Related, Report, Rule
from memidex.store.snapshot import Entry, Root

ID = Place(("id",))


def check(root: Root, entry: Entry) -> Iterator[Report]:
    state = entry.standing
    if state.status != "superseded" or not entry.kind:
        return
    named = root.find(state.by) if state.by else None
    successors = [named] if named else root.successors(entry)
    by = " and ".join(other.id for other in successors) or state.by
    message = (
        "superseded"
        + (f" at build {state.valid_to}" if state.valid_to is not None else "")
        + (f" by {by}" if by else "")
    )
    related = tuple(
        Related(other.directory, "record.md", ID, f"it was replaced by this one: {other.title}") for other in successors
    )
    yield Report("record.md", ID, message, related=related, tags=("unnecessary",))


RULE = Rule("MX504", "superseded", "hint", store=check)
