"""What holds for every command: versions and help, exit codes, encodings, terminals, streams that go away."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import environment, inside, process, terminal

from memidex import __version__
from memidex.cli.console import Console, columns, cut, line, visible
from memidex.cli.main import COMMANDS, run
from sketch import sketch

HOSTILE = "-- record.md --\n## Summary\n\nred \x1b[31malert\x1b]0;title\x07 and \u202eevil \x9b31m\n\n## Detail\n\n::error::x\n"

# More than a pipe holds.
LONG = "\n".join(f"-- b{n}/record.md --\n## Summary\n\n{'x' * 900}\n\n## Detail\n\nx" for n in range(120))


def test_the_version_is_told_by_the_module_and_by_the_script(tmp_path: Path) -> None:
    assert process(tmp_path, "--version") == (0, f"memidex {__version__}\n", "")
    script = Path(sys.executable).with_name("memidex")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"memidex {__version__}\n")


def test_help_has_one_line_for_every_command(tmp_path: Path) -> None:
    done = inside(tmp_path, "--help")
    assert done.code == 0
    for command in COMMANDS.values():
        assert f"  {command.name} " in done.out
        assert command.line in done.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_own_help(name: str, tmp_path: Path) -> None:
    assert process(tmp_path, name, "--help").code == 0


def test_no_command_at_all_could_not_run(tmp_path: Path) -> None:
    done = inside(tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "usage: memidex" in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["chekc"], "did you mean `check`?"),
        (["--frobnicate"], "no option --frobnicate"),
        (["check", "--frobnicate"], "--frobnicate"),
        (["check", "--format", "yaml"], "invalid choice: 'yaml'"),
        (["check", "--fail-on", "hint"], "invalid choice: 'hint'"),
        (["check", "--select", "stored-derived-feild"], "did you mean `stored-derived-field`?"),
        (["check", "--ignore", "MX999"], "no rule `MX999`"),
        (["check", "no-such-folder"], "no such file or folder: no-such-folder"),
        (["check", "a\0b"], "no such file or folder"),
        (["check"], "no knowledge root found in or above"),
        (["check", "."], "no knowledge root found in or above .: a root is a folder with memory/<product>/bundles/"),
        (["inspect"], "no knowledge root found in or above"),
        (["verify", "--root", "."], ". is no knowledge root"),
        (["verify", "--root", "nowhere"], "no such file or folder: nowhere"),
        (["--root", "nowhere", "inspect"], "no such file or folder: nowhere"),
        (["--root=nowhere", "inspect"], "no such file or folder: nowhere"),
        (["inspect", "--as-of-build", "-1"], "whole number"),
        (["inspect", "--as-of-build", "soon"], "a build is a whole number"),
        (["inspect", "--kind", "fct"], "invalid choice"),
        (["get"], "ADDRESS"),
        (["rule"], "NAME"),
        (["lsp", "--tcp", "here"], "HOST:PORT"),
    ],
)
def test_what_cannot_run_says_why_on_stderr_and_exits_with_2(arguments: list[str], says: str, tmp_path: Path) -> None:
    done = inside(tmp_path, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("memidex: ")
    assert says in done.err


def test_a_root_may_be_named_before_or_after_the_command(tmp_path: Path) -> None:
    root = sketch("-- record.md --", tmp_path).root.as_posix()
    there = Path("/")
    assert inside(there, "--root", root, "check").code == inside(there, "check", f"--root={root}").code == 0


def test_results_go_to_stdout_and_all_else_to_stderr(tmp_path: Path) -> None:
    sketch('-- record.md --\nkind: "fct"', tmp_path)
    done = process(tmp_path, "check")
    assert done.code == 1
    assert "[unknown-value]" in done.out
    assert "in 1 record (" in done.err
    assert "in 1 record (" not in done.out


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_every_character_is_printed_whatever_the_locale(locale: str, tmp_path: Path) -> None:
    sketch("-- record.md --\n## Summary\n\nfür 次へ 🛒\n\n## Detail\n\nx\n", tmp_path)
    done = process(tmp_path, "inspect", LC_ALL=locale, LANG=locale, PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert done.code == 0
    assert "für 次へ 🛒" in done.out


def test_a_code_page_asked_for_does_not_stop_it(tmp_path: Path) -> None:
    sketch("-- record.md --\n## Summary\n\nnext 次へ\n\n## Detail\n\nx\n", tmp_path)
    assert process(tmp_path, "inspect", PYTHONIOENCODING="cp437").code == 0


def test_what_a_terminal_would_obey_is_shown_instead(tmp_path: Path) -> None:
    drawn = sketch(HOSTILE, tmp_path)
    for arguments in (
        ["inspect"],
        ["get", drawn.ids["a"]],
        ["check", "--hints"],
        ["get", drawn.ids["a"], "--format", "json"],
    ):
        shown = terminal(tmp_path, *arguments, NO_COLOR="1")
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown), arguments


def test_no_line_of_a_record_is_a_command_to_a_build_server(tmp_path: Path) -> None:
    drawn = sketch(HOSTILE, tmp_path)
    done = inside(tmp_path, "get", drawn.ids["a"])
    assert "│ ::error::x" in done.out
    assert not [text for text in done.out.splitlines() if text.strip().startswith("::")]


def test_colour_is_for_terminals_that_want_it(tmp_path: Path) -> None:
    sketch('-- record.md --\nkind: "fct"', tmp_path)
    assert "\x1b[31merror\x1b[0m" in terminal(tmp_path, "check")
    assert "\x1b" not in terminal(tmp_path, "check", NO_COLOR="1")
    assert "\x1b" not in terminal(tmp_path, "check", TERM="dumb")
    assert "\x1b" not in process(tmp_path, "check").out


def test_rows_fit_the_terminal_and_are_whole_in_a_pipe(tmp_path: Path) -> None:
    summary = "the button does " + "very " * 60 + "much"
    sketch(f"-- record.md --\n## Summary\n\n{summary}\n\n## Detail\n\nx\n", tmp_path)
    rows = terminal(tmp_path, "inspect", COLUMNS="100", NO_COLOR="1").splitlines()
    assert all(columns(row) <= 100 for row in rows)
    assert rows[0].split() == ["status", "trust", "served", "kind", "summary"]
    assert rows[1].endswith("…")
    assert summary in process(tmp_path, "inspect").out


def test_a_reader_that_has_enough_ends_it_quietly(tmp_path: Path) -> None:
    sketch(LONG, tmp_path)
    command = [sys.executable, "-m", "memidex", "inspect"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout
        assert running.stderr
        running.stdout.read(10)
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(30) == 141


@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_ctrl_c_ends_it_with_130(tmp_path: Path) -> None:
    sketch(LONG, tmp_path)
    command = [sys.executable, "-m", "memidex", "inspect"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout
        assert running.stderr
        running.stdout.read(1)  # from here on it waits for us to read more than a pipe holds
        running.send_signal(signal.SIGINT)
        running.stdout.read()
        assert running.stderr.read() == b""
        assert running.wait(30) == 130


def test_nothing_heavy_is_imported_for_the_version_or_the_server(tmp_path: Path) -> None:
    for arguments in (["--version"], ["lsp", "--help"]):
        source = f"import sys\nfrom memidex.cli.main import main\nmain({arguments})\nprint([m for m in sys.modules if m.split('.')[0] in ('pydantic', 'msgspec', 'yaml', 'lsprotocol', 'rapidfuzz') or m.startswith('memidex.rules')])"
        done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"


def test_text_is_cut_by_the_columns_it_takes() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
    assert cut("次へ次へ", 5) == "次へ…"
    assert columns("e\u0301") == 1


def test_hidden_characters_are_written_out_and_pictures_stay() -> None:
    assert visible("a\x1b[0m\tb\nc\r") == "a\\x1b[0m\tb\nc\\x0d"
    assert visible("\u202e\u2028\ue000\U000e0041\ud800") == "\\u202e\\u2028\\ue000\\U000e0041\\ud800"
    assert visible("👩\u200d👩\ufe0f für 次へ") == "👩\u200d👩\ufe0f für 次へ"
    assert line("one\ntwo\r\n three") == "one two three"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_is_told_on_a_terminal_and_wiped_away() -> None:
    now = iter([0.0, 0.4, 0.6, 0.65, 0.8])
    screen = Screen()
    console = Console("/", {}, io.StringIO(), screen, lambda: next(now))
    for done in range(5):
        console.progress("reading", done, 1000)
    assert screen.getvalue() == "\r\x1b[Kreading 2 of 1,000\r\x1b[Kreading 4 of 1,000"
    console.progress.clear()
    assert screen.getvalue().endswith("\r\x1b[K")


def test_a_fault_of_our_own_is_told_as_one_and_could_not_run(tmp_path: Path) -> None:
    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise RuntimeError("as if something were wrong with us")

    err = io.StringIO()
    assert run(["--version"], Console(tmp_path.as_posix(), {}, Full(), err, lambda: 0.0)) == 2
    assert "this is a fault of memidex (RuntimeError); please report it" in err.getvalue()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
@pytest.mark.parametrize("arguments", [["rules"], ["--version"]])
def test_a_full_disk_behind_stdout_is_told(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "memidex", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "memidex: [Errno 28] No space left on device\n")
