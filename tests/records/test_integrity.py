"""How a bundle stands to its manifest: the states, the shapes of a manifest that are read, and other systems' checkouts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from memidex import example
from memidex.records.memidex import render
from memidex.records.memidex.bundle import Bundle, Fault, differs_by_line_ends, leaves, read, seal_of

FOLDER = example.path() / "memory" / "komazon" / "bundles" / "fact-el-button-place-order-36-00-dd75ab371443d7b6"
FILES = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}
LOG = "evidence/outcomes.jsonl"
EVENT = b'{"buildOrdinal":6,"origin":"user","type":"helpful"}\n'


def bundle(others: tuple[str, ...] = (), faults: dict[str, Fault] | None = None, **changed: bytes | None) -> Bundle:
    """The sealed bundle after files, named with `__` for `/` and `_` for `.`, have other bytes or are gone."""
    files = dict(FILES)
    for key, data in changed.items():
        name = {"log": LOG, "record": "record.md", "manifest": "manifest.json", "relations": "relations.json"}[key]
        if data is None:
            del files[name]
        else:
            files[name] = data
    return read("/r/memory/komazon/bundles/x", "komazon", files, others, faults)


def manifest(shape: Callable[[str, bytes], Any], **more: Any) -> bytes:
    """A manifest of the bundle whose entries are what `shape` makes of a name and its bytes."""
    return json.dumps(
        {**more, "files": {name: shape(name, data) for name, data in FILES.items() if name != "manifest.json"}}
    ).encode()


def hexdigest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# The five states ------------------------------------------------------------------------------------------------------


def test_a_bundle_as_its_manifest_says_is_sealed() -> None:
    assert bundle().integrity == "sealed"
    assert bundle().seals == ()


def test_a_log_that_only_grew_is_appended() -> None:
    grown = bundle(log=FILES[LOG] + EVENT)
    assert grown.integrity == "appended"
    assert grown.seals == ((LOG, "appended"),)


def test_a_log_sealed_empty_may_grow_too() -> None:
    files = {**FILES, LOG: b""}
    sealed = render.manifest(seal_of(files)).encode()
    assert bundle(manifest=sealed, log=EVENT).integrity == "appended"


def test_a_torn_last_line_leaves_the_log_appended_for_the_logs_own_rules_to_report() -> None:
    torn = bundle(log=FILES[LOG] + EVENT[:20])
    assert torn.seals == ((LOG, "appended"),)
    assert [problem.rule for problem in torn.files[LOG].problems] == ["torn-line"]


def test_a_log_sealed_without_its_last_newline_may_grow_after_it() -> None:
    files = {**FILES, LOG: FILES[LOG].rstrip(b"\n")}
    sealed = render.manifest(seal_of(files)).encode()
    assert bundle(manifest=sealed, log=FILES[LOG] + EVENT).integrity == "appended"
    assert bundle(manifest=sealed, log=FILES[LOG].rstrip(b"\n") + b" \n").integrity == "rewritten"


def test_another_file_that_differs_is_edited() -> None:
    edited = bundle(record=FILES["record.md"] + b"\n")
    assert edited.seals == (("record.md", "edited"),)
    assert edited.integrity == "edited"


@pytest.mark.parametrize(
    "log", [FILES[LOG].replace(b"confirmed", b"contradicted", 1), FILES[LOG][:-1], FILES[LOG].split(b"\n", 1)[1], b""]
)
def test_a_log_whose_sealed_part_differs_is_rewritten(log: bytes) -> None:
    assert bundle(log=log).seals == ((LOG, "rewritten"),)


def test_a_listed_file_that_is_missing_makes_it_incomplete() -> None:
    assert bundle(relations=None).seals == (("relations.json", "incomplete"),)


def test_a_file_that_is_not_listed_makes_it_incomplete() -> None:
    unlisted = read("/r/memory/komazon/bundles/x", "komazon", {**FILES, "notes.txt": b"x"}, ("notes.txt",))
    assert unlisted.seals == (("notes.txt", "incomplete"),)


def test_a_bundle_without_a_manifest_is_incomplete_and_says_it_once() -> None:
    assert bundle(manifest=None).seals == (("manifest.json", "incomplete"),)


def test_the_worst_state_of_any_file_is_the_bundles() -> None:
    assert bundle(log=FILES[LOG] + EVENT, record=b"x").integrity == "edited"
    assert bundle(log=b"", record=b"x").integrity == "rewritten"


# Shapes of a manifest -------------------------------------------------------------------------------------------------

SHAPES: dict[str, bytes] = {
    "objects": manifest(lambda _name, data: {"hash": hexdigest(data), "size": len(data)}),
    "objects without a size": manifest(lambda _name, data: {"hash": hexdigest(data)}),
    "bare hex": manifest(lambda _name, data: hexdigest(data)),
    "bare hex in capitals": manifest(lambda _name, data: hexdigest(data).upper()),
    "a prefix": manifest(lambda _name, data: f"sha256:{hexdigest(data)}"),
    "the algorithm told beside": manifest(lambda _name, data: hashlib.blake2s(data).hexdigest(), algorithm="blake2s"),
    "another prefix": manifest(lambda _name, data: f"sha512:{hashlib.sha512(data).hexdigest()}", algorithm="sha256"),
    "told by its length": manifest(lambda _name, data: hashlib.sha1(data, usedforsecurity=False).hexdigest()),
    "a spelling with a hyphen": manifest(lambda _name, data: hexdigest(data), algorithm="SHA-256"),
    "keys of its own": manifest(lambda _name, data: {"hash": hexdigest(data), "mode": "0644"}, by="another writer"),
    "a list": json.dumps({"files": [{"path": name, "hash": hexdigest(data), "size": len(data)} for name, data in FILES.items() if name != "manifest.json"]}).encode(),
    "a list with the algorithm as the key": json.dumps({"files": [{"path": name, "sha256": hexdigest(data)} for name, data in FILES.items() if name != "manifest.json"]}).encode(),
    "another system's separators": json.dumps({"files": {name.replace("/", "\\"): hexdigest(data) for name, data in FILES.items() if name != "manifest.json"}}).encode(),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_manifest_of_a_known_shape_seals(shape: str) -> None:
    sealed = bundle(manifest=SHAPES[shape])
    assert sealed.files["manifest.json"].problems == ()
    assert sealed.seals == ()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_manifest_of_a_known_shape_tells_growth_from_rewriting(shape: str) -> None:
    assert bundle(manifest=SHAPES[shape], log=FILES[LOG] + EVENT).seals == ((LOG, "appended"),)
    assert bundle(manifest=SHAPES[shape], log=EVENT + FILES[LOG]).seals == ((LOG, "rewritten"),)
    assert bundle(manifest=SHAPES[shape], record=b"x").seals == (("record.md", "edited"),)


@pytest.mark.parametrize(
    "data",
    [
        b"{}", b"[]", b"3", b'{"files":3}', b'{"files":{"record.md":7}}', b'{"files":[1,2,3]}', b'{"files":[{"name":"record.md"}]}',
        b'{"files":{"record.md":"not a hash"}}', b'{"entries":{"record.md":"00"}}', b'{"files":{"record.md":{"digest":"x"},"a":{},"b":{}}}',
    ],
)  # fmt: skip
def test_a_manifest_of_another_shape_is_one_warning_and_integrity_unknown(data: bytes) -> None:
    strange = bundle(manifest=data)
    assert strange.integrity == "unknown"
    assert strange.seals == (("manifest.json", "unknown"),)
    assert [problem.rule for problem in strange.files["manifest.json"].problems] == ["bad-value"]


def test_a_manifest_that_is_no_json_is_told_by_the_parser_and_leaves_integrity_unknown() -> None:
    assert bundle(manifest=b"{").integrity == "unknown"


def test_a_manifest_with_conflict_markers_seals_nothing_until_they_are_resolved() -> None:
    text = FILES["manifest.json"].decode()
    conflict = f"<<<<<<< HEAD\n{text}=======\n{{}}\n>>>>>>> other\n".encode()
    assert bundle(manifest=conflict, record=b"x").seals == (("manifest.json", "unknown"),)


# What is no fact of integrity -----------------------------------------------------------------------------------------


def test_of_a_file_with_a_fault_nothing_is_known_and_the_bundle_is_not_called_sealed() -> None:
    huge = bundle(relations=None, faults={"relations.json": Fault("too-large", "9 MB")})
    assert (huge.seals, huge.integrity) == ((("relations.json", "unknown"),), "unknown")
    gone = {name: data for name, data in FILES.items() if not name.startswith("evidence/")}
    faulted = read("/r/memory/komazon/bundles/x", "komazon", gone, (), {"evidence": Fault("link", "out of the root")})
    assert (faulted.seals, faulted.integrity) == ((("evidence", "unknown"),), "unknown")


def test_what_is_known_to_be_wrong_weighs_more_than_what_is_not_known() -> None:
    both = bundle(record=b"another", faults={"notes.txt": Fault("link", "to nothing")})
    assert both.integrity == "edited"


def test_a_listed_path_that_leaves_the_bundle_or_names_an_artifact_is_not_missing() -> None:
    extra = {name: hexdigest(b"x") for name in ("artifacts/a.png", "../x", "/etc/passwd", "C:\\x", "a/../../x")}
    listed = manifest(lambda _name, data: hexdigest(data))
    value = json.loads(listed)
    value["files"] |= extra
    assert bundle(manifest=json.dumps(value).encode()).seals == ()


def test_a_listed_file_in_a_folder_that_is_not_read_is_not_missing() -> None:
    value = json.loads(manifest(lambda _name, data: hexdigest(data)))
    value["files"]["notes/a.txt"] = hexdigest(b"x")
    assert bundle(manifest=json.dumps(value).encode(), others=("notes",)).seals == ()
    assert bundle(manifest=json.dumps(value).encode()).seals == (("notes/a.txt", "incomplete"),)


@pytest.mark.parametrize(
    "name", [".DS_Store", "Thumbs.db", "._record.md", ".memidex-x1.tmp", ".record.md.swp", "record.md~", "evidence/#a#"]
)
def test_temporary_files_and_junk_do_not_make_it_incomplete(name: str) -> None:
    assert read("/r/memory/komazon/bundles/x", "komazon", {**FILES, name: b"x"}, (name,)).seals == ()


# Line ends ------------------------------------------------------------------------------------------------------------


def test_a_checkout_with_other_line_ends_is_edited_and_never_rewritten() -> None:
    files = {name: data.replace(b"\n", b"\r\n") for name, data in FILES.items()}
    turned = read("/r/memory/komazon/bundles/x", "komazon", files)
    assert {state for _, state in turned.seals} == {"edited"}
    assert len(turned.seals) == len(FILES) - 1
    assert turned.manifest
    for name, _ in turned.seals:
        assert differs_by_line_ends(turned.files[name], turned.manifest.files[name], "sha256")


def test_a_log_that_grew_after_such_a_checkout_is_still_not_rewritten() -> None:
    log = (FILES[LOG] + EVENT).replace(b"\n", b"\r\n")
    assert bundle(log=log).seals == ((LOG, "edited"),)
    assert bundle(log=log.replace(b"confirmed", b"harmful", 1)).seals == ((LOG, "rewritten"),)


def test_files_sealed_with_crlf_and_checked_out_with_lf_are_told_the_same_way() -> None:
    files = {name: data.replace(b"\n", b"\r\n") for name, data in FILES.items()}
    sealed = render.manifest(seal_of(files)).encode()
    turned = bundle(manifest=sealed)
    assert {state for _, state in turned.seals} == {"edited"}


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("artifacts/a.png", False), ("record.md", False), ("a..b/c", False), ("./a", False), ("..", True), ("../a", True), ("a/../b", True),
        ("/a", True), ("\\a", True), ("a\\b", True), ("C:/a", True), ("c:a", True), ("https://x.example/a.png", True), ("a/..", True), ("", False),
    ],
)  # fmt: skip
def test_a_path_leaves_the_bundle_where_it_is_absolute_or_goes_up_or_is_not_written_with_slashes(
    path: str, answer: bool
) -> None:
    assert leaves(path) is answer
