"""Edits of the text of `relations.json`, which is read in three shapes: each keeps the shape, the layout and every other byte.

An edit is None where it cannot be told how the file would say it.
"""

from __future__ import annotations

import json
from typing import Any, cast

from memidex.records.memidex.places import Node, Path
from memidex.records.memidex.read import File
from memidex.text import Edit, Span


def removal(file: File, path: Path) -> Edit | None:
    """The edit that takes the relation at `path` and its comma away."""
    around = file.tree.get(path[:-1]) if file.tree else None
    place = path[-1]
    if not around or not isinstance(place, int) or place >= len(around.items):
        return None
    items = around.items
    if len(items) == 1:
        span = Span(around.span.start + 1, around.span.end - 1)
    elif place + 1 < len(items):
        span = Span(items[place].span.start, items[place + 1].span.start)
    else:
        span = Span(items[place - 1].span.end, items[place].span.end)
    return Edit(span, "")


def addition(file: File, kind: str, target: str, ordinal: int | None) -> Edit | None:
    """The edit that adds a relation at the end, written as the others are."""
    return insertion(file, {"type": kind, "target": target, **({} if ordinal is None else {"atOrdinal": ordinal})})


def insertion(file: File, item: dict[str, Any]) -> Edit | None:
    """The same for a relation as an object, with whatever else it says."""
    tree = file.tree
    kind, target = item.get("type"), item.get("target")
    if not tree or not isinstance(kind, str) or not isinstance(target, str):
        return None
    if isinstance(tree.value, list):
        return appended(file, tree, item, "")
    if not isinstance(tree.value, dict):
        return None
    if "relations" in tree.members:
        key, items = tree.members["relations"]
        return appended(file, items, item, gap(file, tree.span.start + 1, key.start))
    if not tree.members:
        return Edit(tree.span, written({"relations": [item]}, "", ":"))
    without_type = {name: value for name, value in item.items() if name != "type"}
    is_bare = without_type.keys() <= {"target", "atOrdinal"}
    if kind in tree.members:
        key, items = tree.members[kind]
        bare = is_bare and (not items.items or isinstance(items.items[-1].value, str))
        return appended(file, items, target if bare else without_type, gap(file, tree.span.start + 1, key.start))
    names = list(tree.members.values())
    (first, _), (key, last) = names[0], names[-1]
    text = f",{gap(file, tree.span.start + 1, first.start)}{json.dumps(kind)}{gap(file, key.end, last.span.start)}[{json.dumps(target if is_bare else without_type)}]"
    return Edit(Span(last.span.end, last.span.end), text)


def collected(file: File, path: Path) -> Edit | None:
    """The edit that marks the relation at `path` as one to a record that retention removed (contract, section 12)."""
    node = file.tree.get(path) if file.tree else None
    if node is None:
        return None
    if isinstance(node.value, str):
        spaced = ", " in file.source.string or ": " in file.source.string
        return Edit(node.span, written({"target": node.value, "collected": True}, "", ": " if spaced else ":"))
    if not isinstance(node.value, dict) or not node.members:
        return None
    if "collected" in node.members:
        return Edit(node.members["collected"][1].span, "true")
    members = list(node.members.values())
    (first, value), (_, last) = members[0], members[-1]
    before = gap(file, node.span.start + 1, first.start)
    comma = gap(file, value.span.end, members[1][0].start) if len(members) > 1 else f",{before or ' '}"
    return Edit(Span(last.span.end, last.span.end), f'{comma}"collected"{gap(file, first.end, value.span.start)}true')


def appended(file: File, around: Node, item: dict[str, Any] | str, indent: str) -> Edit | None:
    """The edit that puts one more item at the end of a list; `indent` is what stands before the list's own member."""
    if not isinstance(around.value, list):
        return None
    items = around.items
    if not items:
        # The whole list is replaced, so that two such edits of one list are seen to clash.
        newline = "" if "\n" not in indent else indent[: indent.rindex("\n") + 1].lstrip(" \t")
        step = indent.rpartition("\n")[2]
        if newline:
            return Edit(around.span, written([item], step, ": ", newline, step))
        return Edit(around.span, written([item], "", ": " if " " in file.source.string[: around.span.start] else ":"))
    lead = gap(file, around.span.start + 1, items[0].span.start)
    between = lead if len(items) < 2 else gap(file, items[-2].span.end, items[-1].span.start).replace(",", "", 1)
    if len(items) == 1 and "\n" not in lead and not lead:
        between = " " if ", " in file.source[items[0].span] else ""
    text = json.dumps(item, ensure_ascii=False) if isinstance(item, str) else like(file, items[-1], item)
    return Edit(Span(items[-1].span.end, items[-1].span.end), f",{between}{text}")


def like(file: File, model: Node, item: dict[str, Any]) -> str:
    """An object written as another one of the same list is."""
    members = list(model.members.values())
    if not members:
        return json.dumps(item, ensure_ascii=False)
    (first, first_value), (_, last_value) = members[0], members[-1]
    before = gap(file, model.span.start + 1, first.start)
    behind = gap(file, last_value.span.end, model.span.end - 1)
    colon = gap(file, first.end, first_value.span.start)
    comma = f",{before}" if "\n" in before else ", "
    if len(members) > 1:
        comma = gap(file, first_value.span.end, members[1][0].start)
    body = comma.join(
        f"{json.dumps(name)}{colon}{json.dumps(value, ensure_ascii=False)}" for name, value in item.items()
    )
    return f"{{{before}{body}{behind}}}"


def gap(file: File, start: int, end: int) -> str:
    return file.source.string[start:end]


def written(value: Any, step: str, colon: str, newline: str = "", indent: str = "") -> str:
    """JSON with `step` more before each level where `newline` is set, else on one line."""
    if not newline or not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, separators=(", " if colon == ": " else ",", colon))
    inner = indent + step
    if isinstance(value, dict):
        members = cast(dict[str, Any], value)
        parts = [
            f"{json.dumps(name)}{colon}{written(part, step, colon, newline, inner)}" for name, part in members.items()
        ]
        opening, closing = "{", "}"
    else:
        items = cast(list[Any], value)
        parts = [written(part, step, colon, newline, inner) for part in items]
        opening, closing = "[", "]"
    body = f",{newline}{inner}".join(parts)
    return f"{opening}{newline}{inner}{body}{newline}{indent}{closing}"
