"""A sketch with a `‸` where the cursor stands, opened as the editor would see it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memidex.editor.view import View
from memidex.store import opening
from memidex.store.snapshot import Entry, Root, Snapshot
from memidex.text import Source, decode
from sketch import Sketch, sketch

MARK = "‸"


@dataclass(frozen=True)
class Scene:
    """A root, and the text in which the cursor stands."""

    drawn: Sketch
    root: Root
    view: View
    offset: int

    def entry(self, nick: str = "a") -> Entry:
        return self.root.all_of(self.drawn.ids[nick])[0]

    def path(self, name: str, nick: str = "a") -> str:
        return self.drawn.path(name, nick).as_posix()

    def at(self, name: str, text: str = "", nick: str = "a") -> tuple[View, int]:
        """Another file of the root, and where `text` begins in it."""
        path = self.drawn.path(name, nick)
        source = Source(decode(path.read_bytes())[0])
        return View(self.view.snapshot, path.as_posix(), source), source.string.index(text)


def scene(text: str, folder: Path, short_ids: tuple[str, ...] = ()) -> Scene:
    """The scene of a sketch with one mark, or with none: then the cursor is at the start of `a/record.md`.

    The bundles named in `short_ids` have MEM-001, MEM-002 and so on.
    """
    # The mark becomes a caret below its line, which a sketch carries through patches and ids.
    lines: list[str] = []
    for line in text.strip("\n").splitlines():
        lines.append(line.replace(MARK, ""))
        if MARK in line:
            lines.append(" " * line.index(MARK) + "^")
    drawn = sketch("\n".join(lines), folder)
    path, line_number, column, _ = drawn.marks[0] if drawn.marks else (drawn.path("record.md").as_posix(), 0, 0, 0)
    root = opening.cold(drawn.root.as_posix())
    root = root.with_short_ids([(number, drawn.ids[nick]) for number, nick in enumerate(short_ids, 1)])
    source = Source(decode(Path(path).read_bytes())[0] if Path(path).is_file() else "")
    return Scene(drawn, root, View(Snapshot((root,)), path, source), source.offset(line_number, column))


def free_text(here: Scene, text: str, name: str = "notes.md") -> tuple[View, int]:
    """A text of the workspace outside the root, with its cursor."""
    path = (here.drawn.root.parent / name).as_posix()
    for nick, record_id in here.drawn.ids.items():
        text = text.replace(f"@{nick}", record_id)
    return View(here.view.snapshot, path, Source(text.replace(MARK, ""))), max(0, text.find(MARK))


__all__ = ["MARK", "Scene", "free_text", "scene"]
