"""A fact has no subtype, or a record of another kind has one.

The subtype says what a fact is about, and how long it is believed without a confirmation. Other kinds have none.

```flagged
-- record.md --
- subtype
kind: "fact"
      ^^^^^^
```

```flagged
-- record.md --
kind: "caution"
subtype: "behavioral"
         ^^^^^^^^^^^^
```

```clean
-- record.md --
kind: "caution"
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.vocabulary import SUBTYPES
from memidex.rules.rule import Place, Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    record = bundle.record
    if not record.kind or (record.kind == "fact") == (record.subtype is not None):
        return
    if record.kind != "fact":
        yield Report(
            "record.md",
            Place(("subtype",)),
            f'subtype is "{record.subtype}", but only a fact has one, and this is of kind {record.kind}',
        )
        return
    front = bundle.files["record.md"].layout.front.value
    if front.get("subtype") is None:  # of a wrong one another rule tells
        at = Place(("subtype",)) if "subtype" in front else Place(("kind",))
        yield Report("record.md", at, f"a fact has a subtype, and this one has none; it can be {', '.join(SUBTYPES)}")


RULE = Rule("MX111", "subtype-for-kind", "error", bundle=check)
