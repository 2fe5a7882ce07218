"""An anchor is not of the shape that its type has.

An anchor is `{"raw": A, "normalized": A}`, and A names its type in `t` and what it points at in the fields of that
type. One that cannot be read ties the record to nothing.

```flagged
-- record.md --
anchors: [{"raw":{"t":"flow"},"normalized":{"t":"flow","name":"check out"}}]
                 ^^^^^^^^^^^^
```

```clean
-- record.md --
anchors: [{"raw":{"t":"flow","name":"Check out"},"normalized":{"t":"flow","name":"Check out"}}]
```
"""

from memidex.rules.rule import Rule, from_parser

RULE = Rule("MX112", "bad-anchor", "error", bundle=from_parser("bad-anchor"))
