"""The outcome log holds the same event twice.

A merge that keeps the lines of both sides does that. It counts once, so nothing is wrong; the line is only of no use. Two
different events under one id are worse, since only one of them counts.

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed","id":"twice"}
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed","id":"twice"}
                                                                    ^^^^^^^
```

```flagged
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed"}
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed"}
                                                   ^^^^^^^^^^^
```

```clean
-- evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed","id":"one"}
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed","id":"another"}
{"buildOrdinal":2,"origin":"agent-verified","type":"confirmed"}
{"buildOrdinal":3,"origin":"agent-verified","type":"confirmed"}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memidex.records.memidex.bundle import Bundle
from memidex.rules.log_events import LOG, at
from memidex.rules.rule import Related, Report, Rule
from memidex.store.snapshot import Root


def check(bundle: Bundle, root: Root) -> Iterable[Report]:
    log = bundle.log
    if len(set(log.identities)) == len(log.identities):
        return ()
    return repeats(bundle)


def repeats(bundle: Bundle) -> Iterator[Report]:
    log = bundle.log
    first: dict[str, int] = {}
    for index, identity in enumerate(log.identities):
        earlier = first.setdefault(identity, index)
        if earlier == index:
            continue
        event, line = log.events[index], log.lines[earlier]
        name = "id" if event.id else "type"
        if event == log.events[earlier]:
            message = f"the same event stands in line {line + 1}; it counts once"
        else:
            message = f'another event with the id "{event.id}" stands in line {line + 1}, and only one of them counts'
        there = Related(bundle.directory, LOG, at(line, name), "it stands here first")
        yield Report(
            LOG,
            at(log.lines[index], name),
            message,
            related=(there,),
            severity=None if event == log.events[earlier] else "warning",
        )


RULE = Rule("MX205", "repeated-event", "info", bundle=check)
