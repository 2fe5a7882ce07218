"""What a project wants of memidex: `[tool.memidex]` of its `pyproject.toml`, read the same for the editor and the command line.

The nearest `pyproject.toml` at or above a folder that has the table counts. Words that are not understood are warnings;
values of a wrong type are errors, since a check that silently checks something else is worse than none.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from memidex.rules import registry
from memidex.rules.nearest import nearest
from memidex.rules.rule import ALL, SEVERITIES, Selection, Severity

Level = Literal["error", "warning", "info", "never"]
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "info", "never")
KEYS: Final = ("rules", "select", "ignore", "fail-on", "exclude")
FILE: Final = "pyproject.toml"


class Malformed(Exception):
    """Configuration that cannot be used; its text names the file and the key."""


@dataclass(frozen=True)
class Config:
    """The configuration for one folder, with the editor's own settings merged over it."""

    selection: Selection = ALL
    fail_on: Level = "error"
    exclude: tuple[str, ...] = ()
    """Paths that are not searched for roots, as in a `.gitignore` beside the file."""
    path: str | None = None
    """The file it is from, absolute; None where no file says anything."""
    warnings: tuple[str, ...] = ()

    def excludes(self, path: str) -> bool:
        """Whether a folder is one of those not searched for roots."""
        if not self.exclude or not self.path:
            return False
        from pathspec import GitIgnoreSpec

        name = os.path.relpath(path, os.path.dirname(self.path)).replace("\\", "/")
        return not name.startswith("../") and GitIgnoreSpec.from_lines(self.exclude).match_file(name + "/")


def read(
    directory: str, overrides: Mapping[str, Any] | None = None, select: Iterable[str] = (), ignore: Iterable[str] = ()
) -> Config:
    """The configuration that holds in a folder. Raises `Malformed`.

    `overrides` is the editor's setting `memidex.rules`, severities by rule, which wins over the file. `select` and
    `ignore` are the command line's: the first takes the place of the file's and runs a rule it names even where the
    file silences it, the second is added.
    """
    path, table = found(directory)
    where = f"{path}: tool.memidex" if path else ""
    warnings = [f"{where}.{key}: no such key{meant(key, KEYS)}" for key in table if key not in KEYS]
    severities: dict[str, Severity | Literal["off"]] = {
        **severities_of(table.get("rules", {}), f"{where}.rules", warnings),
        **severities_of(overrides or {}, "memidex.rules", warnings),
    }
    chosen = names_of(table.get("select", []), f"{where}.select", warnings)
    ignored = names_of(table.get("ignore", []), f"{where}.ignore", warnings)
    fail_on = table.get("fail-on", "error")
    if fail_on not in LEVELS:
        raise Malformed(f"{where}.fail-on: must be one of {', '.join(LEVELS)}, not {shown(fail_on)}")
    asked = {rule(name) for name in select}
    if asked:
        severities = {name: severity for name, severity in severities.items() if severity != "off" or name not in asked}
        ignored = {name for name in ignored if name not in asked}
        chosen = asked
    selection = Selection(severities, frozenset(chosen), frozenset(ignored | {rule(name) for name in ignore}))
    exclude = texts_of(table.get("exclude", []), f"{where}.exclude")
    check_patterns(exclude, f"{where}.exclude")
    return Config(selection, fail_on, tuple(exclude), path, tuple(warnings))


def selection(directory: str, overrides: Mapping[str, Any] | None = None) -> Selection:
    """Which rules run in a folder, and how severe each is. Raises `Malformed`."""
    return read(directory, overrides).selection


def found(directory: str) -> tuple[str | None, dict[str, Any]]:
    """(path, `[tool.memidex]`) of the nearest file that has one; raises `Malformed` for a file that is not TOML."""
    here = os.path.abspath(directory)
    while True:
        path = os.path.join(here, FILE)
        if os.path.isfile(path):
            table = table_of(path)
            if table is not None:
                return path.replace("\\", "/"), table
        parent = os.path.dirname(here)
        if parent == here:
            return None, {}
        here = parent


def table_of(path: str) -> dict[str, Any] | None:
    try:
        with open(path, "rb") as file:
            whole = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Malformed(f"{path}: not TOML: {error}") from None
    except RecursionError:
        raise Malformed(f"{path}: not TOML: nested too deeply") from None
    except OSError as error:
        raise Malformed(f"{path}: cannot be read: {error.strerror}") from None
    tools = whole.get("tool")
    table = cast("dict[str, Any]", tools).get("memidex") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise Malformed(f"{path}: tool.memidex: must be a table, not {shown(table)}")
    return cast("dict[str, Any] | None", table)


def severities_of(value: Any, where: str, warnings: list[str]) -> dict[str, Severity | Literal["off"]]:
    if not isinstance(value, Mapping):
        raise Malformed(f"{where}: must be a table of rules and severities, not {shown(value)}")
    result: dict[str, Severity | Literal["off"]] = {}
    table = cast("Mapping[Any, Any]", value)
    for name, severity in table.items():
        if severity not in (*SEVERITIES, "off"):
            raise Malformed(f"{where}.{name}: must be one of {', '.join(SEVERITIES)}, off, not {shown(severity)}")
        known = registry.find(str(name))
        if known:
            result[known.name] = severity
        else:
            warnings.append(f"{where}: {unknown(str(name))}")
    return result


def names_of(value: Any, where: str, warnings: list[str]) -> set[str]:
    names: set[str] = set()
    for name in texts_of(value, where):
        try:
            names.add(rule(name))
        except LookupError as error:
            warnings.append(f"{where}: {error.args[0]}")
    return names


def texts_of(value: Any, where: str) -> list[str]:
    items = cast("list[Any]", value) if isinstance(value, list) else [None]
    if not all(isinstance(item, str) for item in items):
        raise Malformed(f"{where}: must be a list of strings, not {shown(value)}")
    return cast("list[str]", items)


def check_patterns(patterns: list[str], where: str) -> None:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise Malformed(f"{where}: {error}") from None


def rule(name: str) -> str:
    """The name of the rule that a name or code means, or a beginning of codes as it is; raises `LookupError` with a text."""
    known = registry.find(name.strip())
    if known:
        return known.name
    beginning = name.strip().upper()
    if len(beginning) > 2 and any(code.startswith(beginning) for code in registry.BY_CODE):
        return beginning
    raise LookupError(unknown(name.strip()))


def unknown(name: str) -> str:
    words = registry.BY_CODE if name[:2].upper() == "MX" else registry.BY_NAME
    return f"no rule `{name}`{meant(name, words)}"


def meant(word: str, words: Iterable[str]) -> str:
    near = nearest(word, words)
    return f"; did you mean `{near}`?" if near else ""


def shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
