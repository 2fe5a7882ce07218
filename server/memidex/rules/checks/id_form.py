"""The record's id is not of the form `<kind>-<slug>-<16 hex digits>`, or names another kind than the record.

Addresses, relations and commits name a record by its id, and a reader tells an id in a text by this form. What the slug
and the digits say is its writer's own choice.

```flagged
-- record.md --
id: "fact-el-button-a"
    ^^^^^^^^^^^^^^^^^^
```

```flagged
-- record.md --
id: "caution-el-button-a-00112233aabbccdd"
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
```

```clean
-- record.md --
id: "fact-el-button-place-order-36-00-dd75ab371443d7b6"
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.ids import kind_of
from memidex.rules.rule import Place, Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    record = bundle.record
    kind = kind_of(record.id)
    if kind == record.kind:
        return
    file = bundle.files.get("record.md")
    if kind is None:
        if record.id or (file and file.layout.front.value.get("id") == ""):
            yield Report(
                "record.md",
                Place(("id",)),
                f'id is "{shown(record.id)}"; an id is the kind, a slug and 16 lower-case hex digits, joined by hyphens',
            )
    elif record.kind:
        yield Report("record.md", Place(("id",)), f"id names the kind {kind}, but the record is of kind {record.kind}")


def shown(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


RULE = Rule("MX109", "id-form", "error", bundle=check)
