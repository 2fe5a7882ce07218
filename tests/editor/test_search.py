"""Free text finds the record that is meant, or says that it is not sure."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from cursor import Scene, scene
from hypothesis import given
from hypothesis import strategies as st

from memidex.editor import search as rooms
from memidex.editor.search import Index, resolve, search, words_of
from memidex.store.snapshot import Root

SHOP = """-- record.md --
anchors: [{"raw":{"t":"el","role":"button","name":"place order · $36.00","ordinal":0},"normalized":{"t":"el","role":"button","name":"place order · $36.00","ordinal":0}}]
## Summary

button "place order · $36.00" resolved as a verified element

## Detail

d
-- b/record.md --
anchors: [{"raw":{"t":"el","role":"link","name":"cancel","ordinal":0},"normalized":{"t":"el","role":"link","name":"cancel","ordinal":0}}]
## Summary

link "cancel" leads to the cart für später

## Detail

d
-- c/record.md --
kind: "caution"
- subtype
anchors: [{"raw":{"t":"error","message":"Timeout"},"normalized":{"t":"error","message":"timeout"}}]
## Summary

Timeout while loading the invoices page

## Detail

d
"""


@pytest.fixture
def shop(tmp_path: Path) -> Scene:
    return scene(SHOP, tmp_path, ("a", "b"))


@pytest.mark.parametrize(
    ("text", "nick"),
    [
        ("place order button", "a"), ("order", "a"), ("plce ordr button", "a"), ("PLACE ORDER", "a"), ("36.00", "a"),
        ("fur spater", "b"), ("FÜR SPÄTER", "b"), ("cancel link", "b"), ("invoices timeout", "c"), ("invoic", "c"), ("caution", "c"),
    ],
)  # fmt: skip
def test_words_find_their_record(shop: Scene, text: str, nick: str) -> None:
    found = resolve(shop.root, text)
    assert found.candidates[0].entry == shop.entry(nick)
    assert all(0 <= match.score <= 100 for match in found.candidates)


def test_the_seeds_example_resolves(shop: Scene) -> None:
    found = resolve(shop.root, "place order button")
    assert (found.match, found.why) == (shop.entry(), "best match")


@pytest.mark.parametrize(
    "address", ["MEM-001", "mem-1", "agentqa://memory/MEM-001", "@a", "agentqa://memory/@a", " MEM-1 "]
)
def test_an_exact_address_always_wins(shop: Scene, address: str) -> None:
    found = resolve(shop.root, address.replace("@a", shop.drawn.ids["a"]))
    assert (found.match, found.why) == (shop.entry(), "exact address")
    assert found.candidates[0].score == 100


def test_a_path_is_an_address(shop: Scene) -> None:
    assert resolve(shop.root, shop.path("evidence/outcomes.jsonl", "b")).match == shop.entry("b")
    assert resolve(shop.root, shop.entry("c").directory).match == shop.entry("c")


@pytest.mark.parametrize(
    "address", ["MEM-404", "agentqa://memory/MEM-404", "fact-el-button-place-order-0123456789abcdef"]
)
def test_an_address_of_no_record_means_none_however_near_others_are(shop: Scene, address: str) -> None:
    found = resolve(shop.root, address)
    assert (found.match, found.why) == (None, "no record has this address")


def test_a_weak_best_match_is_told_with_its_candidates(shop: Scene) -> None:
    found = resolve(shop.root, "order of the knights in shining armour")
    assert found.match is None
    assert found.candidates
    assert found.why == "no match is near enough"
    assert resolve(shop.root, "zzzzzz").why == "nothing matches"
    assert resolve(shop.root, "").why == "nothing matches"


TWINS = """-- record.md --
## Summary

the same claim

## Detail

d
-- b/record.md --
## Summary

the same claim

## Detail

d
"""


def test_a_tie_is_never_guessed_and_its_candidates_come_most_trusted_first(tmp_path: Path) -> None:
    here = scene(
        f'{TWINS}-- b/evidence/outcomes.jsonl + --\n{{"buildOrdinal":2,"origin":"user","type":"confirmed"}}'.replace(
            "-- b/evidence", "-- b/evidence"
        ),
        tmp_path,
    )
    found = resolve(here.root, "the same claim")
    assert (found.match, found.why) == (None, "several records match equally well")
    assert [match.entry for match in found.candidates] == [here.entry("b"), here.entry("a")]


def test_a_record_that_was_replaced_does_not_tie_with_the_one_that_is_live(tmp_path: Path) -> None:
    here = scene(
        f'{TWINS}-- b/evidence/outcomes.jsonl + --\n{{"buildOrdinal":2,"origin":"user","type":"deprecated","reason":"forgotten"}}',
        tmp_path,
    )
    assert resolve(here.root, "the same claim").match == here.entry("a")


def test_the_digits_at_the_end_of_an_id_find_it(shop: Scene) -> None:
    assert search(shop.root, shop.drawn.ids["b"][-16:-8])[0].entry == shop.entry("b")


def test_an_edit_is_found_at_once_and_what_went_no_more(shop: Scene) -> None:
    assert resolve(shop.root, "cancel link").match == shop.entry("b")
    edited = msgspec.structs.replace(shop.entry("b"), summary="a zebra crosses")
    newer = shop.root.with_entry(edited)
    assert resolve(newer, "zebra").match == edited
    assert [match.entry for match in search(newer.without(edited.directory), "zebra")] == []
    assert search(shop.root, "spater")[0].entry == shop.entry("b"), "an older root is answered as it was"


WORDS = st.sampled_from(["order", "orders", "place", "cart", "für", "次へ", "a1b2c3"])
CHANGE = st.tuples(st.sampled_from("abc"), st.one_of(st.none(), st.lists(WORDS, max_size=4).map(" ".join)))


@given(st.lists(CHANGE, max_size=12))
def test_an_index_that_followed_every_change_equals_one_made_from_nothing(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, str | None]]
) -> None:
    here = KEPT.get("here") or KEPT.setdefault("here", scene(SHOP, tmp_path_factory.mktemp("shop")))
    followed, root = Index(), here.root
    followed.follow(root)
    for nick, summary in changes:
        entry = here.entry(nick)
        root = (
            root.without(entry.directory)
            if summary is None
            else root.with_entry(msgspec.structs.replace(entry, summary=summary))
        )
        followed.follow(root)
    assert told(followed, root) == told(Index(), root)


KEPT: dict[str, Scene] = {}


def told(index: Index, root: Root) -> object:
    index.follow(root)
    index.candidates(["order"])
    return (
        index.seen,
        index.texts,
        {word: set(row) for word, row in index.folders.items()},
        index.hashes,
        index.vocabulary,
    )


@given(st.text(max_size=40))
def test_no_text_is_too_strange_to_be_looked_for(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    here = KEPT.get("here") or KEPT.setdefault("here", scene(SHOP, tmp_path_factory.mktemp("shop")))
    found = resolve(here.root, text)
    assert found.match is None or found.candidates


def test_words_are_compared_without_case_and_accents() -> None:
    assert words_of("Für SPÄTER · $36.00 naïve_Ünder") == ["fur", "spater", "36", "00", "naive", "under"]


def test_only_so_many_roots_are_remembered(shop: Scene) -> None:
    for number in range(40):
        rooms.index_of(Root(f"/elsewhere/{number}", shop.root.reader))
    assert len(rooms.INDEXES) <= rooms.MAX_ROOTS
