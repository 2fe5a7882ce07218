"""A field stands twice in the frontmatter.

Readers differ in which of the two they take, so the record says two things. This often comes from a merge.

```flagged
-- record.md --
createdAtOrdinal: 1
createdAtOrdinal: 2
^^^^^^^^^^^^^^^^
```

```clean
-- record.md --
createdAtOrdinal: 1
```
"""

from memidex.rules.rule import Rule, from_parser

RULE = Rule("MX108", "repeated-field", "error", bundle=from_parser("repeated-field"))
