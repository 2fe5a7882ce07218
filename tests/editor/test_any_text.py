"""Whatever the text and wherever the cursor: nothing raises, every stretch lies in its text, every hover fits."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from cursor import Scene, scene
from hypothesis import given, settings
from hypothesis import strategies as st

from memidex.editor.completion import completions, resolved
from memidex.editor.definition import definitions, links, references
from memidex.editor.folding import folds, selections
from memidex.editor.hierarchy import item_at
from memidex.editor.hints import hints
from memidex.editor.hover import MAX_MARKDOWN, hover
from memidex.editor.lenses import lenses
from memidex.editor.symbols import Symbol, document_symbols
from memidex.editor.tokens import tokens
from memidex.editor.view import View
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import File
from memidex.store.snapshot import Snapshot, entry
from memidex.text import Source, Span

SKETCH = """-- record.md --
## Summary

like @b and MEM-001, MX105, agentqa://memory/MEM-002

<!-- memidex: allow unknown-value -->

## Detail

d
-- relations.json --
{"relations":[{"type":"supersedes","target":"@b"},{"type":"relates-to","target":"MEM-1"}]}
-- a/evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"retracted","retracts":["a-1"],"id":"e3"}
{"buildOrdinal":3,"origin":"user","type":"superseded","by":"@b"}
-- artifacts.index.json --
{"artifacts":[{"path":"artifacts/a.png"}]}
-- b/relations.json --
{"superseded-by":["@a"]}
"""
NAMES = [
    "record.md",
    "evidence/outcomes.jsonl",
    "relations.json",
    "manifest.json",
    "artifacts.index.json",
    "provenance.json",
    "notes.md",
]
PIECES = [
    "---\n", "---", "## Summary\n", "```", "{", "}", "[", "]", '"', ":", ",", "\n", "\r\n", "\r", "\u2028", "\ufeff", "\ud800", "🛒", "MEM-1",
    "agentqa://memory/", "fact-a-0123456789abcdef", '"type":"', '"target":"', '"retracts":["', "kind: ", "anchors: [", "scope: {", "&a *a", "<<<<<<< x\n",
    "=======\n", ">>>>>>> y\n", "memidex: allow ", "- ", "null", "1e999", "'", "#", " ", "\t", "\0",
]  # fmt: skip
KEPT: dict[str, Scene] = {}


class Edited:
    """The reader of a root of which one file is open, with other text than on disk."""

    def __init__(self, here: Scene, path: str, text: str) -> None:
        self.inner, self.directory, self.name = (
            here.root.reader,
            here.entry().directory,
            path.removeprefix(here.entry().directory + "/"),
        )
        self.data = text.encode("utf-8", "surrogatepass")

    def bundle(self, directory: str) -> Bundle | None:
        found = self.inner.bundle(directory)
        return found.with_file(self.name, self.data) if found and directory == self.directory else found

    def file(self, path: str) -> File | None:
        return self.inner.file(path)


def drawn(factory: pytest.TempPathFactory) -> Scene:
    return KEPT.get("here") or KEPT.setdefault("here", scene(SKETCH, factory.mktemp("any"), ("a", "b")))


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, list[tuple[float, float, str]], float]:
    """(file, changes as (where, how much of it goes, what comes), cursor), places as shares of the text."""
    share = st.floats(0, 1, allow_nan=False)
    piece = st.one_of(st.sampled_from(PIECES), st.text(max_size=4))
    changes = st.lists(st.tuples(share, st.floats(0, 0.3, allow_nan=False), piece), max_size=4)
    return draw(st.sampled_from(NAMES)), draw(changes), draw(share)


def changed(text: str, changes: list[tuple[float, float, str]]) -> str:
    for where, gone, piece in changes:
        at = int(where * len(text))
        text = text[:at] + piece + text[at + int(gone * gone * len(text)) :]
    return text


def opened(here: Scene, name: str, text: str, known: str) -> View:
    """The text in view, where the snapshot has read `known` of that file: the same, or an older one."""
    if name == "notes.md":
        return View(here.view.snapshot, (here.drawn.root.parent / name).as_posix(), Source(text))
    path = here.path(name)
    reader = Edited(here, path, known)
    root = here.root.__class__(**{**here.root.__dict__, "reader": reader})
    bundle = reader.bundle(here.entry().directory)
    assert bundle
    return View(Snapshot((root.with_entry(entry(bundle)),)), path, Source(text))


def check_everything(view: View, offset: int) -> None:
    size = len(view.source)

    def inside(*spans: Span) -> None:
        for span in spans:
            assert 0 <= span.start <= span.end <= size, span

    found = hover(view, offset)
    if found:
        inside(found.span)
        assert len(found.markdown) < MAX_MARKDOWN
        assert "command:" not in found.markdown
    for target in definitions(view, offset):
        inside(target.origin)
        if target.path == view.path and view.file and view.file.source.string == view.source.string:
            inside(target.span)
    for target in references(view, offset, [(view.path, view.source)]):
        inside(target.origin)
    for item in completions(view, offset).items:
        inside(item.span)
        assert item.span.start <= offset <= item.span.end
        assert view.source.line_of(item.span.start) == view.source.line_of(item.span.end)
        resolved(view.snapshot, item)
    grown = selections(view, offset)
    inside(*grown)
    assert all(small.start >= large.start and small.end <= large.end for small, large in pairwise(grown))
    for link in links(view):
        inside(link.span)
    for hint in hints(view):
        inside(Span(hint.offset, hint.offset))
    for fold in folds(view):
        assert 0 <= fold.first < fold.last < len(view.source.line_starts)
    for lens in lenses(view):
        inside(lens.span)
    for symbol in document_symbols(view):
        check_symbol(symbol, size)
    before = 0
    for token in tokens(view):
        inside(token.span)
        assert token.span.start >= before
        before = token.span.end
    item_at(view, offset)


def check_symbol(symbol: Symbol, size: int) -> None:
    assert symbol.name
    assert 0 <= symbol.span.start <= symbol.selection.start <= symbol.selection.end <= symbol.span.end <= size, symbol
    for child in symbol.children:
        check_symbol(child, size)


@settings(max_examples=150)
@given(mutated())
def test_no_feature_raises_on_any_offset_of_any_text(
    tmp_path_factory: pytest.TempPathFactory, given: tuple[str, list[tuple[float, float, str]], float]
) -> None:
    here = drawn(tmp_path_factory)
    name, changes, cursor = given
    path = Path(here.path(name))
    text = changed(path.read_text() if path.exists() else Path(here.path("record.md")).read_text(), changes)
    offset = int(cursor * len(text))
    check_everything(opened(here, name, text, text), offset)
    # A request may be answered from a snapshot that has not read the newest text yet.
    check_everything(opened(here, name, text, text[: len(text) // 2]), offset)


@pytest.mark.parametrize("name", NAMES[:-1])
def test_no_feature_raises_on_any_offset_of_a_healthy_text(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    here = drawn(tmp_path_factory)
    text = Path(here.path(name)).read_text()
    view = opened(here, name, text, text)
    for offset in range(0, len(text) + 2, 7):
        check_everything(view, min(offset, len(text)))
