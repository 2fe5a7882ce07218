"""Where a cursor leads."""

from __future__ import annotations

from pathlib import Path

import pytest
from cursor import Scene, free_text, scene

from memidex.editor.definition import Target, definitions, links, references
from memidex.text import Source


def text_at(target: Target) -> tuple[str, str]:
    """(path from the bundles' folder, the text that the target is)."""
    source = Source(Path(target.path).read_text())
    return target.path.rpartition("/bundles/")[2], source[target.span]


def led(here: Scene) -> list[tuple[str, str]]:
    return [text_at(target) for target in definitions(here.view, here.offset)]


@pytest.mark.parametrize(
    "sketch",
    [
        '-- b/relations.json --\n{"relations":[{"type":"supersedes","target":"@a‸"}]}',
        '-- b/relations.json --\n{"supersedes":["‸@a"]}',
        '-- b/relations.json --\n{"relations":[{"type":"supersedes","target":"MEM-‸1"}]}',
        "-- b/record.md --\n## Summary\n\nlike agentqa://memory/m‸em-001\n\n## Detail\n\nd",
        '-- b/evidence/outcomes.jsonl --\n{"buildOrdinal":1,"origin":"user","type":"superseded","by":"‸@a"}',
        '-- record.md --\nid: "‸@a"',
    ],
)
def test_an_address_leads_to_the_id_of_its_record(tmp_path: Path, sketch: str) -> None:
    here = scene(sketch.replace("@a‸", "‸@a"), tmp_path, ("a",))
    name = here.drawn.ids["a"]
    assert led(here) == [(f"{name}/record.md", f'"{name}"')]


def test_an_address_outside_the_root_leads_in(tmp_path: Path) -> None:
    here = scene("-- record.md --", tmp_path)
    view, offset = free_text(here, "as in ‸@a")
    [target] = definitions(view, offset)
    assert view.source[target.origin] == here.drawn.ids["a"]


def test_a_repeated_id_leads_to_every_record_that_bears_it(tmp_path: Path) -> None:
    here = scene(
        '-- b/record.md --\nid: "@a"\n-- c/relations.json --\n{"relations":[{"type":"relates-to","target":"‸@a"}]}',
        tmp_path,
    )
    assert sorted(path for path, _ in led(here)) == sorted(f"{here.drawn.ids[nick]}/record.md" for nick in "ab")


def test_an_anchor_leads_to_the_other_records_about_it(tmp_path: Path) -> None:
    element = '{"t":"el","role":"button","name":"a","ordinal":0}'
    here = scene(
        f'-- record.md --\nanchors: [{{"raw":{element}‸,"normalized":{element}}}]\n-- b/record.md --\nanchors: [{{"raw":{element},"normalized":{element}}}]',
        tmp_path,
    )
    assert [path for path, _ in led(here)] == [f"{here.drawn.ids['b']}/record.md"]


@pytest.mark.parametrize("undo", ['"type":"retracted","retracts":["‸a-1"]', '"type":"overturned","overturns":"a-‸1"'])
def test_an_event_reference_leads_to_the_event(tmp_path: Path, undo: str) -> None:
    here = scene(f'-- a/evidence/outcomes.jsonl + --\n{{"buildOrdinal":2,"origin":"user",{undo}}}', tmp_path)
    [(path, text)] = led(here)
    assert path.endswith("outcomes.jsonl")
    assert '"id":"a-1"' in text


def test_what_is_not_there_leads_nowhere(tmp_path: Path) -> None:
    assert led(scene('-- relations.json --\n{"relations":[{"type":"relates-to","target":"MEM-‸9"}]}', tmp_path)) == []


NAMED = """-- record.md --
## Summ‸ary

claim

## Detail

d
-- b/relations.json --
{"relations":[{"type":"supersedes","target":"@a"},{"type":"relates-to","target":"MEM-001"}]}
-- c/relations.json --
[{"type":"derived-from","target":"@a"}]
-- d/relations.json --
{"superseded-by":["@a"]}
-- d/evidence/outcomes.jsonl + --
{"buildOrdinal":2,"origin":"user","type":"superseded","by":"@a"}
"""


def test_references_are_relations_events_and_open_texts_that_name_the_record(tmp_path: Path) -> None:
    here = scene(NAMED, tmp_path, ("a",))
    name = here.drawn.ids["a"]
    note = (tmp_path / "notes.md").as_posix()
    texts = [(note, Source(f"see {name} and mem-1, not MEM-2")), (here.view.path, here.view.source)]
    found = references(here.view, here.offset, texts)
    places = [
        (
            target.path.rpartition("/")[2],
            dict(texts)[target.path][target.span] if target.path == note else text_at(target)[1],
        )
        for target in found
    ]
    assert sorted(places) == sorted(
        [
            ("relations.json", name),
            ("relations.json", "MEM-001"),
            ("relations.json", name),
            ("relations.json", name),
            ("outcomes.jsonl", name),
            ("notes.md", name),
            ("notes.md", "mem-1"),
        ]
    )


def test_references_of_an_event_are_what_takes_it_back(tmp_path: Path) -> None:
    here = scene(
        '-- a/evidence/outcomes.jsonl --\n{"buildOrdinal":1,"origin":"user",‸"type":"confirmed","id":"e1"}\n{"buildOrdinal":2,"origin":"user","type":"retracted","retracts":["e1"]}',
        tmp_path,
    )
    [target] = references(here.view, here.offset)
    assert here.view.source.line_of(target.span.start) == 1


def test_links_are_addresses_artifacts_sealed_files_and_policies(tmp_path: Path) -> None:
    here = scene(
        '-- record.md --\nkind: "policy"\n## Summary\n\nsee @b and MEM-404\n\n## Detail\n\nd\n-- b/record.md --\n-- policies.md --\n# P\n'
        '-- artifacts.index.json --\n{"artifacts":[{"path":"artifacts/a.png"},{"path":"../x.png"},{"path":"/etc/passwd"}]}',
        tmp_path,
    )
    view, _ = here.at("record.md")
    assert [(view.source[link.span], link.path) for link in links(view)] == [
        ("policy", f"{here.root.path}/policies.md"),
        (here.drawn.ids["b"], here.path("record.md", "b")),
    ]
    view, _ = here.at("artifacts.index.json")
    assert [link.path for link in links(view)] == [here.path("artifacts/a.png")]
    view, _ = here.at("manifest.json")
    assert here.path("evidence/outcomes.jsonl") in [link.path for link in links(view)]
