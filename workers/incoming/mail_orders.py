"""Parses a line such as “if Kim A14 A8 then A2 A3”, and stores it as a standing order.

A page makes the same order from a branch: it holds if the others make just these moves.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine import chance as chances
from engine import game as games
from engine.menu import Menu, Move
from engine.refusal import Refused
from service.tables import branch_orders, branches, standing_orders
from service.tables.branches import Branch, Moves
from service.tables.locked_table import LockedTable
from service.text.languages import Sentence
from service.text.words import Vocabulary
from workers.incoming.move_parser import find_verb, parse_move_line, split_words

AND = re.compile(r"\s*;\s*|\s*,\s+|\s+(?:and|und|en|et)\s+", re.IGNORECASE)
MAX_COMPARED_PARTS = 4  # with all menus, to tell an order from talk: 60 lines of 100 parts would take seconds
SEEDS = (b"0", b"1", b"2")  # chance decides what follows if these lead to different positions


class ConditionalOrder(Struct, frozen=True):
    """A line split into the moves of others and the own move."""

    given: tuple[str, ...]
    own: str


def parse_order(line: str, words: Vocabulary) -> ConditionalOrder | None:
    """Split a line that begins with “if” and has a “then”, or a comma in its place; None for any other line."""
    written = line.split()
    plain = [" ".join(split_words(word)).casefold() for word in written]
    start = 1 if plain[:1] and plain[0] in {name.casefold() for name in words("order")} | {"order"} else 0
    if not plain[start:] or plain[start] not in words.table.conditions:
        return None
    then = next((place for place, word in enumerate(plain) if place > start and word in words.table.consequences), None)
    if then is not None:
        given, own = " ".join(written[start + 1 : then]), " ".join(written[then + 1 :])
    else:
        given, _, own = " ".join(written[start + 1 :]).rpartition(", ")
    parts = tuple(part.strip(" ,:") for part in AND.split(given) if part.strip(" ,:"))
    return ConditionalOrder(parts, own) if parts and own else None


def store_order(
    locked: LockedTable, seat: int, order: ConditionalOrder, words: Vocabulary
) -> tuple[LockedTable, Sentence]:
    """Store an order; return the table, and what was understood. Raise Refused if a part is no clear move."""
    locked.refuse_closed()
    if locked.position.waiting_command or locked.position.paused:
        raise Refused("The table waits; orders with “if” are possible when the game goes on.")
    moves = _list_moves(locked, seat, order, words)
    branch = Branch(0, locked.row.id, seat, "", locked.position.length - 1, secrets.token_bytes(32), moves, locked.now)
    branch = replace(branch, id=branches.store_branch(locked.flush(), branch))
    first = locked.game.redeal(locked.position.state, seat, chances.make_sealed(branch.seed, 0))
    line = branches.play_moves(locked.game, first, branch)
    planned = list(branch_orders.list_conditional_moves(locked.game, locked.position, branch, line))
    locked = standing_orders.replace_branch_orders(locked, seat, branch.id, planned)
    number = int(standing_orders.list_orders(locked.flush(), locked.row.id, seat)[-1].id)
    who = " + ".join(dict.fromkeys(locked.seats[mover].name for mover, _ in moves[:-1]))
    given, own = ", ".join(move for _, move in moves[:-1]), moves[-1][1]
    return locked, Sentence(
        "Noted as number {number}. If {who} makes exactly this move: {given} – this is done: {move}. To forget it,"
        " write: cancel {number}",
        {"number": number, "who": who, "given": given, "move": own},
    )


def is_about_moves(locked: LockedTable, seat: int, order: ConditionalOrder, words: Vocabulary) -> bool:
    """Return whether a line has a verb or a move of the game: “if you like, then let us play again” is talk.

    The moves of the others are those that this seat imagines, so that the answer tells nothing of their cards.
    """
    parts = (*order.given[:MAX_COMPARED_PARTS], order.own)
    written = [word for part in parts for word in split_words(part)]
    if any(find_verb([word], tuple(words.game.verbs), words) for word in written):
        return True
    if locked.position.phase != "playing":
        return False
    imagined = _imagine(locked, seat, SEEDS[0])
    menus = [locked.game.menu(imagined, one.seat) for one in locked.seats]
    return any(_find_moves(part, menu, words) for part in parts for menu in menus)


def _imagine(locked: LockedTable, seat: int, seed: bytes) -> Any:
    """Return the state as this seat might imagine it, with the hidden things dealt again."""
    return locked.game.redeal(locked.position.state, seat, chances.make_sealed(seed, 0))


def _list_moves(locked: LockedTable, seat: int, order: ConditionalOrder, words: Vocabulary) -> Moves:
    """Find the moves of all parts, one after the other; raise Refused if one is not clear or chance decides."""
    states = [_imagine(locked, seat, seed) for seed in SEEDS]
    moves: Moves = ()
    for number, part in enumerate((*order.given, order.own), 1):
        is_own = number > len(order.given)
        mover, move = _find_move(locked, states[0], seat, part, is_own, words)
        chance = [chances.make_sealed(seed, number) for seed in SEEDS]
        try:
            states = [
                games.play(locked.game, state, mover, move, one)[0] for state, one in zip(states, chance, strict=True)
            ]
        except Refused:
            raise _make_question(locked, seat, part, is_own) from None
        moves = (*moves, (mover, str(move)))
        if not is_own and len({standing_orders.digest_view(locked.game, state, seat) for state in states}) > 1:
            raise Refused("What you can do after “{part}” depends on chance, so please wait for your turn.", part=part)
    return moves


def _find_move(
    locked: LockedTable, state: Any, seat: int, part: str, is_own: bool, words: Vocabulary
) -> tuple[int, Move]:
    """Return the seat and the move that this part of a line means; raise a question if none fits, or several."""
    others = [one.seat for one in locked.seats if (one.seat == seat) == is_own]
    named = [one for one in others if not is_own and split_words(part)[:1] == split_words(locked.seats[one].name)[:1]]
    readings = [
        (one, move) for one in named or others for move in _find_moves(part, locked.game.menu(state, one), words)
    ]
    if len(readings) != 1:
        raise _make_question(locked, seat, part, is_own)
    return readings[0]


def _make_question(locked: LockedTable, seat: int, part: str, is_own: bool) -> Refused:
    others = [one.name for one in locked.seats if one.seat != seat]
    return Refused(
        "“{part}” is not clear: write a move that {who} can make then, with all of its words, or use “What if” on the"
        " page.",
        part=part,
        who=locked.seats[seat].name if is_own else " / ".join(others),
    )


def _find_moves(part: str, menu: Menu, words: Vocabulary) -> list[Move]:
    """Return the first move that a way to read a part has, alone in a list; nothing if it has none."""
    written = [word.strip(",:") for word in part.split()]
    if not words.table.never.isdisjoint(word.casefold() for word in written):
        return []
    for text in _iter_readings(written, words) if menu else ():
        move = parse_move_line(text, menu, words)
        if isinstance(move, Move) and any(entry.verb == move.verb for entry in menu):
            return [move]
    return []


def _iter_readings(written: list[str], words: Vocabulary) -> Iterator[str]:
    """Yield a part without “Kim” and “plays”, and with its verb as in “deploy” where it says “deploys”."""
    names = {part.casefold() for name in words.names for part in name.split()}
    silent = words.table.acts | words.table.small | words.table.lead | names
    yield " ".join(written)
    while len(written) > 1 and written[0].casefold() in silent:
        written = written[1:]
    yield " ".join(written)
    for first, rest in ((written[0], written[1:]), (written[-1], written[:-1])):
        if first.isalpha():
            yield " ".join((first[:-1], *rest))
    if written[-1].casefold() in words.table.acts:
        yield " ".join(written[:-1])
