"""The normalized form of an anchor is of another type than the raw one, or its text is not folded.

Two anchors are the same when their normalized forms are equal, so a stray space or another Unicode form makes one
place into two. How else a writer normalizes, such as in lower case, is its own choice.

```flagged
-- record.md --
anchors: [{"raw":{"t":"flow","name":"Check out"},"normalized":{"t":"flow","name":"check  out "}}]
                                                                                 ^^^^^^^^^^^^^
```

```fixed
-- record.md --
anchors: [{"raw":{"t":"flow","name":"Check out"},"normalized":{"t":"flow","name":"check out"}}]
```

```flagged
-- record.md --
anchors: [{"raw":{"t":"page","url":"/cart/12"},"normalized":{"t":"flow","name":"cart"}}]
                                                                 ^^^^^^
```

```fixed
-- record.md --
anchors: [{"raw":{"t":"page","url":"/cart/12"},"normalized":{"t":"page","url":"/cart/:id"}}]
```

```clean
-- record.md --
anchors: [{"raw":{"t":"flow","name":" Check  out"},"normalized":{"t":"flow","name":"Check out"}}]
```
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from memidex.records.memidex import anchors
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.render import bare, line_of
from memidex.rules.rule import Fix, Place, Report, Rule, edit
from memidex.store.snapshot import Root

RECORD = "record.md"


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    for index, anchor in enumerate(bundle.record.anchors):
        raw, normal = anchor.raw, anchor.normalized
        if type(raw) is not type(normal):
            whole = edit(
                bundle, RECORD, Place(("anchors", index, "normalized")), line_of(bare(anchors.normalized(raw)))
            )
            message = f"the normalized form is of type {normal.t}, the raw one of type {raw.t}; the two are of one type"
            yield Report(
                RECORD,
                Place(("anchors", index, "normalized", "t")),
                message,
                (Fix("Normalize the raw anchor", (whole,), safe=True),),
            )
            continue
        for name in normal.__struct_fields__:
            text = getattr(normal, name)
            if isinstance(text, str) and not folded(text):
                at = Place(("anchors", index, "normalized", name))
                fix = Fix("Fold the text", (edit(bundle, RECORD, at, line_of(anchors.fold(text))),), safe=True)
                yield Report(
                    RECORD,
                    at,
                    f"the normalized {name} has stray white space or is not in Unicode's composed form (NFC)",
                    (fix,),
                )


def folded(text: str) -> bool:
    return " ".join(text.split()) == text and (text.isascii() or unicodedata.is_normalized("NFC", text))


RULE = Rule("MX114", "anchor-not-normal", "warning", bundle=check)
