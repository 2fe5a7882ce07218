"""Values as the text of a bundle's files, in the one form in which we write them (contract, sections 3 to 9)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from memidex.records.memidex import values


def line_of(value: Any) -> str:
    """A value as one line of JSON, in the order of its members."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def document(value: Any) -> str:
    """A value as a JSON file for people: two spaces, and a newline at its end."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def instant(at: datetime) -> str:
    """RFC 3339 in UTC, with fractions only where there are any."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def bare(value: Any) -> Any:
    """A struct as JSON objects, without the members that are not set."""
    if isinstance(value, msgspec.Struct):
        tag = value.__struct_config__.tag
        members = {
            wire: bare(getattr(value, name))
            for name, wire in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
        }
        return {
            **({value.__struct_config__.tag_field: tag} if tag else {}),
            **{name: item for name, item in members.items() if item is not None},
        }
    if isinstance(value, dict):
        return {name: bare(item) for name, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, (list, tuple)):
        return [bare(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return instant(value) if isinstance(value, datetime) else value


def front(record: values.Record) -> list[tuple[str, Any]]:
    """The frontmatter's fields and values in their order."""
    fields: list[tuple[str, Any]] = [("schemaVersion", record.version), ("id", record.id), ("kind", record.kind)]
    if record.subtype is not None:
        fields.append(("subtype", record.subtype))
    return [
        *fields,
        ("anchors", bare(record.anchors)),
        ("scope", bare(record.scope)),
        ("createdAtOrdinal", record.created),
        ("originClass", record.origin),
        ("evidenceIncomplete", record.incomplete),
    ]


def record(value: values.Record) -> str:
    """`record.md`, as the seed's example is written."""
    head = "".join(f"{name}: {line_of(item)}\n" for name, item in front(value))
    return f"---\n{head}---\n\n## Summary\n\n{value.summary}\n\n## Detail\n\n{value.detail}\n"


def events(log: Iterable[values.Event]) -> str:
    return "".join(line_of(bare(event)) + "\n" for event in log)


def relations(items: Iterable[values.Relation]) -> str:
    return document({"relations": bare(tuple(items))})


def manifest(value: values.Manifest) -> str:
    return document({"schemaVersion": 2, "algorithm": "sha256", "files": bare(value.files)})
