"""A file of the bundle is there and cannot be read: no permission, a failing disk, or a folder where a file belongs.

Nothing of the file is known, so the record is judged without it.

```flagged
-- relations.json (folder) --
```

```clean
-- relations.json --
{"relations":[]}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.rule import Place, Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    for name, fault in bundle.faults.items():
        if fault.why in ("unreadable", "not-a-file"):
            yield Report(name or "record.md", Place(), f"{name}: {fault.message}" if name else fault.message)


RULE = Rule("MX412", "unreadable-file", "error", bundle=check)
