"""A procedure has no block of actions, or one that is not of its shape.

What a procedure is for is replaying its actions, which stand in one fenced `json` block in `## Detail`:
`{"parameters":[{"name","type","example"}],"actions":[{"action","anchor","value"}]}`. Without them it cannot be used.

```flagged
-- record.md --
kind: "procedure"
## Summary

the flow buys

## Detail
^^^^^^^^^

Click through the cart.
```

```flagged
-- record.md --
kind: "procedure"
## Summary

the flow buys

## Detail

~~~json
{"parameters":[],"actions":[{"action":5}]}
                                      ^
~~~
```

```clean
-- record.md --
kind: "procedure"
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.places import Place, Unreadable, json_tree
from memidex.rules.rule import Report, Rule
from memidex.store.snapshot import Root
from memidex.text import Span

BLOCK = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*json\b[^\n]*\r?\n(.*?)(?=^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
RECORD = "record.md"


class Parameter(Struct, gc=False):
    name: str
    type: str


class Action(Struct, gc=False):
    action: str
    anchor: dict[str, Any] | None = None


class Procedure(Struct, gc=False):
    """What is accepted at once; anything else is explained by the model of `formats`."""

    parameters: list[Parameter]
    actions: Annotated[list[Action], Meta(min_length=1)]


ACCEPTED = msgspec.json.Decoder(Procedure)


def check(bundle: Bundle, root: Root) -> Iterator[Report]:
    record = bundle.record
    if record.kind != "procedure" or not record.detail:
        return
    block = BLOCK.search(record.detail)
    if block:
        try:
            ACCEPTED.decode(block.group(2))
            return
        except msgspec.MsgspecError:
            pass
    yield from explained(bundle)


def explained(bundle: Bundle) -> Iterator[Report]:
    file = bundle.files[RECORD]
    section = file.layout.section("Detail")
    if not section:
        return
    block = BLOCK.search(file.source[section.text])
    if not block:
        message = 'a procedure keeps its actions in one fenced json block here, {"parameters":[...],"actions":[...]}; there is none'
        yield Report(RECORD, section.heading, message)
        return
    start, end = (section.text.start + at for at in block.span(2))
    try:
        node = json_tree(file.source.string, start, end)
    except Unreadable as error:
        at = min(error.offset, end)
        yield Report(
            RECORD, Span(at, min(at + 1, len(file.source))), f"the block of actions is not JSON: {error.message}"
        )
        return
    from memidex.records.memidex import explain, formats

    for _, problem in explain.problems_of(
        explain.adapter(formats.Procedure), node.value, lambda _kind, _path: "bad-procedure"
    ):
        at = node.span_of(problem.at) if isinstance(problem.at, Place) else problem.at
        yield Report(RECORD, at, f"the block of actions is not of its shape: {problem.message}")


RULE = Rule("MX123", "bad-procedure", "error", bundle=check)
