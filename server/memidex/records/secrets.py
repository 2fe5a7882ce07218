"""Credentials in text: where they stand and of what kind they are.

The patterns are those of detect-secrets, run here without its files, settings or verification, so nothing is ever sent
anywhere. `TOKENS` and `assignments` hold what it lacks. A text goes through a cheap look for tell-tale letters first:
the detectors, and the imports they need, are paid for only where those are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from memidex.records.memidex import ids
from memidex.text import Span

MAX_KEYWORDS = 1000
"""Words such as `password` that are looked at in one text."""
MAX_SEARCHED = 2_000_000
CHUNK, OVERLAP = 4000, 600
"""A long text is searched piece by piece, so that no pattern can run away on one endless line."""


class Hit(NamedTuple):
    """A credential: its stretch of the text, and what it is called. The value itself is never passed on."""

    span: Span
    kind: str


# A first look. Each pattern starts with one byte, the rarest of its words, so that a search is little more than one
# look for that byte: the whole table takes a tenth of the time of one alternation.
STRONG: tuple[tuple[bytes, re.Pattern[bytes]], ...] = tuple(
    (pattern[:2].lstrip(b"\\")[:1], re.compile(pattern))
    for pattern in (
        rb"A(?:KIA|SIA|BIA|CCA|3T|Iza|KC[a-zA-Z0-9]{10}|C[a-z0-9]{32}|P[0-9A-F][a-zA-Z0-9]{8}|TATT3|(?<=:A)A|(?<=pypi-A)|ccountKey)",
        rb"k-(?<=sk-)",
        rb"x(?:ox[a-z]-|app-[0-9])",
        rb"g(?:l[a-z]{2,6}-)",
        rb"u(?<=-u)s[0-9]",
        rb"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
        rb"K(?:(?<=SK)[a-z0-9]{32}|EY(?<=PRIVATE KEY)|ey-File(?<=PuTTY-User-Key-File))",
        rb"G(?:\.(?<=SG\.)|R1348941|OCSPX-)",
        rb"J(?<=eyJ)",
        rb"_(?:live_|test_|pat_|authToken|v1_|api_|(?<=gh[pousr]_)|(?<=npm_)|(?<=hf_)|(?<=shp[acps][ast]_))",
        rb"q0csp-",
        rb"@(?<=[^\s/@]@)",
        rb"&sig=",
        rb"\?sig=",
    )
)
WEAK: tuple[tuple[bytes, re.Pattern[bytes]], ...] = tuple(
    (pattern[:1], re.compile(pattern))
    for pattern in (
        rb"w(?:(?<=assw)|(?<=pw)d)",
        rb"k(?:en(?<=[Tt]oken)|ey(?<=[i_]key|-key))",
        rb"c(?<=[Ss]ec)ret",
        rb"R(?<=SECR)ET",
        rb"W(?:(?<=ASSW)|(?<=PW)D)",
        rb"K(?:EY|ey|(?<=TOK)EN)",
        rb"_pass",
        rb"B(?:earer |asic )",
        b"\xb1(?<=contrase\xc3\xb1)a",
    )
)
USER = re.compile(rb"://[^\s/:@]+:[^\s/@]+@")
# Words that say a secret follows are common in the text of a login page; what counts is an assignment behind one.
WORDS = (
    r"passw(?:or)?d|passphrase|passwort|contrase(?:ñ|n)a|pwd|secret|token|bearer|"
    r"(?:api|auth|service|account|db|database|priv|private|client|access|signing|encryption)[_ -]?key|(?:db|database|key)[_-]?pass"
)
WORD = re.compile(WORDS, re.IGNORECASE)
ASSIGNED = re.compile(
    rf"(?:{WORDS})\w{{0,40}}[\\\"'`\])]{{0,4}}\s{{0,3}}(?:[:=(]|!=)|[!=]=\s{{0,3}}\w{{0,40}}(?:{WORDS})|Bearer |Basic ",
    re.IGNORECASE,
)
# What detect-secrets 1.5.0 has no pattern for, or one that takes quadratic time (OpenAI, npm, JWT)
# or leaves out what a password may hold (`!` in a URL).
TOKENS: tuple[tuple[str, str], ...] = (
    ("AWS access key", r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("GitHub fine-grained token", r"github_pat_[A-Za-z0-9_]{22,255}"),
    ("GitHub token", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    ("Anthropic API key", r"sk-ant-[A-Za-z0-9_-]{16,255}"),
    ("OpenAI API key", r"sk-(?:proj|svcacct|admin|None|or-v1)-[A-Za-z0-9_-]{16,255}"),
    ("secret API key", r"sk-(?=[A-Za-z0-9]*[0-9])[A-Za-z0-9]{20,255}(?![A-Za-z0-9-])"),
    ("Google API key", r"AIza[0-9A-Za-z_-]{35}"),
    ("Google OAuth client secret", r"GOCSPX-[0-9A-Za-z_-]{20,64}"),
    ("npm token", r"npm_[A-Za-z0-9]{36}"),
    ("npm registry login", r"_authToken=(?!\$)[^\s\"']{16,255}"),
    ("Slack app token", r"xapp-[0-9]-[A-Z0-9]{6,}-[0-9]+-[a-z0-9]{16,}"),
    ("Slack token", r"xox[abeoprs]-(?=[A-Za-z-]{0,100}[0-9])[0-9A-Za-z-]{10,255}"),
    ("Stripe key", r"(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,255}"),
    ("Hugging Face token", r"hf_[A-Za-z0-9]{30,64}"),
    ("Shopify token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("DigitalOcean token", r"do[opr]_v1_[0-9a-f]{64}"),
    ("Linear API key", r"lin_api_[A-Za-z0-9]{32,64}"),
    ("Atlassian token", r"ATATT3[A-Za-z0-9_=-]{40,255}"),
    ("Azure shared access signature", r"(?<=[?&])sig=[A-Za-z0-9%+/_-]{40,128}"),
    ("private key", r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
)
TOKEN = re.compile("|".join(f"(?P<k{number}>{pattern})" for number, (_, pattern) in enumerate(TOKENS)))
JWT = re.compile(r"(?<![\w-])eyJ[\w-]++=*+\.[\w-]++=*+(?:\.[\w+/=-]*+)?")
IN_URL = re.compile(r"://[^\s/:@\"'<>`]{1,100}:([^\s/@\"'<>`]{3,200})@")
NO_PASSWORD = frozenset({"password", "passwd", "pass", "pwd", "secret", "token"})
HEADER = re.compile(r"\b(?:Bearer|Basic) +([A-Za-z0-9._~+/-]{12,4000}=*)", re.IGNORECASE)
AFTER_WORD = re.compile(
    r"[\w-]{0,40}?[\"'`\])]{0,3}\s{0,3}(?::=|=>|[:=])\s{0,3}[\"'`]?((?:[^\s\"'`,;&<>(){}\[\]|*\\]|&(?!\w{1,40}=)){6,200})"
)
MASK = re.compile(r"\[secret:[^\]\n]{1,200}\]")
NAME = re.compile(r"[\w-]*")
HASHED_NAME = re.compile(r"hash|digest|sum|_?ids?$|name$|field$|url$|path$|length$|policy$", re.IGNORECASE)
UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
PUBLIC = re.compile(
    rf"{UUID.pattern}|[0-9a-f]{{16}}|[0-9a-f]{{64}}|(?:sha(?:1|256|384|512)[:-]).*|{ids.FORM.pattern}|MEM-[0-9]+",
    re.IGNORECASE,
)
WORDY = re.compile(
    r"(?:[a-z]+[0-9]{0,2}[-_.:/#]+)+[a-z]+[0-9]{0,2}|[A-Za-z]+(?:[-_.:/#][A-Za-z]+)*(?:[-_.:/#]+[0-9]{1,4})?|(?:https?|agentqa|file)://.*|(?:process\.env|os\.environ|env|config|settings|secrets?|vars?)[.\[(].*|\$[A-Za-z_]\w*|\$[{(].*|[./~%].*|[0-9.,:/+-]+"
)
PLACEHOLDER = re.compile(
    r"(?:your|my|the|some|example|sample|dummy|fake|placeholder|redacted|masked|x{3,}|\.{3,})[\w-]*|.*(?:\.\.\.|…)",
    re.IGNORECASE,
)


def telling(data: bytes) -> bool:
    """Whether a text (UTF-8) may hold a credential; False is certain."""
    for pivot, pattern in STRONG:
        if pivot in data and pattern.search(data) and (pivot != b"@" or USER.search(data)):
            return True
    for pivot, pattern in WEAK:
        if pivot in data and pattern.search(data):
            return bool(ASSIGNED.search(data.decode("utf-8", "replace")))
    return False


def find(text: str) -> Iterator[Hit]:
    """Each credential in a text, by position; of two patterns that match one place the more telling is named."""
    if not telling(text.encode("utf-8", "surrogatepass")):
        return
    text = text[:MAX_SEARCHED]
    if "[secret:" in text:
        text = MASK.sub(lambda match: " " * len(match.group()), text)
    found: list[Hit] = []
    taken = bytearray(len(text))
    for hit in (*tokens(text), *known(text), *assignments(text)):
        start, end = hit.span
        if 1 not in taken[start:end]:
            taken[start:end] = b"\1" * (end - start)
            found.append(hit)
    yield from sorted(found)


def masked(text: str) -> str:
    """The text with each credential in it replaced by the name of its kind."""
    if not telling(text.encode("utf-8", "replace")):
        return text
    for hit in sorted(find(text), reverse=True):
        text = f"{text[: hit.span.start]}[{hit.kind}]{text[hit.span.end :]}"
    return text


def tokens(text: str) -> Iterator[Hit]:
    """What has a form of its own: the patterns of `TOKENS`, and web tokens that decode."""
    for match in TOKEN.finditer(text):
        before = text[match.start() - 1 : match.start()]
        if (not before.isalnum() and before not in ("_", "-")) or match.group().startswith("-----"):
            yield Hit(Span(*match.span()), TOKENS[int(str(match.lastgroup)[1:])][0])
    for match in IN_URL.finditer(text):
        value = match.group(1)
        if value[0] not in "<${*" and not PLACEHOLDER.fullmatch(value) and value.lower() not in NO_PASSWORD:
            yield Hit(Span(*match.span(1)), "password in a URL")
    for match in JWT.finditer(text):
        from detect_secrets.plugins.jwt import JwtTokenDetector

        if JwtTokenDetector.is_formally_valid(match.group()):
            yield Hit(Span(*match.span()), "JSON web token")


class Detector(NamedTuple):
    """One pattern of a detector of detect-secrets."""

    pattern: re.Pattern[str]
    kind: str
    group: int
    """The group that is the credential; 0 where all of the match is."""
    guarded: bool
    """Whether it matches words in general, so that the value must also look like a credential."""


@cache
def detectors() -> tuple[Detector, ...]:
    from detect_secrets.plugins.artifactory import ArtifactoryDetector
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
    from detect_secrets.plugins.cloudant import CloudantDetector
    from detect_secrets.plugins.discord import DiscordBotTokenDetector
    from detect_secrets.plugins.github_token import GitHubTokenDetector
    from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
    from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
    from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
    from detect_secrets.plugins.mailchimp import MailchimpDetector
    from detect_secrets.plugins.private_key import PrivateKeyDetector
    from detect_secrets.plugins.pypi_token import PypiTokenDetector
    from detect_secrets.plugins.sendgrid import SendGridDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.softlayer import SoftlayerDetector
    from detect_secrets.plugins.square_oauth import SquareOAuthDetector
    from detect_secrets.plugins.stripe import StripeDetector
    from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
    from detect_secrets.plugins.twilio import TwilioKeyDetector

    # The abstract class types the patterns as a property, which no detector has.
    whole: tuple[Any, ...] = (
        AWSKeyDetector, AzureStorageKeyDetector, DiscordBotTokenDetector, GitHubTokenDetector, GitLabTokenDetector,
        MailchimpDetector, PrivateKeyDetector, PypiTokenDetector, SendGridDetector, SlackDetector, SquareOAuthDetector,
        StripeDetector, TelegramBotTokenDetector, TwilioKeyDetector,
    )  # fmt: skip
    wordy: tuple[Any, ...] = (
        ArtifactoryDetector,
        CloudantDetector,
        IbmCloudIamDetector,
        IbmCosHmacDetector,
        SoftlayerDetector,
    )
    found = [Detector(pattern, each.secret_type, 0, False) for each in whole for pattern in each.denylist]
    found += [
        Detector(pattern, each.secret_type, min(pattern.groups, 1), True) for each in wordy for pattern in each.denylist
    ]
    return tuple(found)


def known(text: str) -> Iterator[Hit]:
    """What the patterns of detect-secrets match."""
    for start, piece in pieces(text):
        for pattern, kind, group, guarded in detectors():
            for match in pattern.finditer(piece):
                first, after = match.span(group)
                value = piece[first:after]
                first += len(value) - len(value.lstrip(" \t\n\r=:\"'"))
                after -= len(value) - len(value.rstrip(" \t\n\r=:\"'"))
                value = piece[first:after]
                if guarded and not (likely(value) and len(value) >= 20):
                    continue
                inside = piece[first - 1 : first].isalnum() or (
                    kind.startswith(("Twilio", "AWS")) and piece[after : after + 1].isalnum()
                )
                if not inside and not PUBLIC.fullmatch(value):
                    yield Hit(Span(start + first, start + after), kind)


def pieces(text: str) -> Iterator[tuple[int, str]]:
    for start in range(0, max(len(text) - OVERLAP, 1), CHUNK):
        yield start, text[start : start + CHUNK + OVERLAP]


def assignments(text: str) -> Iterator[Hit]:
    """What stands behind a word such as `password`, where it looks like a value that somebody would keep secret."""
    from detect_secrets.plugins.keyword import KeywordDetector

    for match in HEADER.finditer(text):
        if likely(match.group(1)) and len(match.group(1)) >= 16:
            yield Hit(Span(*match.span(1)), "authorization header")
    detector: Any = KeywordDetector()
    for number, word in enumerate(WORD.finditer(text)):
        if number == MAX_KEYWORDS:
            return
        name = NAME.match(text, word.start(), word.start() + 60)
        if name and (name.end() == word.start() + 60 or HASHED_NAME.search(name.group())):
            continue
        line_start = text.rfind("\n", max(0, word.start() - 100), word.start()) + 1 or max(0, word.start() - 100)
        line_end = text.find("\n", word.end(), word.end() + 300)
        window = text[word.start() : word.end() + 300 if line_end < 0 else line_end]
        ours = AFTER_WORD.match(text, word.end(), word.end() + 300 if line_end < 0 else line_end)
        if ours and likely(ours.group(1)):
            yield Hit(Span(*ours.span(1)), "password, key or token in an assignment")
        before = text[line_start : word.end()]
        for base, part in ((word.start(), window), (line_start, before)):
            for value in detector.analyze_string(part):
                at = part.find(value)
                if likely(value):
                    yield Hit(Span(base + at, base + at + len(value)), "password, key or token in an assignment")


def likely(value: str) -> bool:
    """Whether a value looks like one that somebody would keep secret, and not like a word, a name, an id or a mask."""
    if not 6 <= len(value) <= 4000 or any(character.isspace() for character in value):
        return False
    if PUBLIC.fullmatch(value) or (WORDY.fullmatch(value) and not mixed(value)) or PLACEHOLDER.fullmatch(value):
        return False
    letters = any(character.isalpha() for character in value)
    digits = any(character.isdigit() for character in value)
    marks = any(not character.isalnum() and character not in "-_.:/#" for character in value)
    return letters and (digits or marks or mixed(value)) and value[0] not in "<{[$("


def mixed(value: str) -> bool:
    """Whether letters of both cases follow each other as they do in no word: often, and without a vowel pattern of camel case."""
    if len(value) < 16 or not value.isalpha():
        return False
    changes = sum(first.isupper() != second.isupper() for first, second in pairwise(value))
    return changes >= len(value) // 3
