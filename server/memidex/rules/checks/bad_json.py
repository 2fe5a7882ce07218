"""A JSON file of the bundle, or a line of one, is not JSON.

Nothing of the file, or of that line, is known then. The place is where the parser could not go on, which is often just
after the mistake: a comma too many, a quote that is not closed.

```flagged
-- relations.json --
{"relations":[}
              ^
```

```flagged
-- observations.jsonl --
{"id":"o1","kind":"element"}
{"id":"o2","kind":}
                  ^
```

```clean
-- relations.json --
{"relations":[]}
```
"""

from memidex.rules.rule import Rule, from_parser

RULE = Rule("MX406", "bad-json", "error", bundle=from_parser("bad-json"))
