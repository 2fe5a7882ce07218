"""A field that the format knows has a value of another type, or none of its words.

Only what is known is judged: a field that is missing, and one that the format does not have, are no findings in these
files, since other writers have their own. A manifest of a shape that is not known is a warning, and nothing more is
said of the bundle's integrity.

```flagged
-- provenance.json --
{"run":"run-1","buildOrdinal":"one"}
                              ^^^^^
```

```flagged
-- manifest.json --
{"files":3}
         ^
```

```clean
-- provenance.json --
{"run":"run-1","pipeline":"nightly"}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    for file in bundle.files.values():
        for problem in file.problems:
            if problem.rule == "bad-value":
                shapeless = problem.value == "manifest" and file.name == "manifest.json"
                yield Report(file.name, problem.at, problem.message, severity="warning" if shapeless else None)


RULE = Rule("MX407", "bad-value", "error", bundle=check)
