"""A text holds characters that nobody sees: zero-width, bidirectional, tag, private-use or stray variation selectors.

They can carry orders to an agent, make two names look like one, or show a text in another order than it is read in.
Joiners and marks that a script or an emoji is written with are left alone. A soft hyphen is too: it is ordinary
typography. Where such characters are part of a name as the application shows it, silence the rule for the record.

```flagged
-- record.md --
## Summary

button "pay\u200b now" pays

## Detail

Seen once.
```

```flagged
-- observations.jsonl --
{"id":"o1","kind":"element","name":"pay\\u202enow"}
                                       ^^^^^^
```

```clean
-- record.md --
## Summary

button "👩‍👩‍👧 ❤️ می‌خواهم" opens the family page

## Detail

Seen once.
```
"""

from __future__ import annotations

from collections.abc import Iterator

from memidex.records import hidden
from memidex.records.memidex.bundle import Bundle
from memidex.rules import passages
from memidex.rules.rule import Fix, Report, Rule, edit
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    if not hidden.telling(passages.joined(bundle)):
        return
    for name, file in bundle.files.items():
        if name not in passages.UNREAD and hidden.telling(file.data):
            for span, what in passages.hits(file, hidden.find):
                fix = Fix("Remove what is hidden", (edit(bundle, name, span, ""),))
                yield Report(name, span, f"{what}: a reader does not see what a machine reads here", (fix,))


RULE = Rule("MX118", "hidden-characters", "warning", bundle=check)
