"""What a person reads at a cursor."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from cursor import Scene, free_text, scene
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from test_markdown import HOSTILE

from memidex.editor.hover import hover
from memidex.editor.lenses import lenses
from memidex.editor.view import View
from memidex.records.memidex.bundle import Bundle
from memidex.records.memidex.read import File
from memidex.records.memidex.values import Relation
from memidex.store.snapshot import Reader, Snapshot, entry
from memidex.text import Source

HEALTHY_TITLE = 'button "a" resolved as a verified element'


def shown(here: Scene) -> str:
    found = hover(here.view, here.offset)
    assert found is not None
    return found.markdown


@pytest.mark.parametrize(
    "sketch",
    [
        "-- record.md --\nid: \"‸@a\"",
        "-- record.md --\n## Summ‸ary\n\nclaim\n\n## Detail\n\nd",
        "-- record.md --\n## Summary\n\ncla‸im\n\n## Detail\n\nd",
        "-- b/relations.json --\n{\"relations\":[{\"type\":\"relates-to\",\"target\":\"@‸a\"}]}".replace("@‸a", "‸@a"),
        "-- record.md --\n## Summary\n\nclaim\n\n## Detail\n\nsee mem-1‸",
        "-- record.md --\n## Summary\n\nclaim\n\n## Detail\n\nsee agentqa://mem‸ory/MEM-001",
    ],
)  # fmt: skip
def test_an_address_a_title_and_an_id_show_the_card(tmp_path: Path, sketch: str) -> None:
    found = shown(scene(sketch, tmp_path, ("a",)))
    assert "**active**" in found
    assert "trust **0.75** = (1 + 2) / (1 + 2 + 1)" in found
    assert "`MEM-001`" in found
    assert "counts: 1 confirmed" in found
    assert "valid from build 1" in found
    assert "scope: product shop" in found
    assert 'anchors: button "a"; web' in found
    assert "learned from a run: run `run-1`, build 1, local, test buys, step 1" in found
    assert re.search(
        r"!\[Trust from build 1 to 3: from 0\.67 to 0\.75, active, 2 events\]\(data:image/svg\+xml;base64,[A-Za-z0-9+/=]+\)",
        found,
    )


def test_the_span_of_a_hover_is_the_whole_address(tmp_path: Path) -> None:
    view, offset = free_text(scene("-- record.md --", tmp_path, ("a",)), "see agentqa://memory/MEM‸-001 there")
    found = hover(view, offset)
    assert found is not None
    assert view.source[found.span] == "agentqa://memory/MEM-001"


def test_an_address_in_any_text_of_the_workspace_shows_the_card(tmp_path: Path) -> None:
    here = scene("-- record.md --", tmp_path, ("a",))
    for text in ("MEM-‸1", "# About ‸@a\n", '{"why": "‸@a"}'):
        view, offset = free_text(here, text)
        found = hover(view, offset)
        assert found is not None
        assert HEALTHY_TITLE in found.markdown


def test_a_text_of_no_root_says_nothing_of_what_is_no_record(tmp_path: Path) -> None:
    view, offset = free_text(scene("-- record.md --", tmp_path), "the part MEM-77‸ of the shelf")
    assert hover(view, offset) is None


def test_an_address_of_no_record_is_told_within_a_root(tmp_path: Path) -> None:
    assert "no such record" in shown(scene("-- record.md --\n## Summary\n\nsee MEM-77‸7\n\n## Detail\n\nd", tmp_path))


def test_a_faded_record_shows_what_it_is_served_with(tmp_path: Path) -> None:
    runs = "\n".join(f'{{"ordinal":{n}}}' for n in range(1, 8))
    found = shown(scene(f"-- runs.jsonl --\n{runs}\n-- record.md --\n## Sum‸mary\n\nx\n\n## Detail\n\ny", tmp_path))
    assert "served 0.45, unconfirmed since build 1" in found


def test_relations_are_shown_with_the_titles_of_their_targets_once(tmp_path: Path) -> None:
    found = shown(
        scene(
            '-- record.md --\n## ‸Summary\n\nnew\n\n## Detail\n\nd\n-- relations.json --\n{"relations":[{"type":"supersedes","target":"@b"},'
            '{"type":"relates-to","target":"fact-x-0123456789abcdef"}]}\n'
            '-- b/relations.json --\n{"relations":[{"type":"superseded-by","target":"@a"}]}\n'
            '-- c/relations.json --\n{"relations":[{"type":"derived-from","target":"@a"}]}',
            tmp_path,
        )
    )
    assert found.count('button "b" resolved') == 1
    assert 'supersedes: button "b" resolved as a verified element (active' in found
    assert 'source of button "c" resolved' in found
    assert "(no such record)" in found


def test_a_candidate_says_why_it_is_not_served(tmp_path: Path) -> None:
    found = shown(scene('-- record.md --\n## ‸Summary\n\nnew\n\n## Detail\n\nd\n-- a/evidence/outcomes.jsonl --\n{"buildOrdinal":1,"origin":"user","type":"confirmed"}', tmp_path))  # fmt: skip
    assert "not served: only an active record is served (`not-active`)" in found
    assert "**candidate**" in found


@pytest.mark.parametrize(
    ("sketch", "says"),
    [
        ('kin‸d: "fact"', "What kind of knowledge"),
        ('kin‸d: "fact"', "- `caution`: A known failure mode"),
        ('kind: "fa‸ct"', "**fact**: Something true about the app."),
        ('subtype: "behav‸ioral"', "How an element behaves."),
        ('originClass: "us‸er"', "A person"),
        ('scope: {"tier":"pro‸duct","key":"shop"}', "One product"),
        ('sco‸pe: {"tier":"product","key":"shop"}', "- `suite`: One suite of tests."),
        ("evidenceInc‸omplete: false", "- `true`"),
        ("tru‸st: 0.9", "never stored"),
        ("## Summary\n\nx\n\n## Det‸ail\n\nd", "How it was seen"),
    ],
)
def test_keys_and_words_say_what_they_mean(tmp_path: Path, sketch: str, says: str) -> None:
    assert says in shown(scene(f"-- record.md --\n{sketch}", tmp_path))


def test_an_anchor_shows_what_it_is_the_card_and_who_else_is_about_it(tmp_path: Path) -> None:
    element = '{"t":"el","role":"button","name":"a","ordinal":0}'
    anchors = f'anchors: [{{"raw":{element},"normalized":{element}}}]'
    found = shown(
        scene(
            f"-- record.md --\n{anchors[:30]}‸{anchors[30:]}\n-- b/record.md --\n{anchors}\n## Summary\n\nthe other\n\n## Detail\n\nd",
            tmp_path,
        )
    )
    assert "an element, by role" in found
    assert "Main anchor of the other (active" in found
    assert HEALTHY_TITLE in found


def test_a_relation_type_says_what_it_means(tmp_path: Path) -> None:
    for text in ('{"relations":[{"type":"conflicts‸-with","target":"x"}]}', '{"conflicts-‸with":["x"]}'):
        assert "Both cannot be true." in shown(scene(f"-- relations.json --\n{text}", tmp_path / str(len(text))))


LOG = """-- a/evidence/outcomes.jsonl --
{"buildOrdinal":1,"origin":"agent-verified","type":"confirmed","id":"e1"}
{"buildOrdinal":1,"origin":"agent-verified","type":"promoted","id":"e2","path":"gate1+gate2"}
{"buildOrdinal":2,"origin":"user","type":"contradicted","id":"e3","note":"saw [it](command:x)"}
{"buildOrdinal":3,"origin":"user","type":"retracted","id":"e4","retracts":["e3"]}
{"buildOrdinal":3,"origin":"user","type":"retracted","id":"e4","retracts":["e3"]}
{"buildOrdinal":4,"origin":"user","type":"promoted","id":"e5"}
{"buildOrdinal":4,"origin":"user","type":"fancy"}
{"buildOrdinal":5,"origin":"user","type":"superseded","by":"@b"}
-- b/record.md --"""


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ('"id":"e1"', "trust 0.67 → **0.75** · status candidate, unchanged"),
        ('"id":"e2"', "status candidate → **active**"),
        ('"id":"e3"', r"note: saw \[it\](command\:x)"),
        ('"id":"e3"', "**No effect**: taken back by a later event (line 4, retracted)"),
        ('["e3"]', "Line 3:"),
        ('"id":"e5"', "only a candidate can be promoted"),
        ('"fancy"', "**No effect**: type is"),
        ("contradicted", "Evidence against the record."),
        ('user","type":"contradicted', "**user**: A person"),
        ("@b", 'button "b" resolved'),
    ],
)
def test_an_event_line_says_what_it_did(tmp_path: Path, at: str, says: str) -> None:
    text = LOG.replace(at, f"{at[:1]}‸{at[1:]}" if at != "@b" else "‸@b", 1)
    assert says in shown(scene(text, tmp_path))


def test_an_event_told_twice_counts_once(tmp_path: Path) -> None:
    here = scene(LOG, tmp_path)
    view, _ = here.at("evidence/outcomes.jsonl")
    found = hover(view, view.source.line_span(4).start + 1)
    assert found is not None
    assert "the same event as on line 4" in found.markdown


@pytest.mark.parametrize("text", ["fails with MX1‸05", "<!-- memidex: allow unknown-val‸ue -->"])
def test_a_rule_shows_its_page(tmp_path: Path, text: str) -> None:
    view, offset = free_text(scene("-- record.md --", tmp_path), text)
    found = hover(view, offset)
    assert found is not None
    assert "**MX105 unknown-value**" in found.markdown


def test_the_picture_is_well_formed_and_small(tmp_path: Path) -> None:
    lines = "\n".join(
        f'{{"buildOrdinal":{n},"origin":"user","type":"{("confirmed", "contradicted")[n % 3 == 0]}","id":"e{n}"}}'
        for n in range(1, 3000)
    )
    found = shown(
        scene(
            f"-- a/evidence/outcomes.jsonl --\n{lines}\n-- record.md --\n## ‸Summary\n\ns\n\n## Detail\n\nd", tmp_path
        )
    )
    assert len(found) < 40_000
    svg = base64.b64decode(re.search(r"base64,([A-Za-z0-9+/=]+)", found).group(1))  # type: ignore[union-attr]
    assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_huge_summaries_and_logs_stay_below_what_an_editor_shows(tmp_path: Path) -> None:
    lines = "\n".join(
        f'{{"buildOrdinal":{n},"origin":"user","type":"confirmed","id":"e{n}"}}' for n in range(1, 30_000)
    )
    text = "\n".join(["[x](command:y) "] * 20_000)
    here = scene(
        f"-- a/evidence/outcomes.jsonl --\n{lines}\n-- record.md --\n## ‸Summary\n\n{text}\n\n## Detail\n\nd", tmp_path
    )
    found = shown(here)
    assert len(found) < 100_000
    assert "No picture: the log has 29,999 events." in found


def test_nothing_is_said_where_nothing_is_known(tmp_path: Path) -> None:
    assert hover(scene("-- provenance.json --\n{‸}", tmp_path).view, 0) is None


def test_a_short_id_of_several_roots_shows_each_in_a_text_of_none(tmp_path: Path) -> None:
    one, two = scene("-- record.md --", tmp_path / "one", ("a",)), scene("-- b/record.md --", tmp_path / "two", ("b",))
    found = hover(View(Snapshot((one.root, two.root)), (tmp_path / "notes.md").as_posix(), Source("MEM-1")), 2)
    assert found is not None
    assert 'button "a"' in found.markdown
    assert 'button "b"' in found.markdown


class Remembering:
    """The reader of a root that remembers which bundles were read."""

    def __init__(self, inner: Reader) -> None:
        self.inner, self.read = inner, set[str]()

    def bundle(self, directory: str) -> Bundle | None:
        self.read.add(directory)
        return self.inner.bundle(directory)

    def file(self, path: str) -> File | None:
        return self.inner.file(path)


def test_a_record_that_thousands_name_shows_a_few_and_how_many_more_and_reads_none_of_them(tmp_path: Path) -> None:
    here = scene("-- record.md --\n## ‸Summary\n\nhub\n\n## Detail\n\nd", tmp_path)
    reader = Remembering(here.root.reader)
    naming = (Relation("relates-to", here.entry().id),)
    others = [
        msgspec.structs.replace(
            here.entry(), directory=f"{here.root.path}/memory/shop/bundles/n{number}", id=f"n{number}", relations=naming
        )
        for number in range(5_000)
    ]
    crowded = replace(here.root, reader=reader).changed(others, [])
    view = View(Snapshot((crowded,)), here.view.path, here.view.source)
    found = hover(view, here.offset)
    assert found is not None
    assert found.markdown.count("relates to hub") == 8
    assert "and 4,992 more records name this one" in found.markdown
    assert reader.read == {here.entry().directory}
    assert lenses(view)[1].text == "5,000 references"


READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@settings(max_examples=40)
@given(st.lists(HOSTILE, min_size=8, max_size=8))
def test_a_card_of_hostile_text_is_text_with_one_picture_of_ours(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    here = KEPT.get("here") or KEPT.setdefault("here", scene("-- record.md --", tmp_path_factory.mktemp("hostile")))
    name, key, summary, kind, other, run, test, note = (text.encode("utf-8", "replace").decode() for text in texts)
    bundle = here.root.bundle(here.entry())
    assert bundle
    element = {"t": "el", "role": name, "name": name, "ordinal": 0}
    front = {
        "schemaVersion": 2, "id": here.entry().id, "kind": "fact", "subtype": "selector", "anchors": [{"raw": element, "normalized": element}],
        "scope": {"tier": "test", "key": key}, "createdAtOrdinal": 1, "originClass": "user", "evidenceIncomplete": False,
    }  # fmt: skip
    head = "".join(f"{field}: {json.dumps(value)}\n" for field, value in front.items())
    files = {
        "record.md": f"---\n{head}---\n\n## Summary\n\n{summary}\n\n## Detail\n\nd\n",
        "relations.json": json.dumps({"relations": [{"type": kind, "target": other}]}),
        "provenance.json": json.dumps({"run": run, "test": test, "step": note}),
        "evidence/outcomes.jsonl": json.dumps({"buildOrdinal": 1, "origin": "user", "type": "confirmed", "note": note, "by": other, "test": test, "run": run, "actor": name}) + "\n",
    }  # fmt: skip
    for file, text in files.items():
        bundle = bundle.with_file(file, text.encode())
    changed = replace(here.root, reader=Only(bundle)).with_entry(entry(bundle))
    snapshot = Snapshot((changed,))
    for file, text in files.items():
        view = View(snapshot, f"{bundle.directory}/{file}", Source(text))
        for offset in range(0, len(text), 20):
            found = hover(view, offset)
            # A rule's page is our own text, with its examples in fences.
            tokens = READER.parse(found.markdown) if found and not found.markdown.startswith("**MX") else []
            assert not [
                token
                for token in tokens
                if token.type in ("html_block", "fence", "code_block", "table_open", "heading_open")
            ]
            for child in (child for token in tokens for child in token.children or []):
                assert child.type not in ("link_open", "html_inline", "s_open"), child
                assert child.type != "image" or str(child.attrGet("src")).startswith("data:image/svg+xml;base64,")


class Only:
    """A reader that knows one bundle."""

    def __init__(self, known: Bundle) -> None:
        self.known = known

    def bundle(self, directory: str) -> Bundle | None:
        return self.known if directory == self.known.directory else None

    def file(self, path: str) -> File | None:
        return None


KEPT: dict[str, Scene] = {}
