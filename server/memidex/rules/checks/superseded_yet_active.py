"""An active record supersedes this one, and this one is active too.

Both are served though one was meant to replace the other: the `superseded` event is missing here, or was taken back while the
replacement stayed.

```flagged
-- relations.json --
{"relations":[{"type":"superseded-by","target":"@b"}]}
                                               ^^^^
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
```

```flagged
-- record.md --
id: "@a"
    ^^^^
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
```

```clean
-- relations.json --
{"relations":[{"type":"superseded-by","target":"@b"}]}
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"superseded","by":"@b"}
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.rules.relation_texts import called, related, relation_at
from memidex.rules.rule import Related, Report, Rule
from memidex.store.snapshot import Entry, Root


def check(root: Root, entry: Entry) -> Iterable[Report]:
    if entry.standing.status == "active" and related(root, entry, "superseded-by", "supersedes"):
        return still_active(root, entry)
    return ()


def still_active(root: Root, entry: Entry) -> Iterator[Report]:
    active = [
        other for other in root.successors(entry) if other.status == "active" and other.directory != entry.directory
    ]
    if active:
        file, place = relation_at(root.bundle(entry), root, active[0], "superseded-by")
        near = tuple(
            Related(
                other.directory,
                *relation_at(root.bundle(other), root, entry, "supersedes"),
                "active, and supersedes it",
            )
            for other in active[:10]
        )
        yield Report(
            file, place, f"this record is active, and so is {called(active[0])}, which supersedes it", related=near
        )


RULE = Rule("MX313", "superseded-yet-active", "error", store=check)
