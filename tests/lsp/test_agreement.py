"""One truth: what the editor shows is what the command line says, whatever happened before."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from editor_client import VSCODE, Editor, merged, uri
from roots import WRONG, many, remove, with_wrong

from memidex.lsp.findings import SEVERITY
from memidex.rules import engine, registry
from memidex.store import opening
from sketch import sketch

CODE_POINTS = {"general": {"positionEncodings": ["utf-32"]}}
EXAMPLE = Path(__file__).parents[2] / "server" / "memidex" / "example" / "agent-qa-knowledge"


def checked(folder: Path) -> list[Any]:
    """The findings of `memidex check`."""
    done = subprocess.run(
        [sys.executable, "-m", "memidex", "check", "--format", "json", "."],
        cwd=folder,
        capture_output=True,
        timeout=100,
    )
    assert done.returncode in (0, 1), done.stderr
    return sorted(
        [
            uri(folder / item["path"]),
            *(item["range"][end][part] - 1 for end in ("start", "end") for part in ("line", "column")),
            item["rule"],
            item["code"],
            item["severity"],
            item["message"],
            [[uri(folder / one["path"]), one["range"]["start"]["line"] - 1, one["message"]] for one in item["related"]],
        ]
        for item in json.loads(done.stdout)["findings"]
    )


def shown(editor: Editor) -> list[Any]:
    """The same of the editor's workspace."""
    names = {number: name for name, number in SEVERITY.items()}
    return sorted(
        [
            name,
            *(item["range"][end][part] for end in ("start", "end") for part in ("line", "character")),
            item["data"]["rule"],
            item["code"],
            names[item["severity"]],
            item["message"].removesuffix(f" [{item['data']['rule']}]"),
            [
                [one["location"]["uri"], one["location"]["range"]["start"]["line"], one["message"]]
                for one in item.get("relatedInformation", ())
            ],
        ]
        for name, items in editor.settled().items()
        for item in items
    )


def test_the_example_root_has_the_same_findings_in_the_editor_and_on_the_command_line(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "work" / EXAMPLE.name)
    with Editor(tmp_path / "work", capabilities=CODE_POINTS) as editor:
        found = shown(editor)
        assert found
        assert found == checked(tmp_path / "work")


def test_the_examples_of_all_rules_have_the_same_findings_in_the_editor_and_on_the_command_line(
    tmp_path: Path,
) -> None:
    for rule in registry.RULES:
        for number, example in enumerate(rule.examples("flagged")):
            sketch(example, tmp_path / "work" / f"{rule.code}-{number}")
    with Editor(tmp_path / "work", capabilities=CODE_POINTS) as editor:
        found = shown(editor)
        assert len(found) > 50
        assert found == checked(tmp_path / "work")


@pytest.mark.parametrize("seed", range(4))
def test_after_any_events_the_editor_shows_what_a_fresh_check_of_disk_and_buffers_says(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    work = tmp_path / "work"
    made = many(work, 8)
    places = sorted(path for path in made.root.rglob("*") if path.is_file() and ".memidex" not in str(path))
    texts = {path: path.read_text() for path in places}
    opened: dict[Path, str] = {}
    version = 0
    with Editor(work, capabilities=merged(VSCODE, CODE_POINTS)) as editor:
        for step in range(40):
            path = chance.choice(places)
            version += 1
            match chance.choice(["open", "edit", "edit", "close", "write", "write", "delete", "bundle", "settle"]):
                case "open" if path not in opened and path.exists():
                    opened[path] = path.read_text()
                    editor.open(path, version=version)
                case "edit" if opened:
                    path = chance.choice(sorted(opened))
                    opened[path] = varied(texts, path, chance)
                    editor.change(path, opened[path], version)
                case "close" if opened:
                    path = chance.choice(sorted(opened))
                    del opened[path]
                    editor.close(path)
                case "write" if path.parent.is_dir():
                    there = path.exists()
                    path.write_text(varied(texts, path, chance))
                    editor.changed(path, kind=2 if there else 1)
                case "delete" if path.exists():
                    path.unlink()
                    editor.changed(path, kind=3)
                case "bundle" if "bundles" in path.parts:
                    bundle = next(parent for parent in path.parents if parent.parent.name == "bundles")
                    there = [one for one in places if bundle in one.parents]
                    if bundle.exists():
                        remove(bundle)
                        editor.changed(bundle, kind=3)
                    else:
                        for one in there:
                            one.parent.mkdir(parents=True, exist_ok=True)
                            one.write_text(texts[one])
                        editor.changed(*there, kind=1)
                case "settle":
                    editor.settled()
            if step % 13 == 12 or step == 39:
                assert [item[:6] for item in shown(editor)] == fresh(tmp_path / f"fresh{step}", made.root, opened)


def varied(texts: dict[Path, str], path: Path, chance: random.Random) -> str:
    """One of a few texts that a file may have."""
    text = texts[path]
    other = chance.choice([one for one in texts if one.name == path.name])
    if path.name == "record.md":
        return chance.choice([text, with_wrong(text), text.replace("Seen", "\U0001f600 Seen"), texts[other], "---\n"])
    if path.name == "outcomes.jsonl":
        event = {"buildOrdinal": chance.randrange(12), "origin": "user", "type": "contradicted", "id": f"x{WRONG}"}
        return chance.choice([text, text + json.dumps(event) + "\n", text + "{\n", texts[other], ""])
    if path.name == "runs.jsonl":
        return chance.choice([text, text + '{"ordinal":9}\n{"ordinal":10}\n{"ordinal":11}\n', "{", ""])
    return chance.choice([text, texts[other], "{}", text.replace("1", "2")])


def fresh(target: Path, root: Path, opened: dict[Path, str]) -> list[Any]:
    """The findings of a copy with the buffers written, by the rules alone."""
    shutil.copytree(root, target, ignore=shutil.ignore_patterns(".memidex"))
    for path, text in opened.items():
        here = target / path.relative_to(root)
        if here.parent.is_dir() and bundle_is_there(path, root):
            here.write_text(text)
    return sorted(places_of(target.as_posix(), root.as_uri()))


def bundle_is_there(path: Path, root: Path) -> bool:
    parts = path.relative_to(root).parts
    return len(parts) < 5 or root.joinpath(*parts[:4]).is_dir()


def places_of(path: str, shown_as: str) -> Iterator[list[Any]]:
    root = opening.cold(path)
    findings = [item for entry in root.entries.values() for item in engine.check_entry(entry, root)]
    for item in [*findings, *engine.check_root(root)]:
        held = root.of_file(item.path)
        bundle = root.bundle(held[0]) if held else None
        file = bundle.files.get(held[1]) if bundle and held else root.reader.file(item.path)
        places = [file.source.position(offset) if file else (0, 0) for offset in item.span]
        yield [shown_as + item.path[len(path) :], *places[0], *places[1], item.rule.name]
