"""Commands of game authors: `new-game` writes a package; `catalogues` and `book` check translations and rulebooks."""

from __future__ import annotations

import keyword
from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from service.commands.terminal import FINE, WRONG, Misuse, Parser, Subparsers, add_command

TEMPLATE_FOLDER = Path(__file__).parent / "new_game_files"
SUFFIX = ".in"  # so that no tool takes these files for code


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the commands for authors: `new-game`, `catalogues` and `book`."""
    command = add_command(
        subparsers,
        "new-game",
        write_new_game,
        "Write a package with a small complete game: rules, templates, words, tests and a README to begin from.",
        "depesche new-game liars_dice",
        'depesche new-game liars_dice --title "Liar’s Dice" --author "Anna Bos"',
    )
    command.add_argument("name", metavar="NAME", help="small letters, digits and _; also the name of its Python module")
    command.add_argument("--title", help="what the box says")
    command.add_argument("--author", default="an unknown author", help="who designed and published it")
    gather = add_command(
        subparsers,
        "catalogues",
        gather_catalogues,
        "Gather the sentences to translate in a package with a game, and list missing translations.",
        "depesche catalogues liars_dice",
    )
    gather.add_argument("names", metavar="NAME", nargs="+", help="an installed game")
    _add_books(subparsers)


def _add_books(subparsers: Subparsers[Parser]) -> None:
    """Add the command `book`."""
    books = add_command(
        subparsers,
        "book",
        check_books,
        "List what is missing, untranslated or out of date in the rulebook of a game.",
        "depesche book kaiser",
        "depesche book kaiser --read nl",
    )
    books.add_argument("names", metavar="NAME", nargs="+", help="a game")
    books.add_argument(
        "--read", metavar="LANGUAGE", action="append", default=[], help="this translation was read against the English"
    )


def write_new_game(args: Namespace) -> int:
    """Write the package of a new game; refuse a name that is taken."""
    _refuse_name(args.name)
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
    for path, text in fill_templates(words):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, "utf-8")
    print(f"{home}/ has a game that can be played: pip install --editable {home}, then depesche dev {args.name}")
    return FINE


def fill_templates(words: dict[str, str]) -> Iterator[tuple[Path, str]]:
    """Yield the files of a new game: path in its folder, and text, where `@NAME@` is replaced by `words["NAME"]`."""
    for path in sorted(TEMPLATE_FOLDER.rglob(f"*{SUFFIX}")):
        text = path.read_text("utf-8")
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        place = path.relative_to(TEMPLATE_FOLDER).as_posix().removesuffix(SUFFIX).replace("NAME", words["NAME"])
        yield Path(place), text


def _refuse_name(name: str) -> None:
    """Raise Misuse if a game cannot have this name."""
    import importlib.util

    from engine import catalogue

    if not catalogue.NAME.fullmatch(name) or keyword.iskeyword(name):
        raise Misuse(f"A game is called by small letters, digits and _, beginning with a letter; not “{name}”.")
    if name in catalogue.find_all() or importlib.util.find_spec(name):
        raise Misuse(f"There is a module or a game “{name}” already; choose another name.")


def gather_catalogues(args: Namespace) -> int:
    """Gather the sentences of games for translation; end with an error if a translation is missing."""
    from engine import catalogue
    from service.text import translation_catalogues

    catalogue.allow(args.names)
    if missing := catalogue.find_missing(args.names):
        raise Misuse(f"No installed package brings {', '.join(missing)}; pip install it first.")
    return WRONG if translation_catalogues.update_catalogues(args.names) else FINE


def check_books(args: Namespace) -> int:
    """Record which translations were read with `--read`, then list the problems of the rulebooks."""
    from engine import catalogue
    from service.text import rulebook_checks

    catalogue.allow(args.names)
    problems = list[str]()
    for name in args.names:
        catalogue.find(name)  # refuses an unknown name
        for language in args.read:
            if language not in rulebook_checks.TRANSLATIONS:
                raise Misuse(f"Translations are in {', '.join(rulebook_checks.TRANSLATIONS)}; not in “{language}”.")
            rulebook_checks.record_check(name, language)
        problems += rulebook_checks.find_problems(name)
    print("\n".join(problems) or "Nothing has to be corrected.")
    return WRONG if problems else FINE
