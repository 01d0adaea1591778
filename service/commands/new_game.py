"""`depesche new-game` and `depesche catalogues`: a package with a game of one's own, and its words."""

from __future__ import annotations

import keyword
from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from service.commands.terminal import FINE, WRONG, Misuse, Parser, Subparsers, add_command

FILES = Path(__file__).parent / "new_game_files"
SUFFIX = ".in"  # so that no tool takes these for code of ours


def add(subparsers: Subparsers[Parser]) -> None:
    made = add_command(
        subparsers,
        "new-game",
        new_game,
        "Write a package with a small complete game: rules, templates, words, tests and a README to begin from.",
        "depesche new-game liars_dice",
        'depesche new-game liars_dice --title "Liar’s Dice" --author "Anna Bos"',
    )
    made.add_argument("name", metavar="NAME", help="small letters, digits and _; also the name of its Python module")
    made.add_argument("--title", help="what the box says")
    made.add_argument("--author", default="somebody", help="who designed and published it")
    gathered = add_command(
        subparsers,
        "catalogues",
        catalogues,
        "Gather what has to be translated in a package that brings a game, and say what is missing.",
        "depesche catalogues liars_dice",
    )
    gathered.add_argument("names", metavar="NAME", nargs="+", help="an installed game")


def new_game(args: Namespace) -> int:
    _refuse(args.name)
    home = Path(args.name)
    if home.exists():
        raise Misuse(f"There is a folder {home} already; choose another name, or another place.")
    words = {
        "NAME": args.name,
        "DASHED": args.name.replace("_", "-"),
        "TITLE": args.title or args.name.replace("_", " ").title(),
        "AUTHOR": args.author,
        "YEAR": str(datetime.now(UTC).year),
    }
    for path, text in written(words):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, "utf-8")
    print(f"{home}/ holds a game that can be played: pip install --editable {home}, then depesche dev {args.name}")
    return FINE


def written(words: dict[str, str]) -> Iterator[tuple[Path, str]]:
    """The files of a new game: where they lie in its folder, and what stands in them."""
    for path in sorted(FILES.rglob(f"*{SUFFIX}")):
        text = path.read_text("utf-8")
        for word, meant in words.items():
            text = text.replace(f"@{word}@", meant)
        place = path.relative_to(FILES).as_posix().removesuffix(SUFFIX).replace("NAME", words["NAME"])
        yield Path(place), text


def _refuse(name: str) -> None:
    """Raise Misuse where a game cannot be called so."""
    import importlib.util

    from engine import catalogue

    if not catalogue.NAME.fullmatch(name) or keyword.iskeyword(name):
        raise Misuse(f"A game is called by small letters, digits and _, beginning with a letter; not “{name}”.")
    if name in catalogue.find_all() or importlib.util.find_spec(name):
        raise Misuse(f"There is a module or a game “{name}” already; choose another name.")


def catalogues(args: Namespace) -> int:
    from engine import catalogue
    from service.text import messages

    catalogue.allow(args.names)
    if missing := catalogue.find_missing(args.names):
        raise Misuse(f"No installed package brings {', '.join(missing)}; pip install it first.")
    return WRONG if messages.update_catalogues(args.names) else FINE
