"""The record's id is not the name of the folder it lies in.

A record is found by its folder and named by its id. Where the two differ, a relation that names one leads past the
other, and a copied folder becomes two records of one id.

```flagged
-- record.md --
id: "fact-el-button-other-00112233aabbccdd"
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
```

```fixed
-- record.md --
```

```clean
-- record.md --
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.ids import FORM, kind_of
from memidex.records.memidex.render import line_of
from memidex.rules.rule import Fix, Place, Report, Rule, edit
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    record = bundle.record
    folder = bundle.folder
    if record.id in (folder, "") or not FORM.fullmatch(record.id):
        return
    fits = kind_of(folder) and (not record.kind or kind_of(folder) == record.kind)
    fixes = (
        (Fix(f"Change the id to {folder}", (edit(bundle, "record.md", Place(("id",)), line_of(folder)),)),)
        if fits
        else ()
    )
    yield Report("record.md", Place(("id",)), f"id is not the name of the folder, {folder}", fixes)


RULE = Rule("MX110", "id-not-folder", "error", bundle=check)
