"""What nobody sees is found; joiners, selectors and marks that a script or an emoji needs are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memidex.records import hidden

FOUND = {
    "pay\u200bnow": "zero-width",
    "pay\u200dnow": "zero-width",
    "pay\u200cnow": "zero-width",
    "pay\u2060now": "zero-width",
    "pay\ufeffnow": "zero-width",
    "pay\u202enow": "bidirectional",
    "pay\u2066now\u2069": "bidirectional",
    "pay\u200enow": "bidirectional",
    "pay\U000e0070\U000e0061now": "tag",
    "pay\ue000now": "private-use",
    "pay\U000f0000now": "private-use",
    "a\ufe0f\ufe0e": "variation-selector",
    "\U0001f600\U000e0101\U000e0102": "variation-selector",
    "pay\u3164now": "zero-width",
}
NOT_FOUND = [
    "👩‍👩‍👧‍👦 family",
    "🏳️‍🌈 and ❤️ and ☎︎ and 1️⃣ and ©️",
    "👩🏽‍💻 at work",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f England",
    "می‌خواهم",
    "क्‍ष and क्‌ष",
    "ശ്രീ നന്‍മ",
    "ភាសា\u200bខ្មែរ",
    "שלום\u200f!",
    "مرحبا (abc)\u200f",
    "葛\U000e0100",
    "∩︀",
    "Zu\xadsammen\xadfassung",
    "plain ASCII, café, “quotes” – and … dots",
]


@pytest.mark.parametrize("text", FOUND)
def test_what_nobody_sees_is_found_and_named(text: str) -> None:
    assert hidden.telling(text.encode())
    hits = list(hidden.find(text))
    assert hits
    assert hits[0].what.split()[0 if hits[0].what[0].isalpha() else 1].startswith(FOUND[text])


@pytest.mark.parametrize("text", NOT_FOUND)
def test_what_writing_needs_is_left_alone(text: str) -> None:
    assert list(hidden.find(text)) == []


def test_a_run_is_one_finding_and_what_it_spells_is_not_repeated() -> None:
    run = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore all")
    (hit,) = hidden.find(f"pay{run} now")
    assert hit.span == (3, 13)
    assert "ignore" not in hit.what


@given(st.text(max_size=60))
def test_the_first_look_is_never_stricter_than_the_search(text: str) -> None:
    if list(hidden.find(text)):
        assert hidden.telling(text.encode("utf-8", "surrogatepass"))
