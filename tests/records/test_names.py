"""Names: how anchors are compared, how ids are made, and what is the form of an address."""

from __future__ import annotations

import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memidex.records.memidex import ids
from memidex.records.memidex.anchors import fold, normalized
from memidex.records.memidex.values import AnyTarget, Element, ErrorMessage, Flow, Page, Platform, Scope, Selector
from memidex.records.memidex.vocabulary import KINDS
from records.json_strategies import CHARACTERS

TEXT = st.text(CHARACTERS, max_size=80)
URLISH = st.text("abc/:?#.0123456789-fFé ", max_size=60)
ERRORISH = st.text("ab\"'`/.:0123456789x- éF\n", max_size=60)
TARGETS = st.one_of(
    st.builds(Element, TEXT, TEXT, st.integers(0, 2**53 - 1)),
    st.builds(Page, st.one_of(TEXT, URLISH)),
    st.builds(Flow, TEXT),
    st.builds(Platform, st.sampled_from(["web", "android", "ios"])),
    st.builds(Selector, TEXT),
    st.builds(ErrorMessage, st.one_of(TEXT, ERRORISH)),
)


@given(target=TARGETS)
def test_normalizing_twice_changes_nothing(target: AnyTarget) -> None:
    once = normalized(target)
    assert normalized(once) == once
    assert type(once) is type(target)


@given(text=TEXT)
def test_folding_twice_changes_nothing_and_leaves_single_spaces(text: str) -> None:
    once = fold(text)
    assert fold(once) == once
    assert once == once.strip()
    assert not re.search(r"\s\s|[\t\n\r\x0b\x0c]", once)


@given(text=TEXT, blank=st.sampled_from([" ", "\n", "\t ", "\u00a0", "\r\n"]))
def test_white_space_around_and_in_an_anchor_does_not_tell_two_apart(text: str, blank: str) -> None:
    spread = blank + text.replace(" ", blank) + blank
    assert normalized(Flow(spread)) == normalized(Flow(text))
    assert normalized(Element("button", spread)) == normalized(Element("button", text))


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        (Element("Button", "  Place\n Order · $36.00 ", 2), Element("button", "place order · $36.00", 2)),
        (Element("button", "e\u0301t\u00e9"), Element("button", "été")),
        (Page("https://shop.example/Cart/?a=1#top"), Page("/Cart")),
        (Page("https://shop.example"), Page("/")),
        (Page("/orders/1234/items/0123456789abcdef"), Page("/orders/:id/items/:id")),
        (Page("/u/8C5C7A4E-0C5B-4A3F-9F0E-2D6B1C1E7A90/"), Page("/u/:id")),
        (Page("/v2/a1"), Page("/v2/a1")),
        (Page("http://x:8080/12"), Page("/:id")),
        (Flow(" Checkout  Buys "), Flow("Checkout Buys")),
        (Selector(" #a > .b "), Selector("#a > .b")),
        (Platform("ios"), Platform("ios")),
        (ErrorMessage("Timeout 30000ms exceeded"), ErrorMessage("timeout #ms exceeded")),
        (
            ErrorMessage('waiting for "Order 12" in /tmp/a1/b2.ts:3'),
            ErrorMessage('waiting for "order 12" in /tmp/a1/b2.ts:#'),
        ),
        (ErrorMessage("id 8c5c7a4e-0c5b-4a3f-9f0e-2d6b1c1e7a90 gone"), ErrorMessage("id :id gone")),
        (ErrorMessage("at 0xDEADBEEF"), ErrorMessage("at :id")),
    ],
    ids=str,
)
def test_an_anchor_is_compared_by_what_stays(target: AnyTarget, wanted: AnyTarget) -> None:
    assert normalized(target) == wanted


# Ids ------------------------------------------------------------------------------------------------------------------


@given(kind=st.sampled_from(list(KINDS)), target=TARGETS, more=st.lists(TARGETS, max_size=2), key=TEXT, summary=TEXT)
def test_a_minted_id_is_of_the_form_and_the_same_each_time(
    kind: str, target: AnyTarget, more: list[AnyTarget], key: str, summary: str
) -> None:
    minted = ids.mint(kind, None, [target, *more], Scope("product", key), summary)
    assert ids.FORM.fullmatch(minted)
    assert ids.kind_of(minted) == kind
    assert ids.mint(kind, None, [target, *more], Scope("product", key), f"  {summary}\n") == minted
    found = ids.IN_TEXT.search(f"see `{minted}`, and")
    assert found
    assert found.group() == minted


@given(target=TARGETS)
def test_a_slug_is_short_lower_case_ascii(target: AnyTarget) -> None:
    slug = ids.slug(target)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert len(slug) <= ids.MAX_SLUG


@pytest.mark.parametrize(
    ("target", "slug"),
    [
        (Element("button", "place order · $36.00"), "el-button-place-order-36-00"),
        (Element("button", "buy", 2), "el-button-buy-2"),
        (Element("button", "buy", 0), "el-button-buy"),
        (Page("/"), "page"),
        (Flow("Überweisung é"), "flow-uberweisung-e"),
        (Flow("日本"), "flow"),
        (Flow("x" * 100), "flow"),
        (Flow("a" * 40 + " bbbbbbbbbb"), "flow-" + "a" * 40),
        (Flow("a" * 43), "flow-" + "a" * 43),
        (Flow("a" * 44), "flow"),
        (ErrorMessage("timeout #ms"), "error-timeout-ms"),
    ],
    ids=str,
)
def test_a_slug_is_cut_at_a_word(target: AnyTarget, slug: str) -> None:
    assert ids.slug(target) == slug


def test_an_id_is_of_what_the_record_is_and_of_nothing_else() -> None:
    anchors = [Element("button", "buy"), Platform("web")]
    scope = Scope("product", "shop")
    minted = ids.mint("fact", "behavioral", anchors, scope, "It buys.")
    others = [
        ids.mint("caution", "behavioral", anchors, scope, "It buys."),
        ids.mint("fact", "selector", anchors, scope, "It buys."),
        ids.mint("fact", None, anchors, scope, "It buys."),
        ids.mint("fact", "behavioral", anchors[:1], scope, "It buys."),
        ids.mint("fact", "behavioral", [Element("button", "buy", 1), Platform("web")], scope, "It buys."),
        ids.mint("fact", "behavioral", anchors, Scope("suite", "shop"), "It buys."),
        ids.mint("fact", "behavioral", anchors, Scope("product"), "It buys."),
        ids.mint("fact", "behavioral", anchors, scope, "It sells."),
    ]
    assert len({minted, *others}) == 9
    whole = {
        "anchors": [{"name": "buy", "ordinal": 0, "role": "button", "t": "el"}, {"platform": "web", "t": "platform"}],
        "claim": "It buys.",
        "kind": "fact",
        "scope": {"key": "shop", "tier": "product"},
        "subtype": "behavioral",
    }
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    assert minted == f"fact-el-button-buy-{hashlib.sha256(text).hexdigest()[:16]}"


@pytest.mark.parametrize(
    "text",
    ["", "fact", "fact-0123456789abcdef", "fact-a-0123456789abcde", "fact-a-0123456789ABCDEF", "fact--a-0123456789abcdef", "fact-a--b-0123456789abcdef",
     "facts-a-0123456789abcdef", "Fact-a-0123456789abcdef", "fact-a-0123456789abcdef ", "fact-é-0123456789abcdef", "fact-a-0123456789abcdef\n"],
)  # fmt: skip
def test_what_is_not_of_the_form_is_no_id(text: str) -> None:
    assert ids.kind_of(text) is None


def test_the_id_of_the_formats_own_page_is_of_the_form() -> None:
    assert ids.kind_of("fact-el-button-place-order-36-00-dd75ab371443d7b6") == "fact"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("MEM-001", ["001"]), ("mem-1, MEM-22.", ["1", "22"]), ("xMEM-1 MEM-1x MEM-", []), ("MEM-1-2", [])],
)
def test_short_ids_are_found_in_text(text: str, numbers: list[str]) -> None:
    assert [match.group(1) for match in ids.SHORT_ID.finditer(text)] == numbers
