"""The `memidex` command: finds the command in the table, runs it, and turns whatever happens into an exit code.

A command's module is imported when it is asked for, so that `--version` and `lsp` do not pay for the rest.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

from memidex import __version__
from memidex.cli import console as consoles
from memidex.cli.console import Console, Failed, Parser


class Command(NamedTuple):
    """One command: `module` has its function, and `NAME_arguments(parser)` for what it takes."""

    name: str
    takes: str
    line: str
    module: str


GROUPS: dict[str, tuple[Command, ...]] = {
    "What is wrong": (
        Command("check", "[PATH...]", "every finding of every knowledge root below PATH", "check"),
        Command("verify", "", "check every manifest: what changed since it was sealed", "verify"),
        Command("rules", "", "the rules, one a line", "catalogue"),
        Command("rule", "NAME", "one rule's page: why, examples, what mends it", "catalogue"),
    ),
    "What is known": (
        Command("inspect", "", "the records of a root as it is, or was at a build", "records"),
        Command("get", "ADDRESS", "one record's card", "records"),
        Command("resolve", "TEXT", "the record that free text means", "records"),
        Command("brief", "--product P", "what a run would be served, most trusted first", "brief"),
    ),
    "What is decided": (
        Command("accept", "ADDRESS...", "take a candidate, a proposal or a policy's rule as true", "decisions"),
        Command("confirm", "ADDRESS...", "say that a record is true", "decisions"),
        Command("contradict", "ADDRESS...", "say that a record is not true", "decisions"),
        Command("reject", "ADDRESS...", "turn a candidate or a proposal down", "decisions"),
        Command("forget", "ADDRESS...", "retire a record; it stays as a tombstone", "decisions"),
        Command("supersede", "ADDRESS", "replace a record by a new one, or by one that is there", "decisions"),
        Command("retract", "EVENT...", "take events back, or what was decided last on a record", "decisions"),
        Command("overturn", "EVENT", "overrule what an agent decided", "decisions"),
        Command("seal", "ADDRESS...", "write a manifest anew after a look at what changed", "decisions"),
        Command("gc", "", "remove the oldest generations of what was superseded", "decisions"),
    ),
    "In git": (
        Command("git-setup", "", "let git merge records that two branches both changed", "git"),
        Command("merge-driver", "", "what git calls then; `git-setup` tells it to", "git"),
    ),
    "Other": (
        Command("lsp", "", "the language server, for an editor", "server"),
        Command("demo", "", "what memidex is, in half a minute, on a throw-away copy", "demo"),
    ),
}
COMMANDS = {command.name: command for group in GROUPS.values() for command in group}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command of this process; the exit code."""
    console = consoles.of_process()
    try:
        code = run(sys.argv[1:] if arguments is None else arguments, console)
    except BrokenPipeError:
        code = consoles.NO_READER
    except KeyboardInterrupt:
        console.progress.clear()
        code = consoles.STOPPED
    if code:
        silence(console)
    return code


def silence(console: Console) -> None:
    """Let what could not be printed go nowhere, so that the interpreter's own last flush is quiet."""
    try:
        console.out.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(arguments: Sequence[str], console: Console) -> int:
    """Run one command; the exit code. Only a broken pipe and Ctrl-C are raised."""
    try:
        code = dispatch(list(arguments), console)
        console.out.flush()
        return code
    except Failed as failed:
        console.progress.clear()
        console.say(f"memidex: {consoles.visible(str(failed))}")
        return failed.code
    except SystemExit as ended:  # argparse, after it printed a command's help
        return ended.code if isinstance(ended.code, int) else consoles.DONE
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except OSError as error:
        console.say(f"memidex: {consoles.visible(str(error))}")
        return consoles.CANNOT_RUN
    except Exception as error:
        traceback.print_exc(file=console.err)
        console.say(
            f"memidex: this is a fault of memidex ({type(error).__name__}); please report it with the lines above"
        )
        return consoles.CANNOT_RUN


def dispatch(arguments: list[str], console: Console) -> int:
    before: list[str] = []
    while arguments and arguments[0].startswith("-"):
        option = arguments.pop(0)
        if option in ("--version", "-V"):
            console.print(f"memidex {__version__}")
            return consoles.DONE
        if option in ("--help", "-h"):
            console.print(overview())
            return consoles.DONE
        if option != "--root" and not option.startswith("--root="):
            raise Failed(f"no option {option}; `memidex --help` lists the commands")
        before.append(option)
        if option == "--root" and arguments:
            before.append(arguments.pop(0))
    if not arguments:
        console.say(overview())
        return consoles.CANNOT_RUN
    name = arguments.pop(0)
    if name == "help":
        console.print(overview())
        return consoles.DONE
    command = COMMANDS.get(name)
    if command is None:
        raise Failed(f"no command `{name}`{meant(name)}; `memidex --help` lists them")
    module: Any = import_module(f"memidex.cli.{command.module}")
    parser = Parser(f"memidex {name}", description=command.line[0].upper() + command.line[1:] + ".", allow_abbrev=False)
    function = name.replace("-", "_")
    getattr(module, f"{function}_arguments")(parser)
    return getattr(module, function)(parser.parse_args([*before, *arguments]), console)


def overview() -> str:
    lines = ["usage: memidex [--root DIR] COMMAND [...]", "", "See, judge and correct what testing agents learned."]
    for title, commands in GROUPS.items():
        lines += ["", f"{title}:"]
        lines += [f"  {command.name + ' ' + command.takes:<22}{command.line}" for command in commands]
    return "\n".join(
        [*lines, "", "`memidex COMMAND --help` says more; `--format json` gives one JSON document.", EXITS]
    )


EXITS = "Exit code: 0 done or clean, 1 findings, refused or not found, 2 could not run."


def meant(name: str) -> str:
    from memidex.rules.nearest import nearest

    near = nearest(name, COMMANDS)
    return f"; did you mean `{near}`?" if near else ""
