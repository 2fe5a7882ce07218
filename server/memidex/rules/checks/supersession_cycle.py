"""The record supersedes itself by way of others.

In a circle no record is the newest, so nothing tells which one holds. One of the relations is wrong; each record of the
circle shows it.

```flagged
-- relations.json --
{"relations":[{"type":"supersedes","target":"@b"},{"type":"superseded-by","target":"@c"}]}
                                                                                   ^^^^
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@c"},{"type":"superseded-by","target":"@a"}]}
                                                                                   ^^^^
-- c/relations.json --
{"relations":[{"type":"supersedes","target":"@a"},{"type":"superseded-by","target":"@b"}]}
                                                                                   ^^^^
```

```flagged
-- relations.json --
{"relations":[{"type":"supersedes","target":"@b"}]}
                                            ^^^^
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a"}]}
                                            ^^^^
```

```clean
-- relations.json --
{"relations":[{"type":"supersedes","target":"@b"}]}
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@c"},{"type":"superseded-by","target":"@a"}]}
-- c/relations.json --
{"relations":[{"type":"superseded-by","target":"@b"}]}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.rules.relation_texts import called, related, relation_at
from memidex.rules.rule import Related, Report, Rule
from memidex.store.snapshot import Entry, Root

MAX_STEPS = 1_000
"""Newer generations that are looked at from one record."""
MAX_SHOWN = 20


def check(root: Root, entry: Entry) -> Iterable[Report]:
    if related(root, entry, "superseded-by", "supersedes") and related(root, entry, "supersedes", "superseded-by"):
        return circles(root, entry)
    return ()


def circles(root: Root, entry: Entry) -> Iterator[Report]:
    circle = circle_of(root, entry)
    if not circle:
        return
    file, place = relation_at(root.bundle(entry), root, circle[0], "superseded-by")
    if file == "record.md":
        file, place = relation_at(root.bundle(entry), root, circle[-1], "supersedes")
    others = [Related(other.directory, *relation_at(root.bundle(other), root, after, "superseded-by"), f"superseded by {after.id}")
              for other, after in zip(circle, [*circle[1:], entry], strict=True)]  # fmt: skip
    way = " → ".join(called(other) for other in circle[:3]) + (
        f" → … ({len(circle) - 3} more)" if len(circle) > 3 else ""
    )
    yield Report(
        file, place, f"superseded in a circle: this record → {way} → this record", related=tuple(others[:MAX_SHOWN])
    )


def circle_of(root: Root, entry: Entry) -> list[Entry]:
    """The shortest way from the record over newer and newer ones back to it, without itself; empty where there is none."""
    came_from: dict[str, Entry | None] = {}
    waiting = [other for other in root.successors(entry) if other.directory != entry.directory]
    came_from.update((other.directory, None) for other in waiting)
    at = 0
    while at < len(waiting) and at < MAX_STEPS:
        here = waiting[at]
        at += 1
        for other in root.successors(here):
            if other.directory == entry.directory:
                way: list[Entry] = []
                step: Entry | None = here
                while step is not None:
                    way.append(step)
                    step = came_from[step.directory]
                return way[::-1]
            if other.directory not in came_from:
                came_from[other.directory] = here
                waiting.append(other)
    return []


RULE = Rule("MX305", "supersession-cycle", "error", store=check)
