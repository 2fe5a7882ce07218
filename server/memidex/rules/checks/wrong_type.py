"""A field of the frontmatter has a value of another type than the format says.

Readers do not convert: a number in quotes is text, and a record with a field they cannot use is not served.

```flagged
-- record.md --
createdAtOrdinal: "1"
                  ^^^
```

```flagged
-- record.md --
createdAtOrdinal: -1
                  ^^
```

```clean
-- record.md --
createdAtOrdinal: 1
```
"""

from memidex.rules.rule import Rule, from_parser

RULE = Rule("MX104", "wrong-type", "error", bundle=from_parser("wrong-type"))
