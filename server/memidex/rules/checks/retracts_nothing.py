"""The event that a `retracted` or `overturned` event names is not in the log.

What was meant to be taken back still counts. An event is named by its `id`, or, where it has none, by the SHA-256 of its line.

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"retracted","retracts":["a-1","a-9"],"id":"r1"}
                                                                       ^^^^^
{"buildOrdinal":2,"origin":"user","type":"overturned","overturns":"a-8","id":"r2"}
                                                                  ^^^^^
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"retracted","retracts":["a-1","a-2"],"id":"r1"}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.places import Place
from memidex.records.memidex.read import identity
from memidex.rules.log_events import LOG, counting
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterable[Report]:
    log = bundle.log
    for event in log.events:
        if event.type == "retracted" or event.type == "overturned":
            break
    else:
        return ()
    return missing(bundle)


def missing(bundle: Bundle) -> Iterator[Report]:
    log = bundle.log
    known = set(log.identities)
    unread: set[str] | None = None
    for line, event in counting(log):
        if event.type == "retracted":
            named = [(Place((line, "retracts", index)), name) for index, name in enumerate(event.retracts or ())]
        elif event.type == "overturned" and event.overturns:
            named = [(Place((line, "overturns")), event.overturns)]
        else:
            continue
        for place, name in named:
            if name == event.id:
                yield Report(LOG, place, "an event cannot take itself back; name the event that is meant")
            elif name not in known:
                unread = names_of_unread(bundle) if unread is None else unread
                if name not in unread:
                    yield Report(
                        LOG, place, f'no event of this log has the identity "{name}", so nothing is taken back'
                    )


def names_of_unread(bundle: Bundle) -> set[str]:
    """The identities of lines that are no events to us: they are reported for themselves."""
    file = bundle.files[LOG]
    read = set(bundle.log.lines)
    found: set[str] = set()
    for line in range(len(file.source.line_starts)):
        if line not in read:
            found.add(identity(file.source.line_text(line).encode("utf-8", "surrogateescape")))
            tree = file.line_tree(line)
            if tree and "id" in tree.members:
                found.add(str(tree.members["id"][1].value))
    return found


RULE = Rule("MX206", "retracts-nothing", "error", bundle=check)
