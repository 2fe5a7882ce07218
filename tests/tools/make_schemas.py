"""The published schemas of every format, made from the models that are its written truth.

    python tests/tools/make_schemas.py      writes schemas/*.schema.json

JSON Schema 2020-12. `$id` is a name and no address: nothing is fetched.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from memidex.records.memidex import formats
from memidex.records.memidex.vocabulary import FIELDS

FOLDER = Path(__file__).resolve().parent.parent.parent / "schemas"
# Schema -> (the file it is of, what one value of it is).
TITLES = {
    "record": ("record.md", "the frontmatter"),
    "event": ("evidence/outcomes.jsonl", "one line"),
    "relations": ("relations.json", "the file"),
    "manifest": ("manifest.json", "the file"),
    "provenance": ("provenance.json", "the file"),
    "observation": ("observations.jsonl", "one line"),
    "measurement": ("evidence/measurements.json", "the file"),
    "gate": ("evidence/gates.jsonl", "one line"),
    "artifacts-index": ("artifacts.index.json", "the file"),
    "run": ("runs.jsonl", "one line"),
    "procedure": ("record.md", "the fenced `json` block in the Detail of a procedure"),
}


class Published(GenerateJsonSchema):
    """Without the titles that repeat each member's own name."""

    schema_dialect = "https://json-schema.org/draft/2020-12/schema"

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def generate(self, schema: Any, mode: JsonSchemaMode = "validation") -> dict[str, Any]:
        return {"$schema": self.schema_dialect, **untitled(super().generate(schema, mode))}


def untitled(value: Any) -> Any:
    """A schema without the titles that pydantic gives to models, and without the sections that their texts name."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        kept = {name: untitled(item) for name, item in members.items() if name != "title" or not isinstance(item, str)}
        text = kept.get("description")
        return {**kept, "description": re.sub(r" \(contract, [^)]*\)", "", text)} if isinstance(text, str) else kept
    if isinstance(value, list):
        return [untitled(item) for item in cast("list[Any]", value)]
    return value


def schema(name: str) -> dict[str, Any]:
    """The schema of one format."""
    file, what = TITLES[name]
    made = formats.SCHEMAS[name].model_json_schema(schema_generator=Published)
    for field, described in made["properties"].items():
        if name == "record":
            described["description"] = FIELDS[field]
    head = {"$schema": made.pop("$schema"), "$id": f"urn:memidex:schema:2:{name}", "title": f"{file}: {what}"}
    return {**head, **made}


def schemas() -> dict[str, str]:
    """The text of every schema, by file name."""
    return {
        f"{name}.schema.json": json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n" for name in formats.SCHEMAS
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    made = schemas()
    for path in FOLDER.glob("*.schema.json"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
