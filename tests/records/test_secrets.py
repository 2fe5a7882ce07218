"""Credentials are found, and what only looks like one is not; no value is told and nothing heavy is imported before."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memidex.records import secrets

# None of these was ever valid. Each is cut in two so that a scanner of this repository stays quiet.
FOUND = [
    ("AKIAIO", "SFODNN7EXAMPLE"),
    ("key is AS", "IAIOSFODNN7EXAMPLE."),
    ("ghp_a1B2c3D4e", "5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
    ("github_pat_11ABCDEFG0abcdefgh", "ijkl_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRS"),
    ("glpat-ab", "cdefghij1234567890"),
    ("xoxb-123456789012-", "123456789012-abcdefghijklmnopqrstuvwx"),
    ("sk_live_4e", "C39HqLyjWDarjtT1zdp7dc"),
    ("-----BEGIN", " RSA PRIVATE KEY-----"),
    ("-----BEGIN E", "NCRYPTED PRIVATE KEY-----"),
    ("-----BEGI", "N PRIVATE KEY-----"),
    (
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMj",
        "M0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
    ),
    ("https://adm", "in:hunter2@shop.test/x"),
    ("npm_a1B2c3D4e", "5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
    ("pypi-AgEIcHlwaS5vcmcaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
    ("AccountKey=a1B/a1B/a1B/a1B/a1B/a1", "B/a1B/a1B/a1B/a1B/a1B/a1B/a1B/a1B/a1B/a1B/a1B/a1B/a1B/a1B/a1B/abC="),
    ("SG.aaaaaaaaaaaaaaaaaaaa", "aa.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"),
    ("SKa1a1a1a1a", "1a1a1a1a1a1a1a1a1a1a1a1"),
    ("AC012345678", "9abcdef0123456789abcdef"),
    ("sk-abcdefghijklmn", "opqrst1234567890abcdefghijklmnop12"),
    ("sk-ant-api03-", "abcdefghijklmnop-qrst_1234"),
    ("sk-proj-abcdef", "ghijklmnop_qrst1234T3BlbkFJabc"),
    ("AIzaSyA123456", "7890abcdefghijklmnopqrstuv"),
    ("passwo", 'rd = "hunter2"'),
    ('"passwor', 'd":"S3cr3t!pass"'),
    ("DB_PASS", "WORD=Tr0ub4dor&3"),
    ("passw", "ord: hunter2"),
    ('api_key = "9f8', '6d081884c7d659a2feaa0c55ad015"'),
    ("Authorization:", " Bearer a8f7s6d5f4g3h2j1k0l9"),
    ("?token=", "abc123def456&x=1"),
    ("clientSecr", "et: 'aG9zdDpzZWNyZXQx'"),
    ("AWS_SECRET_ACCESS_KE", "Y=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("xapp-1-A012345678-", "1234567890123-abcdef0123456789abcdef"),
    ("contras", 'eña="gat0negro"'),
    ("123456789:AAEhB", "Oweik6ad9r_QXMENQjcrGbqCr4K-bc"),
    ("the pass is in", ' "access_token":"a1b2c3d4e5f6"'),
    ("MTIzNDU2Nzg5MDEyMzQ", "1Njc4.YABCDE.abcdefghijklmnopqrstuvwxyz1"),
    ("aaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaa-us12"),
    ("PASSWOR", 'D: "Winter2024!"'),
    ("hf_abcdefghi", "jABCDEFGHIJabcdefghijABCD"),
    ("http://", "user:p%40ss1@h/"),
]
NOT_FOUND = [
    "xoxo-hugs-and-kisses",
    "product APB1234567890",
    "password=$PASSWORD1",
    "PASSWORD_1=$(pass show shop1)",
    "fact-el-button-place-order-36-00-dd75ab371443d7b6",
    "550e8400-e29b-41d4-a716-446655440000",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    'password = "[secret:ADMIN_1]"',
    "[secret:ADMIN_PASSWORD_1]",
    '"name":"password","ordinal":0',
    "Password: required",
    "Password: must be at least 8 characters",
    '"password":"visible"',
    "token: step-2",
    "Please enter your password",
    "https://user:[secret:X]@host",
    "https://shop.test:8080/a@b",
    '"token":"550e8400-e29b-41d4-a716-446655440000"',
    '"secretHash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"',
    "AKIA",
    "task-force sk-",
    "risk-abcdefghijklmnopqrst1234",
    'password field: {"t":"el","role":"textbox","name":"password"}',
    "password=•••••••",
    'password="********"',
    "password = process.env.PASSWORD1",
    "PASSWORD=${PASSWORD1}",
    "token=<your-token-1>",
    '"type":"password","id":"input2"',
    "password=your_password1",
    "Basic authentication required",
    "Bearer of bad news 1234",
    "the api key: see settings2",
    "ACCOUNT settings SKIP",
    "APPLICATION ERROR",
    "secret santa: 2024",
    "access token expired: 401",
    'selector input[name="password2"]',
    "forgot-password page: /login/reset-2",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "eyJ.abc",
    '"passwordField":"login-form__input1"',
    'placeholder "Password1"',
    "password rules: 8+ characters, 1 digit",
    "Password:\n\n12 characters",
    'passwordHash = "5f4dcc3b5aa765d61d8327deb882cf99"',
    "AKIAIOSFODNN7EXAMPLEABC",
    "MEM-001 is the token",
    '"token":"fact-el-button-place-order-36-00-dd75ab371443d7b6"',
]


@pytest.mark.parametrize(("head", "tail"), FOUND)
def test_a_credential_is_found_once_at_its_place(head: str, tail: str) -> None:
    text = f"Seen once: {head}{tail} and no more"
    hits = list(secrets.find(text))
    assert len(hits) == 1
    assert text[hits[0].span.start : hits[0].span.end] in head + tail
    assert hits[0].span.end - hits[0].span.start >= 5


@pytest.mark.parametrize("text", NOT_FOUND)
def test_what_is_no_credential_is_not_found(text: str) -> None:
    assert list(secrets.find(f"Seen once: {text} and no more")) == []


@pytest.mark.parametrize(("head", "tail"), FOUND)
def test_the_name_of_a_credential_tells_nothing_of_its_value(head: str, tail: str) -> None:
    for hit in secrets.find(f"x {head}{tail} y"):
        value = f"x {head}{tail} y"[hit.span.start : hit.span.end]
        assert value[-6:] not in hit.kind


@given(st.text(max_size=300), st.sampled_from(FOUND), st.text(max_size=300))
def test_any_text_around_it_is_searched_without_an_error_and_hits_do_not_overlap(
    before: str, value: tuple[str, str], after: str
) -> None:
    text = before + " " + "".join(value) + " " + after
    hits = list(secrets.find(text))
    assert all(0 <= hit.span.start < hit.span.end <= len(text) for hit in hits)
    assert all(first.span.end <= second.span.start for first, second in pairwise(hits))


@given(st.text(max_size=200).map(lambda text: json.dumps({"name": text})))
def test_the_first_look_is_never_stricter_than_the_search(text: str) -> None:
    if any(True for _ in (*secrets.tokens(text), *secrets.known(text))):
        assert secrets.telling(text.encode("utf-8", "surrogatepass"))


def test_a_text_without_telltales_imports_no_detector() -> None:
    code = (
        "import sys; from memidex.records import secrets; assert not list(secrets.find('the cart opens'));"
        "assert not list(secrets.find('textbox \"password\" is shown, passed'));"
        "sys.exit('requests' in sys.modules or 'detect_secrets' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize("piece", ["eyJ", "password", "sk-", "//", 'password="', "aws'", "AKIA", "://a:b", "token="])
def test_a_text_made_to_be_slow_is_not(piece: str) -> None:
    start = time.process_time()
    list(secrets.find(piece * (300_000 // len(piece))))
    assert time.process_time() - start < 8
