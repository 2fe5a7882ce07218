"""The record has no anchor.

The first anchor is what a record is about, and part of its id. Without one it is served to no run.

```flagged
-- record.md --
anchors: []
         ^^
```

```clean
-- record.md --
anchors: [{"raw":{"t":"flow","name":"Check out"},"normalized":{"t":"flow","name":"Check out"}}]
```
"""

from memidex.rules.rule import Rule, from_parser

RULE = Rule("MX113", "no-anchor", "error", bundle=from_parser("no-anchor"))
