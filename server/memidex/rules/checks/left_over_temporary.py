"""A temporary file was left in the bundle, by memidex, an editor or a merge.

It is no part of the record and is not read. After a crash it may hold what was being written: look at it, then
remove it.

```flagged
-- record.md~ --
an editor's copy of the version before
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
```

```flagged
-- evidence/.memidex-x7k2.tmp --
half a line
^^^^^^^^^^^
```

```clean
-- record.md --
evidenceIncomplete: false
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import LEFT_OVER, Bundle
from memidex.rules.rule import Place, Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    for name in bundle.others:
        if LEFT_OVER.fullmatch(name.rpartition("/")[2]):
            file = bundle.files.get(name)
            yield Report(
                name, file.source.line_span(0) if file else Place(), f"{name} is a temporary file that was left here"
            )


RULE = Rule("MX410", "left-over-temporary", "info", bundle=check)
