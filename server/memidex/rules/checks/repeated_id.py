"""Two folders of a root hold records of one id.

An id is one record's address. A copied folder, or one record learned for two products, makes every relation and every lookup
find either.

```flagged
-- record.md --
id: "@a"
    ^^^^
-- b/record.md --
id: "@a"
    ^^^^
```

```clean
-- b/record.md --
id: "@b"
```
"""

from __future__ import annotations

from collections.abc import Iterable

from memidex.records.memidex.places import Place
from memidex.rules.rule import Related, Report, Rule
from memidex.store.snapshot import Entry, Root

MAX_SHOWN = 10


def check(root: Root, entry: Entry) -> Iterable[Report]:
    folders = root.ids.get(entry.id, ())
    if len(folders) < 2:
        return ()
    others = sorted(
        other.directory
        for other in root.all_of(entry.id)
        if other.id == entry.id and other.directory != entry.directory
    )
    if not others:
        return ()
    place = Place(("id",))
    near = tuple(Related(other, "record.md", place, "the same id") for other in others[:MAX_SHOWN])
    where = others[0].removeprefix(root.path + "/") + (f" and {len(others) - 1} more" if len(others) > 1 else "")
    return [Report("record.md", place, f"{entry.id} is also the id of the record in {where}", related=near)]


RULE = Rule("MX316", "repeated-id", "error", store=check)
