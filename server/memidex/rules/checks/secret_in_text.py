"""A text of the record holds what looks like a password, a key or a token.

A record is committed, so a credential in it is in the history of the repository for good, and every agent that is
served the record reads it. Change the credential where it is used, then put a mask such as `[secret:SHOP_PASSWORD]` in
its place. The value is never repeated by memidex.

```flagged
-- record.md --
## Summary

signing in as admin works

## Detail

The form takes password = "hunter2-Winter" and leads to the dashboard.
                           ^^^^^^^^^^^^^^
```

```flagged
-- observations.jsonl --
{"id":"o1","kind":"value","value":"AKIAIOSFODNN7EXAMPLE"}
                                   ^^^^^^^^^^^^^^^^^^^^
```

```clean
-- record.md --
## Summary

signing in as admin works

## Detail

The form takes password = "[secret:SHOP_PASSWORD]" and leads to the dashboard. Seen in run 550e8400-e29b-41d4-a716-446655440000.
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records import secrets
from memidex.records.memidex.bundle import Bundle
from memidex.rules import passages
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    texts = passages.joined(bundle)
    if not secrets.telling(texts) and not passages.respelt(texts):
        return
    for name, file in bundle.files.items():
        if name not in passages.UNREAD:
            for span, kind in passages.hits(file, secrets.find):
                yield Report(
                    name,
                    span,
                    f"this looks like a credential ({kind}), and a record is committed; change it where it is used, and put a mask such as [secret:NAME] here",
                )


RULE = Rule("MX120", "secret-in-text", "error", bundle=check)
