"""`depesche completion`: lets a shell complete commands and options, written from the parsers themselves."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Iterator

from service.commands.terminal import FINE, Parser, Subparsers, add_command

SHELLS = ("bash", "zsh", "fish")


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the command `completion`."""
    parser = add_command(
        subparsers,
        "completion",
        print_completion,
        "Print what a shell needs to complete commands and options by the Tab key.",
        "depesche completion bash >> ~/.bashrc",
        "depesche completion fish > ~/.config/fish/completions/depesche.fish",
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))
    parser.set_defaults(commands=subparsers)


def print_completion(args: Namespace) -> int:
    """Print what the shell needs, from the commands that the parser has."""
    commands = {name: tuple(_list_options(parser)) for name, parser in args.commands.choices.items()}
    about = {action.dest: action.help or "" for action in args.commands._choices_actions}
    lines = _write_fish(commands, about) if args.shell == "fish" else _write_bash(commands, zsh=args.shell == "zsh")
    print("\n".join(lines))
    return FINE


def _list_options(parser: Parser) -> Iterator[tuple[str, str]]:
    """Yield the long options of a command, each with what it is for."""
    for action in parser._actions:
        for option in action.option_strings:
            if option.startswith("--") and action.help != argparse.SUPPRESS:
                yield option, action.help or ""


Commands = dict[str, tuple[tuple[str, str], ...]]  # by name, their options, each with what it is for


def _write_bash(commands: Commands, *, zsh: bool) -> Iterator[str]:
    """Yield the lines of a completion for bash; zsh reads the same after a line of its own."""
    if zsh:
        yield "autoload -U +X compinit && compinit -C; autoload -U +X bashcompinit && bashcompinit"
    yield "_depesche() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" known=""'
    yield f'  if [ "$COMP_CWORD" -eq 1 ]; then known="{" ".join(commands)}"; else case "${{COMP_WORDS[1]}}" in'
    for name, options in commands.items():
        yield f'    {name}) known="{" ".join(option for option, _ in options)}" ;;'
    yield "  esac; fi"
    yield '  COMPREPLY=($(compgen -W "$known" -- "$word"))'
    yield "}"
    yield "complete -o default -F _depesche depesche"


def _write_fish(commands: Commands, about: dict[str, str]) -> Iterator[str]:
    """Yield the lines for fish: the commands with what they do, and the options of each."""
    for name, options in commands.items():
        yield f"complete -c depesche -n __fish_use_subcommand -f -a {name} -d {_quote(about.get(name, ''))}"
        for option, what in options:
            seen = _quote(f"__fish_seen_subcommand_from {name}")
            yield f"complete -c depesche -n {seen} -l {option.removeprefix('--')} -d {_quote(what)}"


def _quote(text: str) -> str:
    """Return a text between single quotes, as fish reads it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
