"""Which files a bundle needs and where its manifest lists them, for the rules about a bundle's files."""

from __future__ import annotations

from memidex.records.memidex.bundle import Bundle, plain
from memidex.records.memidex.vocabulary import FILES
from memidex.rules.rule import Place, Severity

NEEDED: dict[str, Severity] = {name: "error" if how == "error" else "warning" for name, how in FILES.items() if how}
BASELINE = "evidence/measurements.json"


def needs(bundle: Bundle, name: str) -> bool:
    """Whether the lack of a file is a finding: a baseline is needed by a measurement that has a value observed."""
    if name != BASELINE or bundle.record.subtype != "measurement":
        return name in NEEDED
    return any(observation.kind == "value" for observation in bundle.value("observations.jsonl") or ())


def listed(bundle: Bundle, path: str) -> Place | None:
    """The manifest's entry of a file; None where it has none."""
    manifest = bundle.files.get("manifest.json")
    entries = manifest.tree.get(("files",)) if manifest and manifest.tree else None
    if not entries:
        return None
    for name in entries.members:
        if plain(name) == path:
            return Place(("files", name), "key")
    for index, item in enumerate(entries.items):
        if "path" in item.members and plain(str(item.members["path"][1].value)) == path:
            return Place(("files", index, "path"))
    return None


def standing_place(bundle: Bundle, path: str) -> tuple[str, Place]:
    """(file, place) at which a finding about a file that is not there stands: the manifest's entry, else the record's id."""
    entry = listed(bundle, path)
    if entry:
        return "manifest.json", entry
    if "record.md" in bundle.files:
        return "record.md", Place(("id",))
    return ("manifest.json", Place(("files",), "key")) if "manifest.json" in bundle.files else (path, Place())
