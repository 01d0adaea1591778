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
from service.text.move_words import Vocabulary
from workers.incoming.move_parser import find_verb, parse_move_line, split_words

AND = re.compile(r"\s*;\s*|\s*,\s+|\s+(?:and|und|en|et)\s+", re.IGNORECASE)
MAX_COMPARED_PARTS = 4  # with all menus, to tell an order from talk: 60 lines of 100 parts would take seconds
SEEDS = (b"0", b"1", b"2")  # chance decides what follows if these lead to different positions


class ConditionalOrder(Struct, frozen=True):
    """A line split into the moves of others and the own move."""

    given: tuple[str, ...]
    own: str


def parse_order(line: str, words: Vocabulary) -> ConditionalOrder | None:
    """Split a line that begins with “if” and has a “then”, or a comma in its place; None for any other line.

    The word “order” may be before the “if”.
    """
    written = line.split()
    plain = [" ".join(split_words(word)).casefold() for word in written]
    order_names = {name.casefold() for name in ("order", *words("order"))}
    if plain and plain[0] in order_names:
        written, plain = written[1:], plain[1:]
    if not plain or plain[0] not in words.table.conditions:
        return None
    places_of_then = [place for place in range(1, len(plain)) if plain[place] in words.table.consequences]
    if places_of_then:
        then = places_of_then[0]
        condition, own_move = " ".join(written[1:then]), " ".join(written[then + 1 :])
    else:
        condition, _, own_move = " ".join(written[1:]).rpartition(", ")
    moves_of_others = [part.strip(" ,:") for part in AND.split(condition)]
    given = tuple(filter(None, moves_of_others))
    return ConditionalOrder(given, own_move) if given and own_move else None


def store_order(
    locked: LockedTable, seat: int, order: ConditionalOrder, words: Vocabulary
) -> tuple[LockedTable, Sentence]:
    """Store an order as “What if” on a page does: a branch with all moves, and a standing order made from it.

    Return the table, and what was understood. Raise Refused if a part is no clear move.
    """
    locked.refuse_closed()
    if locked.position.waiting_command or locked.position.paused:
        raise Refused("The table waits; orders with “if” are possible when the game goes on.")
    moves = _list_moves(locked, seat, order, words)
    locked = _store_branch_order(locked, _store_branch(locked, seat, moves))
    newest = standing_orders.list_orders(locked.flush(), locked.row.id, seat)[-1]  # the list begins with the oldest
    return locked, _describe_order(locked, int(newest.id), moves)


def _store_branch(locked: LockedTable, seat: int, moves: Moves) -> Branch:
    """Store a new branch with these moves, which begins at the position as it is now."""
    branch = Branch(
        id=0,  # until it is stored
        table=locked.row.id,
        seat=seat,
        name="",
        seq=locked.position.length - 1,
        seed=secrets.token_bytes(32),
        moves=moves,
        at=locked.now,
    )
    return replace(branch, id=branches.store_branch(locked.flush(), branch))


def _store_branch_order(locked: LockedTable, branch: Branch) -> LockedTable:
    """Store the last move of a branch, the only one of its own player, as an order that waits for those before it."""
    first = _imagine(locked, branch.seat, branch.seed)
    played = branches.play_moves(locked.game, first, branch)
    planned = list(branch_orders.list_conditional_moves(locked.game, locked.position, branch, played))
    return standing_orders.replace_branch_orders(locked, branch.seat, branch.id, planned)


def _describe_order(locked: LockedTable, number: int, moves: Moves) -> Sentence:
    """Return what was understood of an order: the moves of others, and the own move, which is the last."""
    moves_of_others = moves[:-1]
    _own_seat, own_move = moves[-1]
    names = dict.fromkeys(locked.seats[mover].name for mover, _move in moves_of_others)  # each name once
    return Sentence(
        "Noted as number {number}. If {who} makes exactly this move: {given} – this is done: {move}. To forget it,"
        " write: cancel {number}",
        {
            "number": number,
            "who": " + ".join(names),
            "given": ", ".join(move for _mover, move in moves_of_others),
            "move": own_move,
        },
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
    return any(_parse_part(part, menu, words) for part in parts for menu in menus)


def _imagine(locked: LockedTable, seat: int, seed: bytes) -> Any:
    """Return the state as this seat might imagine it, with the hidden things dealt again."""
    return locked.game.redeal(locked.position.state, seat, chances.make_sealed(seed, entry=0))


def _list_moves(locked: LockedTable, seat: int, order: ConditionalOrder, words: Vocabulary) -> Moves:
    """Find the moves of all parts, one after the other; raise Refused if one is not clear or chance decides.

    Each is made in several imagined states: chance has decided if the seat does not see the same in all of them.
    """
    states = [_imagine(locked, seat, seed) for seed in SEEDS]
    moves: Moves = ()
    parts = (*order.given, order.own)
    for number, part in enumerate(parts, 1):
        is_own = number == len(parts)  # the part behind “then” is the last one
        # In the first state; a move that is not possible in the others is refused below.
        mover, move = _find_move(locked, states[0], seat, part, is_own, words)
        try:
            states = [
                games.play(locked.game, state, mover, move, chances.make_sealed(seed, number)).state
                for state, seed in zip(states, SEEDS, strict=True)
            ]
        except Refused:  # it is not possible in all states
            raise _make_question(locked, seat, part, is_own) from None
        moves = (*moves, (mover, str(move)))
        views = {standing_orders.digest_view(locked.game, state, seat) for state in states}
        if not is_own and len(views) > 1:  # chance behind the own move matters to nothing: it is the last
            raise Refused("What you can do after “{part}” depends on chance, so please wait for your turn.", part=part)
    return moves


def _find_move(
    locked: LockedTable, state: Any, seat: int, part: str, is_own: bool, words: Vocabulary
) -> tuple[int, Move]:
    """Return the seat and the move that this part of a line means; raise Refused if none fits, or several.

    If `is_own`, the part is behind “then” and means a move of `seat`; otherwise one of the other players.
    """
    movers = [seat] if is_own else _list_movers(locked, seat, part)
    matches: list[tuple[int, Move]] = []
    for mover in movers:
        move = _parse_part(part, locked.game.menu(state, mover), words)
        if move is not None:
            matches.append((mover, move))
    if len(matches) != 1:
        raise _make_question(locked, seat, part, is_own)
    return matches[0]


def _list_movers(locked: LockedTable, seat: int, part: str) -> list[int]:
    """Return the other players whose move a part of a line may be: those whose first name it begins with, or all."""
    others = [one for one in locked.seats if one.seat != seat]
    first_word = split_words(part)[:1]
    named = [one for one in others if split_words(one.name)[:1] == first_word]
    return [one.seat for one in named or others]


def _make_question(locked: LockedTable, seat: int, part: str, is_own: bool) -> Refused:
    """Return the refusal of a part of the line that is no clear move.

    It asks for a move with all of its words: of `seat` if the part is behind “then” (`is_own`), otherwise of one of
    the others.
    """
    others = [one.name for one in locked.seats if one.seat != seat]
    return Refused(
        "“{part}” is not clear: write a move that {who} can make then, with all of its words, or use “What if” on the"
        " page.",
        part=part,
        who=locked.seats[seat].name if is_own else " / ".join(others),
    )


def _parse_part(part: str, menu: Menu, words: Vocabulary) -> Move | None:
    """Return the first move of the menu that a part of a line may mean; None if it means or denies none."""
    written = [word.strip(",:") for word in part.split()]
    if any(word.casefold() in words.table.never for word in written):
        return None  # it denies the move: “not A3”
    if not menu:
        return None
    menu_verbs = {entry.verb for entry in menu}
    for text in _iter_readings(written, words):
        move = parse_move_line(text, menu, words)
        if isinstance(move, Move) and move.verb in menu_verbs:  # it may also be a command to the server
            return move
    return None


def _iter_readings(written: list[str], words: Vocabulary) -> Iterator[str]:
    """Yield a part of a line as it is written, and then as a move: “deploy A3” for “Kim deploys A3”."""
    names = {part.casefold() for name in words.names for part in name.split()}
    silent = words.table.acts | words.table.small | words.table.lead | names
    yield " ".join(written)
    while len(written) > 1 and written[0].casefold() in silent:  # “Kim plays A3”
        written = written[1:]
    yield " ".join(written)
    first, last = written[0], written[-1]
    if first.isalpha():  # “deploys A3”, without the ending
        yield " ".join((first[:-1], *written[1:]))
    if last.isalpha():  # “A3 deploys”, without the ending
        yield " ".join((last[:-1], *written[:-1]))
    if last.casefold() in words.table.acts:  # “A3 plays”
        yield " ".join(written[:-1])
