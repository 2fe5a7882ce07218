"""Two live records supersede this one.

Only one of them can be its replacement; the other is served beside it, or a correction was made twice on two branches.

```flagged
-- relations.json --
{"relations":[{"type":"superseded-by","target":"@b"}]}
                                               ^^^^
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
-- c/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
```

```clean
-- relations.json --
{"relations":[{"type":"superseded-by","target":"@b"},{"type":"superseded-by","target":"@c"}]}
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
-- c/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
-- c/evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"deprecated","reason":"rejected"}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.rules.relation_texts import called, related, relation_at
from memidex.rules.rule import Related, Report, Rule
from memidex.store.snapshot import Entry, Root

MAX_SHOWN = 10


def check(root: Root, entry: Entry) -> Iterable[Report]:
    if not related(root, entry, "superseded-by", "supersedes"):
        return ()
    live = [other for other in root.successors(entry) if other.standing.live and other.directory != entry.directory]
    return rivals(root, entry, live) if len(live) > 1 else ()


def rivals(root: Root, entry: Entry, live: list[Entry]) -> Iterator[Report]:
    bundle = root.bundle(entry)
    places = [relation_at(bundle, root, other, "superseded-by") for other in live]
    file, place = next((found for found in reversed(places) if found[0] != "record.md"), places[0])
    near = [
        Related(
            other.directory,
            *relation_at(root.bundle(other), root, entry, "supersedes"),
            f"{other.id} is {other.status}",
        )
        for other in live[:MAX_SHOWN]
    ]
    names = " and ".join(called(other) for other in live[:3]) + (f" and {len(live) - 3} more" if len(live) > 3 else "")
    yield Report(
        file, place, f"{len(live)} live records supersede this one, and only one can: {names}", related=tuple(near)
    )


RULE = Rule("MX307", "two-successors", "error", store=check)
