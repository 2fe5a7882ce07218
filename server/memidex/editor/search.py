"""Free text to records: an exact address, or the nearest by words, with how near (memidex contract, section 4).

An index of words is kept for each root, made when first asked and brought up to a newer root by what differs.
"""

from __future__ import annotations

import heapq
import math
import re
import unicodedata
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Iterable
from itertools import compress, islice
from operator import is_not
from threading import Lock
from typing import Any, NamedTuple

from memidex.records.memidex import ids
from memidex.store.snapshot import Entry, Root

WEAK = 60.0
"""A best match below this score is no answer."""
CLOSE = 0.5
"""Two scores that differ by less are a tie."""
RERANKED = 50
MAX_QUERY = 400
MAX_TEXT = 1_000
"""Of a huge summary only the beginning is searched."""
MAX_WORDS = 24
LOOKED_AT = 3_000
"""Once the rarer words have so many records between them, a commoner one only sharpens what they have found."""
MAX_ROW = 20_000
"""Of a word that so many records have, the others are not looked at."""
MAX_ROOTS = 16
WORD = re.compile(r"[^\W_]+")
ACCENT = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]"
)
HASH = re.compile(r"[0-9a-f]{4,16}")
STATUS_RANK = {"active": 0, "candidate": 1, "superseded": 2, "deprecated": 3}


class Match(NamedTuple):
    """A record and how near it is to the text, from 0 to 100."""

    entry: Entry
    score: float


class Resolution(NamedTuple):
    """What free text means: a record, or none and why, with the candidates, best first."""

    match: Entry | None
    candidates: tuple[Match, ...]
    why: str


def resolve(root: Root, text: str, limit: int = 10) -> Resolution:
    """The record that a text means. An exact address always wins; a tie or a weak best match is told, never guessed.

    A record that is no longer live does not tie with one that is: what replaced it is meant.
    """
    text = text.strip()
    exact = root.find(text) or at_path(root, text)
    if exact:
        twins = root.all_of(exact.id)
        if len(twins) > 1 and text != exact.directory:
            return Resolution(
                None, tuple(Match(twin, 100.0) for twin in twins[:limit]), f"{len(twins)} records bear this id"
            )
        return Resolution(exact, (Match(exact, 100.0),), "exact address")
    found = search(root, text, limit)
    if ids.FORM.fullmatch(text) or ids.URI.fullmatch(text) or ids.SHORT_ID.fullmatch(text):
        return Resolution(None, tuple(found), "no record has this address")
    if not found:
        return Resolution(None, (), "nothing matches")
    best = found[0]
    if best.score < WEAK:
        return Resolution(None, tuple(found), "no match is near enough")
    near = [
        match
        for match in found
        if best.score - match.score < CLOSE and match.entry.standing.live == best.entry.standing.live
    ]
    if len(near) > 1:
        return Resolution(None, tuple(found), "several records match equally well")
    return Resolution(best.entry, tuple(found), "best match")


def at_path(root: Root, text: str) -> Entry | None:
    """The record of the path of its folder or of a file in it."""
    path = text.replace("\\", "/").rstrip("/")
    held = root.of_file(path)
    return held[0] if held else root.entries.get(path)


def search(root: Root, text: str, limit: int = 50) -> list[Match]:
    """The records nearest to a text, best first; of equally near ones the more trusted, then the more alive, then by id."""
    words = words_of(text[:MAX_QUERY])
    if not words:
        return []
    index = index_of(root)
    with index.lock:
        index.follow(root)
        near = [(index.seen[folder], index.texts[folder], covered) for folder, covered in index.candidates(words)]
    scored = scores(words, near)
    counts = Counter(match.score for match in scored)

    def order(match: Match) -> tuple[Any, ...]:
        # Trust costs something to work out, and is only asked of those it decides between.
        tied = counts[match.score] > 1
        trust = root.served_trust(match.entry) if tied else 0
        return (
            -match.score,
            not match.entry.standing.live,
            -trust,
            STATUS_RANK.get(match.entry.status, 9),
            match.entry.id,
        )

    return sorted(scored, key=order)[:limit]


def folded(text: str) -> str:
    """The text as it is compared: no case, no accents."""
    return text.casefold() if text.isascii() else ACCENT.sub("", unicodedata.normalize("NFKD", text)).casefold()


def words_of(text: str) -> list[str]:
    return WORD.findall(folded(text))


# The index ------------------------------------------------------------------------------------------------------------


class Text(NamedTuple):
    """What is searched of a record, folded."""

    name: str
    """Its main anchor's words."""
    claim: str
    words: tuple[str, ...]
    """Every different word: of the anchors, the claim, the id's slug, the kind and subtype."""


def text_of(entry: Entry) -> Text:
    names = [words_of(anchor.words[:MAX_TEXT]) for anchor in entry.anchors[:8]]
    name = names[0] if names else []
    claim = words_of(entry.summary[:MAX_TEXT])
    slug = entry.id[:-17].split("-") if entry.id[-17:-16] == "-" else words_of(entry.id)
    others = [word for words in names[1:] for word in words]
    subtype = [entry.subtype] if entry.subtype else []
    return Text(
        " ".join(name), " ".join(claim), tuple(dict.fromkeys([*name, *claim, *others, *slug, entry.kind, *subtype]))
    )


def searched(entry: Entry) -> tuple[object, ...]:
    return entry.id, entry.summary, entry.anchors, entry.kind, entry.subtype


class Index:
    """The words of every record of one root, with the records that have each."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.entries: object = None
        self.held: list[Entry] = []
        """The entries in the map's own order, which is the same while no folder comes or goes."""
        self.seen: dict[str, Entry] = {}
        self.texts: dict[str, Text] = {}
        self.folders: dict[str, dict[str, None]] = {}
        """Folders by word; a dict is a set that keeps its order, so that one question has one answer."""
        self.hashes: dict[str, str] = {}
        """Folders by the digits at the end of the id."""
        self.vocabulary: list[str] = []
        """Every word, sorted; made again after words came or went."""
        self.stale = True

    def follow(self, root: Root) -> None:
        """Bring the index to this root by what differs from the one it was of."""
        if self.entries is root.entries:
            return
        held = list(root.entries.values())
        moved: Iterable[Entry] = compress(held, map(is_not, held, self.held)) if len(held) == len(self.held) else held
        for item in moved:
            before = self.seen.get(item.directory)
            if before is not item:
                self.replace(before, item)
        if len(self.seen) > len(held):
            for folder in [folder for folder in self.seen if folder not in root.entries]:
                self.remove(folder)
        self.entries, self.held = root.entries, held

    def replace(self, before: Entry | None, item: Entry) -> None:
        if before is not None:
            if searched(before) == searched(item):
                self.seen[item.directory] = item
                return
            self.remove(item.directory)
        self.add(item.directory, item)

    def add(self, folder: str, item: Entry) -> None:
        self.seen[folder] = item
        text = self.texts[folder] = text_of(item)
        for word in text.words:
            row = self.folders.get(word)
            if row is None:
                self.folders[word] = {folder: None}
                self.stale = True
            else:
                row[folder] = None
        self.hashes[folder] = item.id[-16:]

    def remove(self, folder: str) -> None:
        del self.seen[folder]
        del self.hashes[folder]
        for word in self.texts.pop(folder).words:
            row = self.folders[word]
            del row[folder]
            if not row:
                del self.folders[word]
                self.stale = True

    def candidates(self, words: list[str]) -> list[tuple[str, float]]:
        """The folders that have the most telling of these words or words like them, enough to choose from, each with the
        share of the words that it has, from 0 to 1."""
        if self.stale:
            self.vocabulary = sorted(self.folders)
            self.stale = False
        wanted = list(dict.fromkeys(words))[:MAX_WORDS]
        rows = {word: self.rows(word) for word in wanted}
        # The last word may not be typed to its end.
        rows[wanted[-1]] = nearest_first([*rows[wanted[-1]], *self.longer(wanted[-1])])
        weights: dict[str, float] = {}
        looked_at = 0
        for found in sorted(rows.values(), key=lambda found: sum(len(row) for _, row in found)):
            for nearness, row in found:
                weight = nearness * (1 + math.log(len(self.seen) / len(row)))
                if looked_at + len(row) <= LOOKED_AT or len(weights) < RERANKED:
                    looked_at += len(row)
                    for folder in islice(row, MAX_ROW):
                        weights[folder] = weights.get(folder, 0.0) + weight
                else:
                    for folder in weights:
                        if folder in row:
                            weights[folder] += weight
        best = heapq.nlargest(RERANKED, zip(weights.values(), weights, strict=True))
        length = sum(len(word) for word in wanted)
        return [(folder, sum(len(word) * share(rows[word], folder) for word in wanted) / length) for _, folder in best]

    def rows(self, word: str) -> list[Row]:
        """The records that have a word, or, where none has, a longer word or one spelt nearly so; nearest first."""
        exact = self.folders.get(word)
        if exact:
            return [(1.0, exact)]
        found = self.longer(word)
        if not found and len(word) >= 3:
            from rapidfuzz import fuzz, process

            like = process.extract(word, self.vocabulary, scorer=fuzz.ratio, score_cutoff=65, limit=4)
            found = [(score / 100, self.folders[other]) for other, score, _ in like]
        if HASH.fullmatch(word):
            ends = {folder: None for folder, digits in self.hashes.items() if digits.startswith(word)}
            if ends:
                found.append((1.0, ends))
        return nearest_first(found)

    def longer(self, word: str) -> list[Row]:
        """The records that have a longer word which begins with this one."""
        if len(word) < 2:
            return []
        at = bisect_left(self.vocabulary, word)
        return [
            (0.5 + 0.4 * len(word) / len(longer), self.folders[longer])
            for longer in self.vocabulary[at : at + 12]
            if longer.startswith(word) and longer != word
        ]


Row = tuple[float, dict[str, None]]
"""How near a word is to the one wanted, and the folders that have it."""


def nearest_first(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: -row[0])


def share(rows: list[Row], folder: str) -> float:
    """How near the nearest of the words is that a record has; 0 where it has none."""
    for nearness, row in rows:
        if folder in row:
            return nearness
    return 0.0


INDEXES: OrderedDict[str, Index] = OrderedDict()
INDEXES_LOCK = Lock()


def index_of(root: Root) -> Index:
    with INDEXES_LOCK:
        index = INDEXES.get(root.path)
        if index is None:
            index = INDEXES[root.path] = Index()
            while len(INDEXES) > MAX_ROOTS:
                INDEXES.popitem(last=False)
        INDEXES.move_to_end(root.path)
        return index


def scores(words: list[str], near: Iterable[tuple[Entry, Text, float]]) -> list[Match]:
    """How near each record is: chiefly whether it has the words, then how much of its name or its claim they are."""
    from rapidfuzz import fuzz

    wanted = " ".join(sorted(words[:MAX_WORDS]))
    one_word = len(words) == 1
    found: list[Match] = []
    for entry, (name, claim, _), covered in near:
        if one_word and covered == 1 and len(wanted) >= 6 and entry.id.startswith(wanted, len(entry.id) - 16):
            found.append(Match(entry, 95.0))
            continue
        much = max(fuzz.token_sort_ratio(wanted, name), fuzz.token_sort_ratio(wanted, claim))
        found.append(Match(entry, round(70 * covered + 0.3 * much, 1)))
    return found


def prepare(root: Root) -> None:
    """Make the index of a root, so that the first question does not wait for it."""
    index = index_of(root)
    with index.lock:
        index.follow(root)
