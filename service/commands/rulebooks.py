"""`depesche book`: what has to be mended in the books of games, and noting that a translation was read again."""

from __future__ import annotations

from argparse import Namespace

from service.commands.terminal import FINE, WRONG, Misuse, Parser, Subparsers, add_command


def add(subparsers: Subparsers[Parser]) -> None:
    found = add_command(
        subparsers,
        "book",
        book,
        "Say what has to be mended in the book of a game: what is missing, untranslated or out of date.",
        "depesche book kaiser",
        "depesche book kaiser --read nl",
    )
    found.add_argument("names", metavar="NAME", nargs="+", help="a game")
    found.add_argument(
        "--read", metavar="LANGUAGE", action="append", default=[], help="this translation was read against the English"
    )


def book(args: Namespace) -> int:
    from engine import catalogue
    from service.text import rulebook_checks

    catalogue.allow(args.names)
    problems = list[str]()
    for name in args.names:
        if name not in catalogue.find_all():
            raise Misuse(f"There is no game “{name}”; the games are: {', '.join(catalogue.find_all())}.")
        for language in args.read:
            if language not in rulebook_checks.TRANSLATIONS:
                raise Misuse(f"Translations are in {', '.join(rulebook_checks.TRANSLATIONS)}; not in “{language}”.")
            rulebook_checks.record_check(name, language)
        problems += rulebook_checks.find_problems(name)
    print("\n".join(problems) or "Nothing has to be mended.")
    return WRONG if problems else FINE
