"""A file that belongs to every bundle is not there.

Without its record, its log, where it came from or its manifest a record cannot be judged, which is an error; without
observations, relations or the evidence for people it can, which is a warning. The baseline is needed by a measurement
that has a value observed.

A file that the manifest lists is reported at its entry there, any other at the record's id.

```flagged
-- record.md --
id: "@a"
    ^^^^
-- provenance.json (absent) --
```

```flagged
-- record.md --
subtype: "measurement"
id: "@a"
    ^^^^
-- observations.jsonl --
{"kind":"value","run":"run-1","test":"buys","step":1,"value":36,"unit":"€"}
```

```clean
-- record.md --
subtype: "measurement"
-- artifacts.index.json (absent) --
-- evidence/gates.jsonl (absent) --
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import WHOLE, Bundle
from memidex.rules.rule import Place, Report, Rule
from memidex.rules.sealed import BASELINE, NEEDED, needs, standing_place
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    files = bundle.files
    if WHOLE in bundle.faults:
        return
    missing = NEEDED.keys() - files.keys()
    if missing:
        yield from absent(bundle, [name for name in NEEDED if name in missing])
    if bundle.record.subtype == "measurement" and BASELINE not in files and needs(bundle, BASELINE):
        yield from absent(bundle, [BASELINE])


def absent(bundle: Bundle, names: list[str]) -> Iterator[Report]:
    if not bundle.files and not bundle.faults:
        yield Report(
            "record.md", Place(), "the folder holds no record: neither record.md nor any other file of a bundle"
        )
        return
    for name in names:
        # A file that is there but was not read, or that stands in such a folder, is another rule's.
        if name in bundle.faults or name.partition("/")[0] in bundle.faults:
            continue
        file, at = standing_place(bundle, name)
        yield Report(file, at, f"{name} is missing", severity=NEEDED.get(name, "error"))


RULE = Rule("MX401", "missing-file", "error", bundle=check)
