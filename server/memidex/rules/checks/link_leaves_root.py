"""A symbolic link leads out of the knowledge root, in a circle or to nothing. It is not followed.

What it points to differs from machine to machine and is not in the repository, so nothing can be believed of it.
Put the file itself in the bundle.

```flagged
-- relations.json (link: /) --
```

```flagged
-- notes.txt (link: nowhere) --
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
        if fault.why == "link":
            yield Report(name, Place(), f"{name} is {fault.message}")


RULE = Rule("MX409", "link-leaves-root", "error", bundle=check)
