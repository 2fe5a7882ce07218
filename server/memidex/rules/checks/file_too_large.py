"""A file of the bundle is larger than 8 MiB and was not read.

No record needs that much; reading it would hold up everyone who opens the root. Nothing of the file is known, so the
record is judged without it. Big captures belong in `artifacts/`, which is not committed.

```flagged
-- observations.jsonl (size: 9000000) --
```

```clean
-- observations.jsonl (size: 0) --
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.rule import Place, Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    for name, fault in bundle.faults.items():
        if fault.why == "too-large":
            yield Report(name, Place(), f"{name} is too large: {fault.message}")


RULE = Rule("MX411", "file-too-large", "error", bundle=check)
