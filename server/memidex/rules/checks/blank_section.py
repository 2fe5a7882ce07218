"""`## Summary` or `## Detail` is blank.

A record without a claim says nothing, and one without a detail does not say how it was seen.

```flagged
-- record.md --
## Summary
^^^^^^^^^^

## Detail

Seen once.
```

```clean
-- record.md --
## Summary

the cart opens

## Detail

Seen once.
```
"""

from memidex.rules.rule import Rule, from_parser

RULE = Rule("MX117", "blank-section", "error", bundle=from_parser("blank-section"))
