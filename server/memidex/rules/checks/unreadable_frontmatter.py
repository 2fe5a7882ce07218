"""The frontmatter of `record.md` is missing, is not closed, or is not YAML.

Without it the file says of no record what it is, so it is not listed, judged or served. The place is where the parser
could not go on, which may be a little after the mistake.

```flagged
-- record.md (whole) --
---
schemaVersion: 2
kind: [fact
---
^

## Summary

the cart opens

## Detail

Seen once.
```

```flagged
-- record.md (whole) --
## Summary
^

the cart opens
```

```clean
-- record.md (whole) --
---
# any safe YAML is read
schemaVersion: 2
kind: fact
---

## Summary

the cart opens

## Detail

Seen once.
```
"""

from memidex.rules.rule import Rule, from_parser

RULE = Rule("MX101", "unreadable-frontmatter", "error", bundle=from_parser("unreadable-frontmatter"))
