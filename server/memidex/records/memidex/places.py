"""Where a value stands in its file: JSON and YAML trees with spans, and the layout of `record.md`.

Values are read without spans, since a healthy file needs none; this finds the span of a place afterwards, when a
finding, a hover or an edit asks for it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from json import decoder
from typing import Any, Literal, NamedTuple, cast

from memidex.text import NOWHERE, Source, Span

# The C scanner of the standard library, where it was built.
scan_string: Callable[[str, int, bool], tuple[str, int]] = getattr(decoder, "scanstring")  # noqa: B009
MAX_DEPTH = 64
MAX_DIGITS = 4000
MAX_YAML = 1 << 17
"""Characters of a frontmatter that is not JSON: reading YAML costs a thousand times its length in memory."""
MAX_YAML_NODES = 20_000
MAX_JSON_VALUES = 200_000

Path = tuple[str | int, ...]


class Place(NamedTuple):
    """A value, by the member names and indexes that lead to it, or the key it is filed under.

    In a `.jsonl` file the path starts with the line's number from 0. In `record.md` it starts with the name of a field,
    with `## Name` for a section (key: its heading, value: its text), or with `---` (value: the whole frontmatter,
    key: its opening line).
    """

    path: Path = ()
    part: Literal["value", "key"] = "value"


At = Place | Span


class Node:
    """A value with its span; of an object also its members, of a list its items.

    The parts of a value that was read whole from `text` are looked for when somebody asks for them.
    """

    __slots__ = ("_items", "_members", "_repeated", "_text", "span", "value")

    def __init__(self, value: Any, span: Span, text: str | None = None) -> None:
        self.value = value
        self.span = span
        self._text = text
        self._members: dict[str, tuple[Span, Node]] = {}
        self._items: list[Node] = []
        self._repeated: list[tuple[str, Span]] = []

    @property
    def members(self) -> dict[str, tuple[Span, Node]]:
        return self.expanded()._members

    @property
    def items(self) -> list[Node]:
        return self.expanded()._items

    @property
    def repeated(self) -> list[tuple[str, Span]]:
        """Keys that stand a second time, at that place; the last one's value counts."""
        return self.expanded()._repeated

    def expanded(self) -> Node:
        if self._text is not None:
            text, self._text = self._text, None
            tree, _ = json_value(text, self.span.start, self.span.end, 0)
            self._members, self._items, self._repeated = tree._members, tree._items, tree._repeated
        return self

    def get(self, path: Path) -> Node | None:
        node: Node | None = self
        for step in path:
            if node is None:
                return None
            if isinstance(step, int):
                node = node.items[step] if 0 <= step < len(node.items) else None
            else:
                member = node.members.get(step)
                node = member[1] if member else None
        return node

    def span_of(self, place: Place) -> Span:
        """The span of a place; of one that is not there, the nearest value around it."""
        if place.part == "key" and place.path:
            around = self.get(place.path[:-1])
            if around and place.path[-1] in around.members:
                return around.members[str(place.path[-1])][0]
        path = place.path
        while path:
            node = self.get(path)
            if node:
                return node.span
            path = path[:-1]
        return self.span

    def at(self, offset: int) -> Place | None:
        """The innermost key or value that a cursor at `offset` touches."""
        if not self.span.holds(offset):
            return None
        for name, (key, node) in self.members.items():
            if key.holds(offset):
                return Place((name,), "key")
            inner = node.at(offset)
            if inner:
                return Place((name, *inner.path), inner.part)
        for index, node in enumerate(self.items):
            inner = node.at(offset)
            if inner:
                return Place((index, *inner.path), inner.part)
        return Place()

    def walk(self, path: Path = ()) -> Iterator[tuple[Path, Node]]:
        yield path, self
        for name, (_, node) in self.members.items():
            yield from node.walk((*path, name))
        for index, node in enumerate(self.items):
            yield from node.walk((*path, index))


class Unreadable(Exception):
    """Text that is not of its language, and the offset where that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


# JSON -----------------------------------------------------------------------------------------------------------------

BLANK = re.compile(r"[ \t\n\r]*")
SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
SURROGATE = re.compile("[\ud800-\udfff]")


def whole(string: str) -> str:
    """The text with lone surrogates, which no encoder takes, replaced one for one."""
    return SURROGATE.sub("\ufffd", string)


def json_tree(string: str, start: int = 0, end: int | None = None) -> Node:
    """The one JSON value of `string[start:end]` (RFC 8259) with the spans of all its parts; raises `Unreadable`."""
    limit = len(string) if end is None else end
    if string.count(",", start, limit) > MAX_JSON_VALUES:
        raise Unreadable(f"more than {MAX_JSON_VALUES:,} values", start)
    node, at = json_value(string, skip(string, start), limit, 0)
    at = skip(string, at)
    if at < limit:
        raise Unreadable("more text after the end of the JSON value", at)
    return node


def json_line(string: str, start: int, end: int) -> Node:
    """As `json_tree`, for a value of which mostly the whole is wanted: read in C where it is of the plain kind."""
    at = skip(string, start)
    # What C reads otherwise than we do (surrogates, deep nesting, NaN), or takes long over, is left to us.
    plain = string.find("\\u", at, end) < 0 and not SURROGATE.search(string, at, end)
    if plain and string.count("[", at, end) + string.count("{", at, end) <= MAX_DEPTH:
        try:
            value, after = PLAIN.raw_decode(string, at)
        except (ValueError, RecursionError):
            return json_tree(string, start, end)
        if after <= end and skip(string, after) >= end:
            return Node(value, Span(at, after), string)
    return json_tree(string, start, end)


def refuse(word: str) -> Any:
    raise ValueError(word)


PLAIN = json.JSONDecoder(parse_constant=refuse)


def skip(string: str, at: int) -> int:
    blank = BLANK.match(string, at)
    return blank.end() if blank else at


def json_value(string: str, at: int, limit: int, depth: int) -> tuple[Node, int]:
    if at >= limit:
        raise Unreadable("the JSON ends where a value should stand", limit)
    if depth > MAX_DEPTH:
        raise Unreadable(f"nested deeper than {MAX_DEPTH} levels", at)
    first = string[at]
    if first == "{":
        return json_object(string, at, limit, depth)
    if first == "[":
        return json_list(string, at, limit, depth)
    if first == '"':
        value, after = json_string(string, at, limit)
        return Node(value, Span(at, after)), after
    scalar = SCALAR.match(string, at, limit)
    if not scalar:
        raise Unreadable("not a JSON value", at)
    text = scalar.group()
    # Python reads whole numbers up to some thousand digits, since reading takes time with their square.
    value = json.loads(text) if len(text) <= MAX_DIGITS else float(text)
    return Node(value, Span(at, scalar.end())), scalar.end()


def json_string(string: str, at: int, limit: int) -> tuple[str, int]:
    try:
        value, after = scan_string(string, at + 1, True)
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated"):
            raise Unreadable("a string that is not closed", at) from None
        raise Unreadable(error.msg[:1].lower() + error.msg[1:], min(error.pos, limit)) from None
    if after > limit:
        raise Unreadable("a string that is not closed", at)
    return whole(value), after


def json_object(string: str, at: int, limit: int, depth: int) -> tuple[Node, int]:
    node = Node({}, NOWHERE)
    start, at = at, skip(string, at + 1)
    closed = string.startswith("}", at)
    while not closed:
        if at >= limit or string[at] != '"':
            raise Unreadable("a member's name in double quotes should stand here", min(at, limit))
        name, after = json_string(string, at, limit)
        key = Span(at, after)
        at = skip(string, after)
        if at >= limit or string[at] != ":":
            raise Unreadable("a colon should stand here", min(at, limit))
        child, at = json_value(string, skip(string, at + 1), limit, depth + 1)
        if name in node.members:
            node.repeated.append((name, key))
        node.members[name] = (key, child)
        node.value[name] = child.value
        at, closed = separator(string, at, limit, "}")
    node.span = Span(start, at + 1)
    return node, at + 1


def json_list(string: str, at: int, limit: int, depth: int) -> tuple[Node, int]:
    node = Node([], NOWHERE)
    start, at = at, skip(string, at + 1)
    closed = string.startswith("]", at)
    while not closed:
        child, at = json_value(string, at, limit, depth + 1)
        node.items.append(child)
        node.value.append(child.value)
        at, closed = separator(string, at, limit, "]")
    node.span = Span(start, at + 1)
    return node, at + 1


def separator(string: str, at: int, limit: int, closing: str) -> tuple[int, bool]:
    """After a member: the start of the next one, or the closing bracket and True."""
    at = skip(string, at)
    if at < limit and string[at] == closing:
        return at, True
    if at >= limit or string[at] != ",":
        raise Unreadable(f"a comma or {closing} should stand here", min(at, limit))
    return skip(string, at + 1), False


# YAML -----------------------------------------------------------------------------------------------------------------


def yaml_tree(string: str, start: int, end: int) -> Node:
    """The YAML mapping of `string[start:end]` with spans; raises `Unreadable`.

    Values are python-frontmatter's, so PyYAML's safe ones; aliases that expand too far are refused before anything
    walks them.
    """
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    loader = core_loader()
    text = whole(string[start:end])
    if len(text) > MAX_YAML:
        raise Unreadable(f"YAML of more than {MAX_YAML:,} characters", start)
    try:
        root: Any = cast("Any", yaml).compose(text, Loader=loader)
        bound_yaml(root, start)
        value: Any = YAMLHandler().load(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        offset = start + min(mark.index if mark else 0, len(text))
        raise Unreadable(error.problem or error.context or "not YAML", offset) from None
    except yaml.reader.ReaderError as error:
        raise Unreadable(
            f"a character YAML does not allow: {error.reason}", start + min(error.position, len(text))
        ) from None
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, OverflowError) as error:
        raise Unreadable(f"not YAML: {type(error).__name__}", start) from None
    if not isinstance(root, yaml.MappingNode) or not isinstance(value, dict):
        raise Unreadable("the frontmatter is not a mapping of fields to values", start)
    node = yaml_node(root, value, start, text, 0)
    node.span = Span(start, end)
    return node


@cache
def core_loader() -> Any:
    """PyYAML's safe loader with the words of YAML 1.2's core schema: `no`, `on`, `12:30` and a date are text, 010 is ten."""
    import yaml

    loader: Any = type("CoreLoader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    merge = [(tag, form) for tag, form in loader.yaml_implicit_resolvers["<"] if tag.endswith(":merge")]
    loader.yaml_implicit_resolvers = {"<": merge}
    for name, form, first in (
        ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
        ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
        ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
         "-+.0123456789"),
    ):  # fmt: skip
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", re.compile(f"^(?:{form})$"), list(first))
    loader.add_constructor("tag:yaml.org,2002:int", whole_number)
    return loader


def whole_number(loader: Any, node: Any) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))


YAML_NUMBERS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}


def bound_yaml(root: Any, start: int) -> None:
    """Refuse a tree whose aliases, written out, make a circle, go too deep or hold too many values."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def size(node: Any, depth: int) -> int:
        key = id(node)
        if key in sizes:
            return sizes[key]
        if key in open_nodes:
            raise Unreadable("an alias that holds itself", start + node.start_mark.index)
        if depth > MAX_DEPTH:
            raise Unreadable(f"nested deeper than {MAX_DEPTH} levels", start + node.start_mark.index)
        open_nodes.add(key)
        held: Any = node.value
        children = cast("list[Any]", held) if isinstance(held, list) else ()
        if node.tag in YAML_NUMBERS and isinstance(held, str) and len(held) > MAX_DIGITS:
            raise Unreadable(f"a number of more than {MAX_DIGITS} digits", start + node.start_mark.index)
        total = 1
        for child in children:
            for part in cast("tuple[Any, ...]", child) if isinstance(child, tuple) else (child,):
                total += size(part, depth + 1)
                if total > MAX_YAML_NODES:
                    raise Unreadable(
                        f"aliases that expand to more than {MAX_YAML_NODES} values", start + node.start_mark.index
                    )
        open_nodes.discard(key)
        sizes[key] = total
        return total

    if root is not None:
        size(root, 0)


def yaml_node(yaml_value: Any, value: Any, start: int, text: str, depth: int) -> Node:
    first, last = yaml_value.start_mark.index, yaml_value.end_mark.index
    span = Span(start + first, start + first + len(text[first:last].rstrip()))
    node = Node(plain(value), span)
    if yaml_value.id == "mapping" and isinstance(value, dict):
        for key, child in yaml_value.value:
            name = str(key.value) if key.id == "scalar" else "?"
            place = Span(start + key.start_mark.index, start + key.end_mark.index)
            if name in node.members:
                node.repeated.append((name, place))
            node.members[name] = (
                place,
                yaml_node(child, plain_member(cast("dict[Any, Any]", value), name), start, text, depth + 1),
            )
    elif yaml_value.id == "sequence" and isinstance(value, list):
        node.items[:] = [
            yaml_node(child, item, start, text, depth + 1)
            for child, item in zip(yaml_value.value, cast("list[Any]", value), strict=False)
        ]
    return node


def plain_member(value: dict[Any, Any], name: str) -> Any:
    return next((item for key, item in value.items() if str(key) == name), None)


def plain(value: Any) -> Any:
    """A YAML value as JSON has it: keys are text, and what JSON has no form for stays what it is."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list):
        return [plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, int) and value.bit_length() > 3 * MAX_DIGITS:
        return math.inf if value > 0 else -math.inf  # Python can hold it and cannot print it
    return value


# record.md ------------------------------------------------------------------------------------------------------------

HEADING = re.compile(r"^##[ \t]+(.*?)[ \t]*$")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
# The lines that may be a heading or a fence, and the line that closes the frontmatter, found without looking at each line.
MARK = re.compile(r"(?:\A|(?<=[\n\r]))(?=##[ \t]| {0,3}(?:`{3}|~{3}))")
CLOSING = re.compile(r"(?<=[\n\r])---\s*?(?=[\n\r]|\Z)")
FIELD = re.compile(r"^([A-Za-z_][A-Za-z0-9_-]*)[ \t]*:(?:[ \t]+|$)")


@dataclass(slots=True)
class Section:
    name: str
    heading: Span
    text: Span
    """Without the blank lines around it."""


@dataclass(slots=True)
class Layout:
    """Where the parts of a `record.md` stand."""

    opening: Span
    closing: Span
    """The closing `---`; of a file that has none, the empty stretch at its end."""
    front: Node
    sections: list[Section]
    unreadable: Unreadable | None = None
    body: Span = NOWHERE

    def section(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name.lower() == name.lower()), None)

    def span_of(self, place: Place) -> Span:
        """The span of a place; see `Place` for how a path starts."""
        if not place.path or place.path[0] == "---":
            return self.opening if place.part == "key" or not place.path else Span(self.opening.start, self.closing.end)
        head = place.path[0]
        if isinstance(head, str) and head.startswith("## "):
            section = self.section(head[3:])
            if not section:
                return self.closing
            return section.heading if place.part == "key" else section.text
        if head not in self.front.members:
            return self.opening
        return self.front.span_of(place)


def layout(source: Source) -> Layout:
    """The layout of a `record.md`; never raises, whatever the text."""
    string = source.string
    first = source.line_span(0)
    if source[first].rstrip() != "---":
        return Layout(
            first,
            first,
            Node({}, first),
            sections(source, 0),
            Unreadable("the file does not start with `---`", 0),
            Span(0, len(string)),
        )
    ending = CLOSING.search(string, 3)
    if ending is None:
        end = Span(len(string), len(string))
        return Layout(
            first, end, Node({}, first), [], Unreadable("the frontmatter is not closed by a second `---`", 0), end
        )
    close = source.line_of(ending.start())
    closing = source.line_span(close)
    start = source.line_starts[1]
    body = Span(min(closing.end + 1, len(string)), len(string))
    try:
        front = front_tree(source, 1, close) or yaml_tree(string, start, closing.start)
        problem = None
    except Unreadable as error:
        front, problem = Node({}, Span(start, closing.start)), error
    return Layout(first, closing, front, sections(source, close + 1), problem, body)


def field_span(source: Source, place: Place) -> Span | None:
    """The span of a field of the frontmatter, found by its line alone; None where that takes more than a look."""
    name = place.path[0]
    start = source.string.find(f"\n{name}: ") + 1
    end = source.string.find("\n", start)
    if not start or start > source.string.find("\n---", 3):
        return None
    try:
        node = json_tree(source.string, start + len(str(name)) + 1, end)
    except Unreadable:
        return None
    return Span(start, start + len(str(name))) if place.part == "key" else node.span


def front_tree(source: Source, first: int, after: int) -> Node | None:
    """The frontmatter where every line is `key: JSON`, as we write it; None where any is not."""
    node = Node({}, Span(source.line_starts[first], source.line_starts[after]))
    for line in range(first, after):
        span = source.line_span(line)
        text = source[span]
        match = FIELD.match(text)
        if not match:
            return None
        try:
            child = json_line(source.string, span.start + match.end(), span.end)
        except Unreadable:
            return None
        name = match.group(1)
        key = Span(span.start, span.start + len(name))
        if name in node.members:
            node.repeated.append((name, key))
        node.members[name] = (key, child)
        node.value[name] = child.value
    return node


def sections(source: Source, first: int) -> list[Section]:
    found: list[Section] = []
    fence = ""
    if first >= len(source.line_starts):
        return found
    for candidate in MARK.finditer(source.string, source.line_starts[first]):
        line = source.line_of(candidate.start())
        text = source.line_text(line)
        mark = FENCE.match(text)
        if mark:
            if not fence:
                fence = mark.group(1)
            elif mark.group(1).startswith(fence) and not text.strip().strip(fence[0]):
                fence = ""
        heading = None if fence else HEADING.match(text)
        if heading:
            span = source.line_span(line)
            found.append(Section(heading.group(1), span, Span(span.end, len(source))))
    for index, section in enumerate(found):
        end = found[index + 1].heading.start if index + 1 < len(found) else len(source)
        text = source.string[section.heading.end : end]
        lead = len(text) - len(text.lstrip())
        stripped = text.strip()
        start = section.heading.end + lead if stripped else section.heading.end
        section.text = Span(start, start + len(stripped))
    return found
