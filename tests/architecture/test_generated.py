"""What is generated is fresh, says what the models and pages say, and is seen to go stale."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from memidex import example
from memidex.records.memidex import formats, read
from memidex.records.memidex.read import File
from memidex.rules import registry
from tools import make_docs, make_schemas

FILES = {file: name for name, (file, what) in make_schemas.TITLES.items() if name != "procedure"}


def stale(folder: Path) -> list[str]:
    """The names of generated files in a folder that are not what is generated now."""
    made = make_schemas.schemas()
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    return sorted(name for name in {*made, *there} if made.get(name) != there.get(name))


def values_of(file: File) -> Iterator[Any]:
    """Each JSON value of a file that its schema is of."""
    if file.name == "record.md":
        yield file.layout.front.value
    elif file.name.endswith(".jsonl"):
        yield from (json.loads(line) for line in file.source.string.splitlines())
    elif file.name.endswith(".json"):
        yield json.loads(file.source.string)


def validator(name: str) -> Draft202012Validator:
    schema = json.loads((make_schemas.FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, format_checker=FormatChecker())


def test_the_committed_schemas_are_fresh() -> None:
    assert stale(make_schemas.FOLDER) == []


def test_a_stale_a_missing_and_a_left_over_schema_are_seen(tmp_path: Path) -> None:
    for name, text in make_schemas.schemas().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert stale(tmp_path) == []
    event = tmp_path / "event.schema.json"
    event.write_text(event.read_text(encoding="utf-8").replace('"user"', '"person"'), encoding="utf-8")
    (tmp_path / "gate.schema.json").unlink()
    (tmp_path / "old.schema.json").write_text("{}", encoding="utf-8")
    assert stale(tmp_path) == ["event.schema.json", "gate.schema.json", "old.schema.json"]


def test_a_schema_is_made_for_every_format_and_is_named_by_a_urn() -> None:
    assert set(make_schemas.TITLES) == set(formats.SCHEMAS)
    for name in formats.SCHEMAS:
        schema = validator(name).schema
        assert schema["$id"] == f"urn:memidex:schema:2:{name}"
        assert schema["title"]
        assert schema["description"]
        assert "contract" not in json.dumps(schema)


def test_every_file_of_the_example_root_is_valid() -> None:
    checked = set()
    for path in sorted(example.path().rglob("*")):
        name = next((known for known in FILES if path.as_posix().endswith(f"/{known}")), None)
        if name and path.is_file():
            check = validator(FILES[name])
            for value in values_of(read.parse(name, path.read_bytes())):
                assert list(check.iter_errors(value)) == [], path
                checked.add(name)
    assert checked == set(FILES)


def test_the_procedures_of_the_example_root_are_valid() -> None:
    blocks = [
        json.loads(text.split("```json\n")[1].split("```")[0])
        for path in example.path().rglob("procedure-*/record.md")
        if "```json" in (text := path.read_text(encoding="utf-8"))
    ]
    assert len(blocks) >= 2
    assert [error for block in blocks for error in validator("procedure").iter_errors(block)] == []


def broken(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A valid value with one thing wrong, in several ways."""
    schema = make_schemas.schema(name)
    for field in schema.get("required", []):
        yield f"without {field}", {key: item for key, item in value.items() if key != field}
    for field in schema["properties"]:
        if field in value:
            yield f"{field} is an object of another kind", {**copy.deepcopy(value), field: {"no": object}}


@pytest.mark.parametrize("name", formats.SCHEMAS)
def test_a_schema_refuses_what_its_model_refuses(name: str) -> None:
    model = formats.SCHEMAS[name]
    check = validator(name)
    sample = SAMPLES[name]
    assert list(check.iter_errors(sample)) == []
    model.model_validate(sample)
    for what, wrong in broken(name, sample):
        wrong = json.loads(json.dumps(wrong, default=str))
        with pytest.raises(ValueError):
            model.model_validate(wrong)
        assert list(check.iter_errors(wrong)), what


ELEMENT = {"t": "el", "role": "button", "name": "buy", "ordinal": 0}
SAMPLES: dict[str, Any] = {
    "record": {
        "schemaVersion": 2, "id": "fact-x-0011223344556677", "kind": "fact", "subtype": "selector",
        "anchors": [{"raw": ELEMENT, "normalized": ELEMENT}], "scope": {"tier": "product", "key": "shop"},
        "createdAtOrdinal": 1, "originClass": "user", "evidenceIncomplete": False,
    },
    "event": {"buildOrdinal": 1, "origin": "user", "type": "confirmed", "id": "1", "at": "2026-01-01T00:00:00Z"},
    "relations": {"relations": [{"type": "supersedes", "target": "x", "atOrdinal": 1}]},
    "manifest": {"schemaVersion": 2, "algorithm": "sha256", "files": {"record.md": {"hash": "0" * 64, "size": 1}}},
    "provenance": {"run": "1", "buildOrdinal": 1, "mode": "ci", "test": "t", "step": 1, "at": "2026-01-01T00:00:00Z"},
    "observation": {"id": "1", "kind": "element", "run": "1", "test": "t"},
    "measurement": {"unit": "ms", "samples": [{"buildOrdinal": 1, "value": 1.5}]},
    "gate": {"gate": "g", "passed": True, "reason": "r", "buildOrdinal": 1, "at": "2026-01-01T00:00:00Z"},
    "artifacts-index": {"artifacts": [{"path": "artifacts/1.png", "kind": "screenshot", "hash": "0", "step": "1"}]},
    "run": {"ordinal": 1, "run": "1", "at": "2026-01-01T00:00:00Z", "mode": "local", "commit": "c"},
    "procedure": {"parameters": [{"name": "n", "type": "string", "example": 1}], "actions": [{"action": "click"}]},
}  # fmt: skip


def test_the_committed_rule_reference_is_fresh() -> None:
    assert make_docs.FILE.read_text(encoding="utf-8") == make_docs.reference()


def test_a_stale_rule_reference_is_seen() -> None:
    changed = [replace(registry.RULES[0], severity="hint"), *registry.RULES[1:]]
    assert make_docs.reference(changed) != make_docs.reference()
    assert make_docs.reference(registry.RULES[1:]) != make_docs.reference()


def test_every_rule_is_in_the_table_and_has_its_page() -> None:
    text = make_docs.reference()
    for rule in registry.RULES:
        assert f"](#{make_docs.anchor(rule)}) | `{rule.name}`" in text
        assert f"\n## {rule.code} {rule.name}\n" in text
        assert rule.page in text
