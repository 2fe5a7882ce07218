"""Text that speaks to its reader as if to give orders to a language model. A record's text is data and orders nobody.

Text of an application under test is full of requests to people ("Enter your password"), so a pattern here is about what
is said to a model and hardly ever to a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memidex.records import hidden
from memidex.text import Span

MAX_SEARCHED = 2_000_000
LEAD = " \t\n>*#-.!?,;:\"'({—–"
"""What may stand before such a text and is no part of it."""
MODEL = r"(?:ai|llms?|language models?|chat ?gpt|gpt|claude|gemini|copilot|(?:ai|coding|testing) (?:assistants?|agents?|models?|tools?))"
WATCHER = r"(?:users?|humans?|operators?|developers?|reviewers?|maintainers?|person)"
SAYS = r"(?:tell|inform|mention|reveal|alert|notify|disclose|warn|hint)"

PATTERNS: tuple[tuple[str, str], ...] = (
    (
        "asks to set aside instructions",
        (
            r"\b(?:ignore|disregard|forget|override|bypass|do not follow|stop following)\s+(?:[\w'’]+\s+){0,4}?"
            r"(?:(?:previous|prior|above|earlier|preceding|existing|original|your|system|safety|all|any|other|these|those|the)\s+){1,3}"
            r"(?:\w+\s+){0,2}?(?:instructions?|prompts?|guidelines|directives?)\b"
            r"|\b(?:ignore|disregard|forget|override|bypass)\s+(?:[\w'’]+\s+){0,3}?(?:previous|prior|above|earlier|preceding|your|system|safety)\s+"
            r"(?:\w+\s+)?(?:rules|context|constraints|messages|restrictions|training|programming|policies|policy)\b"
            r"|\b(?:ignore|disregard|forget)\s+(?:everything|all|anything)(?:\s+(?:that\s+)?(?:was|is|came|you\s+(?:were|have\s+been)))?\s+"
            r"(?:above|before|told|previously|prior|said)\b"
        ),
    ),
    (
        "gives the reader another role",
        (
            r"\byou(?:\s+are|['’]re)\s+now\s+(?:an?|the|acting\s+as)\s+(?:\w+\s+){0,3}?(?:assistant|ai|llm|agent|model|bot|chatbot|persona|dan|jailbroken|unrestricted)\b"
            r"|\byou(?:\s+are|['’]re)\s+now\s+(?:dan\b|jailbroken|unrestricted|free\s+(?:of|from)|in\s+(?:dan|jailbreak|god|unrestricted)\s+mode)"
            r"|\byou(?:\s+are|['’]re)\s+no\s+longer\s+(?:bound|restricted|an?\s+(?:ai|assistant|language)|required\s+to\s+(?:follow|obey))"
            r"|\byou(?:\s+are|['’]re)\s+an?\s+(?:helpful|ai|artificial|large\s+language|autonomous|expert|unrestricted)\s+(?:\w+\s+){0,2}?(?:assistant|intelligence|agent|model|ai|bot)\b"
            r"|\bfrom\s+now\s+on,?\s+(?:you\s+(?:are|will|must|should|shall|act|respond|answer|only)|act|respond|answer|reply|always|never|ignore)\b"
            r"|\b(?:pretend|act|behave)\s+(?:to\s+be|as\s+if|as\s+though|as|that)\s+(?:you\s+(?:are|were|have|had)|an?\s+(?:ai|different\s+(?:ai|assistant)|language\s+model))\b"
        ),
    ),
    (
        "imitates the turns of a conversation with a model",
        (
            r"<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|start_header_id|end_header_id|eot_id|begin_of_text)\|>"
            r"|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>"
            r"|</?(?:system|assistant|human|tool_result|tool_use|function_calls|function_results)(?:[_-](?:prompt|message|reminder|instructions?))?\s*>"
            r"|</?(?:antml|system|assistant|user)[_:-](?:prompt|message|reminder|instructions?|invoke|function_calls)\s*>"
            r"|^[ \t>*#-]{0,8}(?:system|developer)[ \t]+(?:prompt|instructions?|override)[ \t*]{0,3}:"
            r"|(?:^|[.!?\"'(\[{][ \t]{0,2})[ \t>*#-]{0,4}\[?(?:system|assistant|developer|human)\]?[ \t*]{0,3}:[ \t*]{0,3}"
            r"(?:you\b|ignore\b|disregard\b|always\b|never\b|do\s+not\b|don['’]t\b|respond\b|reply\b|from\s+now\b|override\b|new\s+instructions?|execute\b|run\s+|please\s+(?:ignore|disregard|run|execute|send|delete))"
            r"|^#{1,6}[ \t]*(?:system|instructions?|human|assistant)[ \t]*:[ \t]*$"
        ),
    ),
    (
        "asks to keep something from a person",
        (
            rf"(?:^|[.!?,;:\"'(\[—–-]\s*|\b(?:and|but|so|then|please|must|should|also)\s+)(?:do\s+not|don['’]t|never)\s+(?:\w+\s+)?{SAYS}\s+(?:(?:this|it|that|anything|about|to|any\s+of\s+this)\s+){{0,3}}(?:the|your|any|to\s+the)\s+{WATCHER}\b"
            rf"|\b(?:hide|conceal|keep)\s+(?:this|it|that|these\s+(?:instructions|steps))\s+(?:(?:secret|hidden)\s+)?from\s+(?:the|your|any)\s+{WATCHER}\b"
        ),
    ),
    (
        "asks to run something",
        (
            r"\b(?:run|execute|paste|invoke)\s+(?:the\s+|this\s+|these\s+)?(?:following\s+|below\s+)?(?:shell\s+|terminal\s+|bash\s+|system\s+|sql\s+|powershell\s+|python\s+)?"
            r"(?:commands?|scripts?)(?:\s+(?:in|on|with|from)\s+(?:your|the|a)\s+(?:shell|terminal|console|machine|command\s+line)|\s*(?:below|:))"
            r"|\b(?:run|execute|paste|invoke)\s+(?:the|this|these)\s+following\s+(?:\w+\s+)?(?:commands?|scripts?)\b"
            r"|\b(?:run|execute|paste)\s+(?:this|these)\s+(?:shell|terminal|bash|system|powershell)\s+(?:commands?|scripts?)\b"
            r"|\b(?:curl|wget)\s[^\n|]{1,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b"
        ),
    ),
    (
        "asks to hand something over",
        (
            r"\b(?:send|post|upload|forward|exfiltrate|leak|transmit|copy)\s+(?:[\w.'’]+\s+){0,5}?"
            r"(?:credentials?|passwords?|api\s+keys?|secrets?|tokens?|cookies|env(?:ironment)?\s+variables?|private\s+keys?|conversation|system\s+prompt|\.env(?:\s+file)?)\s+"
            r"(?:\w+\s+){0,3}?to\s+(?:https?://|[\w.+-]+@[\w-]+\.|the\s+following\s+(?:url|server|endpoint|webhook))"
            r"|\b(?:reveal|print|output|repeat|leak|disclose|show|display|tell\s+me|summari[sz]e)\s+(?:me\s+)?(?:(?:your|the)\s+)?(?:entire\s+|full\s+|complete\s+)?"
            r"(?:your\s+(?:initial|original|hidden|secret)\s+(?:prompt|instructions)|system\s+(?:prompt|instructions))\b"
        ),
    ),
    (
        "speaks to a language model",
        (
            rf"\b(?:attention|dear|hey|note\s+(?:to|for)|message\s+(?:to|for)|instructions?\s+(?:to|for)|reminder\s+(?:to|for))[,:]?\s+(?:an?\s+|the\s+|any\s+|all\s+)?{MODEL}(?![\w-])"
            rf"|\bif\s+you\s+are\s+(?:an?\s+|the\s+)?(?:{MODEL}|automated\s+(?:agent|assistant)|assistant|agent)\s*[,;:]"
            rf"|\bas\s+an\s+(?:ai|llm|artificial\s+intelligence)(?:\s+\w+)?,?\s+(?:you\s+(?:must|should|will|are|can)|always|never)\b"
            rf"|\b{MODEL}\s+(?:reading|processing|parsing)\s+this\b"
            r"|\b(?:assistant|llm|language\s+model)s?\s+(?:must|should|shall)\s+(?:always\s+|never\s+|now\s+|not\s+)?(?:ignore|approve|report|mark|skip|delete|run|execute|send|obey|comply|follow|respond|reply|answer|trust|promote)\b"
        ),
    ),
    (
        "announces instructions",
        (
            r"\b(?:new|updated|real|actual|hidden|secret|revised)\s+(?:system\s+)?(?:instructions?|directives?)\s*:\s*\S"
            r"|\byour\s+(?:new|real|true|actual|only|sole)\s+(?:task|goal|objective|job|role|mission|purpose|instructions?)\s+(?:is|are)\b"
            r"|\b(?:begin|end|start)\s+(?:of\s+)?system\s+(?:prompt|message|instructions?)\b"
        ),
    ),
)
PATTERN = tuple((what, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for what, pattern in PATTERNS)
# A first look at the text in lower case: each pattern starts with one byte, the rarest of its words (see `secrets`).
TELLTALES: tuple[tuple[bytes, re.Pattern[bytes]], ...] = tuple(
    (pattern[:1], re.compile(pattern))
    for pattern in (
        (
            rb"m(?:pt(?<=prompt)|mand(?<=command)|odel(?<=language.model)|ini(?<=gemini)|an(?<=human)|aintainer"
            rb"|\snow\son|(?<=system)|(?<=llm))"
        ),
        (
            rb"u(?:ct(?<=instruct)|ideline(?<=guideline)|rl\s(?<=curl.)|de(?<=claude)|ser(?<=the.user|any.user|our.user)"
            rb"|\s(?:are|were|have|had)|'re|\xe2\x80\x99re|r\s(?:new|real|true|actual|only|sole|initial|original|hidden|secret))"
        ),
        rb"g(?:nore(?<=ignore)|ard(?<=disregard)|et\s(?<=forget.|..wget.)|pt|\s(?<=following.))",
        rb"v(?:erride(?<=override)|eloper(?<=developer)|iewer(?<=reviewer)|e(?<=directive)|e\s(?<=behave.))",
        rb"p(?:ass(?<=bypass)|ts?\b(?<=scripts|.script)|retend|ilot|erator(?<=operator)|erson|://(?<=to.http://)|s://(?<=to.https://))",
        rb"<(?:\||<|/?(?:<|sys|assistant|human|user[_:-]|tool_|function_|antml|start_of|end_of))",
        rb"@(?<=[^\s/@]@)",
    )
)
WORDS: tuple[tuple[bytes, re.Pattern[bytes]], ...] = (
    (b" ai", re.compile(rb"\bai\b")),
    (b"assistant", re.compile(rb"assistant")),
    (b"inst]", re.compile(rb"\[/?inst\]")),
)


def telling(data: bytes) -> bool:
    """Whether a text (UTF-8) may address its reader so; False is certain where white space is single."""
    if not data.isascii() and (b"\xc2\xad" in data or hidden.telling(data)):
        return True
    data = data.lower()
    for table in (TELLTALES, WORDS):
        for word, pattern in table:
            if word in data and pattern.search(data):
                return True
    return False


class Hit(NamedTuple):
    """A stretch of text and what it tries."""

    span: Span
    what: str


def find(text: str) -> Iterator[Hit]:
    """Each place of a text that addresses its reader as an instruction, by position."""
    if not telling(text.encode("utf-8", "surrogatepass")):
        return
    text = text[:MAX_SEARCHED]
    places: list[int] | None = None
    if "\xad" in text or hidden.HIDDEN.search(text):
        kept = [(at, letter) for at, letter in enumerate(text) if letter != "\xad" and not hidden.HIDDEN.match(letter)]
        places = [*(at for at, _ in kept), len(text)]
        text = "".join(letter for _, letter in kept)
    found: list[Hit] = []
    for what, pattern in PATTERN:
        for match in pattern.finditer(text):
            start, end = match.start() + len(match.group()) - len(match.group().lstrip(LEAD)), match.end()
            if not any(start < hit.span.end and hit.span.start < end for hit in found):
                found.append(Hit(Span(start, end), what))
    for span, what in sorted(found):
        yield Hit(Span(places[span.start], places[span.end - 1] + 1) if places else span, what)
