"""What is common to every table: seats, start, resigning, time-outs, undo, substitutes. Itself a small game.

`play` judges one command and says what it does; the record it adds to is told in `engine/record.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any, NamedTuple

from msgspec.structs import replace

from engine import beacon as beacons
from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine import open_command
from engine import options as choices
from engine.chance import Chance, RoundPending
from engine.game import Game
from engine.menu import Menu, Move
from engine.record import Awaited, Rewind, Seat, Step, Table, awaiting, closed, evolve, no_rewind, to_ask
from engine.refusal import Refused
from engine.table_events import (
    Ended,
    Missed,
    Offered,
    PauseAgreed,
    PauseAsked,
    Paused,
    PauseRefused,
    Resigned,
    Resumed,
    Returned,
    RoundDrawn,
    RoundNamed,
    Sat,
    SealAgreed,
    SealAsked,
    SealRefused,
    Started,
    Substituted,
    TimedOut,
    UndoAgreed,
    UndoAsked,
    Undone,
    UndoRefused,
    VacationEnded,
    VacationTaken,
    WentSealed,
)

RESERVED = frozenset(
    "open sit start resign undo agree refuse expire miss substitute offer back status help pause resume vacation home "
    "again order cancel letters unsubscribe sealed hint".split()
)
ROUND = "round"
STANDING = frozenset("substitute relieve offer vacation home".split())  # what the house may do while a round is awaited


class Played(NamedTuple):
    """The table after a command, and the events the command made."""

    table: Table
    events: tuple[Any, ...]


def menu(game: Game, table: Table, seat: int) -> Menu:
    """The game's own choices for that seat; none while the draws of a move are waited for.

    A table remembers its menus: a referee asks four times for each, and a page as often.
    """
    if table.phase != "playing" or table.awaited is not None:
        return ()
    remembered: dict[int, Menu] = table.__dict__.setdefault("menus", {})
    if seat not in remembered:
        remembered[seat] = game.menu(table.state, seat)
    return remembered[seat]


def commands(table: Table, seat: int) -> Menu:
    """What the table itself lets that seat do, whoever's turn it is."""
    chair = table.seats[seat]
    if table.awaited:
        return menus.bare(*_while_waiting(table, seat)) if chair.status == "taken" else ()
    if table.phase != "playing":
        return ()
    if chair.status == "bot" and chair.held:
        return menus.bare("back")
    return menus.bare(*_verbs(table, seat)) if chair.status == "taken" else ()


def _while_waiting(table: Table, seat: int) -> Iterator[str]:
    """What a player can do while a round is awaited: ask to go on without the beacon, answer, or leave."""
    if table.sealing is None:
        yield "sealed"
    else:
        if seat in table.sealing.waiting:
            yield "agree"
        yield "refuse"
    if table.phase == "playing":
        yield "resign"


def _verbs(table: Table, seat: int) -> Iterator[str]:
    if _to_answer(table, seat):
        yield "agree"
    if _to_answer(table, seat) or (table.pausing and not table.asked):
        yield "refuse"
    if not table.asked and _own_step(table, seat):
        yield "undo"
    if table.seats[seat].offered:
        yield "back"
    if table.paused:
        yield "resume"
    elif not table.asked and not table.pausing:
        yield "pause"
    yield "resign"


def _to_answer(table: Table, seat: int) -> bool:
    """Whether the table waits for this seat's consent: to an undo first, then to a pause."""
    wish = table.asked or table.pausing
    return wish is not None and seat in wish.waiting


def waiting_for(game: Game, table: Table) -> tuple[int, ...]:
    """The seats whose menu is open."""
    return tuple(seat for seat in range(len(table.seats)) if menu(game, table, seat))


def undo_is_free(game: Game, table: Table, seat: int, rewind: Rewind) -> bool:
    """Whether this seat may take its last move back unasked: nothing was drawn, and nobody else may act since."""
    step = table.last
    if step is None or step.seat != seat or step.drew:
        return False
    before = rewind(step.seq)
    others = [other for other in range(len(table.seats)) if other != seat]
    return all(menu(game, before, other) or not menu(game, table, other) for other in others)


def draws(table: Table, seed: bytes) -> Chance:
    """The sealed chance of the next entry."""
    return chances.make_sealed(_key(table, seed), table.length)


def luck(table: Table, seed: bytes, move: Move, at: int) -> Chance:
    """The chance of the next entry, with this command at that moment: sealed, or by the round that it brings."""
    if table.beacon is None:
        return draws(table, seed)
    if table.awaited is None:
        return chances.make_pending(table.beacon.next_round(at))
    key = _key(table, seed)
    if move.verb == ROUND and len(move.args) == 2 and beacons.SIGNATURE.fullmatch(move.args[1]):
        key = chances.derive_round_key(key, move.args[1])
    return chances.make_sealed(key, table.length)


def _key(table: Table, seed: bytes) -> bytes:
    nonces = [seat.nonce for seat in table.seats]
    return chances.derive_key(seed, nonces)


def play(game: Game, table: Table, seat: int | None, move: Move, chance: Chance, rewind: Rewind = no_rewind) -> Played:
    """Judge a command of a seat, or of the house (None), and do it; where its draws are not there yet it waits."""
    if table.awaited:
        return _meanwhile(game, table, seat, move, chance, rewind)
    try:
        return _played(game, table, seat, move, chance, rewind)
    except RoundPending as unlit:
        chance.draws.clear()
        named = RoundNamed(unlit.round)
        return Played(closed(awaiting(table, named, seat, str(move)), None, False), (named,))


def _played(game: Game, table: Table, seat: int | None, move: Move, chance: Chance, rewind: Rewind) -> Played:
    if seat is None and move.verb == "expire":
        return _expired(game, table, move, chance)
    if seat is not None:
        _check_may_act(table, seat)
        if move.verb not in RESERVED:
            return _moved(game, table, seat, (), move, chance)
    events = _house(game, table, move, chance) if seat is None else _command(game, table, seat, move, rewind)
    return _followed(game, table, events, rewind)


def _followed(game: Game, table: Table, events: tuple[Any, ...], rewind: Rewind) -> Played:
    """The table after what it does itself, and its end where that has come by it."""
    after = evolve(game, table, events, rewind)
    ending = _ending(game, after)
    return Played(closed(evolve(game, after, ending, rewind), None, False), (*events, *ending))


def _meanwhile(game: Game, table: Table, seat: int | None, move: Move, chance: Chance, rewind: Rewind) -> Played:
    """A command while a round is awaited: the round itself, going on without the beacon, or what touches no draw."""
    assert table.awaited
    if seat is None and move.verb == ROUND:
        return _decided(game, table, (_round(table, move),), chance, rewind)
    if seat is None and move.verb == "bot" and table.phase == "gathering":  # somebody leaves before the first draws
        return _followed(game, table, _house(game, table, move, chance), rewind)
    if seat is None and move.verb in STANDING and table.phase == "playing" and move.args:
        return _followed(game, table, _about_seat(game, table, _chair(table, move.args[0]), move), rewind)
    if seat is None or not 0 <= seat < len(table.seats) or not menus.allows(commands(table, seat), move):
        raise not_drawn_yet(table.awaited)
    if move.verb == "resign":
        return _followed(game, table, (Resigned(seat),), rewind)
    said, settled = _about_sealing(table, seat, move)
    if not settled:
        return _followed(game, table, (said,), rewind)
    return _decided(game, table, (said, WentSealed(table.awaited.seat)), chance, rewind)


def not_drawn_yet(waited: Awaited) -> Refused:
    """Why nothing can be done at a table just now."""
    return Refused(
        "The dice of the last move are not drawn yet; they come with round {round} of the public beacon.",
        round=waited.round,
    )


def _round(table: Table, move: Move) -> RoundDrawn:
    """The awaited round; whether it is signed is for those to say who know the curve."""
    assert table.awaited
    match move.args:
        case (number, signature) if number == str(table.awaited.round) and beacons.SIGNATURE.fullmatch(signature):
            return RoundDrawn(table.awaited.round, signature, table.awaited.seat)
    raise Refused("The round is told as: round {round} and its signature.", round=table.awaited.round)


def _about_sealing(table: Table, seat: int, move: Move) -> tuple[SealAsked | SealAgreed | SealRefused, bool]:
    """What a seat says about going on without the beacon, and whether all have agreed by that."""
    match move.verb:
        case "sealed":
            return SealAsked(seat), not to_ask(table, seat)
        case "agree":
            assert table.sealing
            return SealAgreed(seat), table.sealing.waiting == (seat,)
    return SealRefused(seat), False


def _decided(game: Game, table: Table, first: tuple[Any, ...], chance: Chance, rewind: Rewind) -> Played:
    """What waited is carried out."""
    waited = table.awaited
    assert waited
    freed = evolve(game, table, first, rewind)
    played = _played(game, freed, waited.seat, Move.read(waited.move or "-"), chance, rewind)
    return Played(played.table, (*first, *played.events))


def _check_may_act(table: Table, seat: int) -> None:
    if not 0 <= seat < len(table.seats):
        raise Refused("This table has no seat {seat}.", seat=seat)
    if table.phase != "playing":
        raise Refused("The game is over." if table.phase == "over" else "The game has not begun yet.")


def _expired(game: Game, table: Table, move: Move, chance: Chance) -> Played:
    """The time of a seat is up, and the house moves for it."""
    if table.phase != "playing" or len(move.args) < 2:
        raise _impossible(move)
    missed, stand_in = _chair(table, move.args[0]), Move(move.args[1], move.args[2:])
    return _moved(game, table, missed, (TimedOut(missed),), stand_in, chance)


def _impossible(move: Move) -> Refused:
    return Refused("The house cannot do “{move}” at this table now.", move=move)


def _chair(table: Table, number: str) -> int:
    """The seat of that number, as the house writes it."""
    if number not in map(str, range(len(table.seats))):
        raise Refused("This table has no seat {seat}.", seat=number)
    return int(number)


def _moved(game: Game, table: Table, seat: int, first: tuple[Any, ...], move: Move, chance: Chance) -> Played:
    games.check(menu(game, table, seat), move)
    played = games.perform(game, table.state, seat, move, chance)
    step = Step(table.length, seat, bool(chance.draws), table.last)
    after = replace(table, state=played.state, asked=None, length=table.length + 1, last=step)
    ending = _ending(game, after)
    return Played(evolve(game, after, ending, no_rewind), (*first, *played.events, *ending))


def _house(game: Game, table: Table, move: Move, chance: Chance) -> tuple[Any, ...]:
    match table.phase, move.verb, move.args:
        case "new", "open", (name, seats, commitment, *chosen) if name == game.META.name:
            return (open_command.parse_open_command(game, seats, commitment, chosen),)
        case "gathering", "sit" | "bot", (number, nonce):
            seat = _chair(table, number)
            leaves = move.verb == "bot" and table.seats[seat] == Seat("taken", nonce, held=True)
            if not leaves and (table.seats[seat].status != "empty" or not menus.is_token(nonce)):
                raise Refused("Nobody can sit down on seat {seat} with these words.", seat=seat)
            return (Sat(seat, nonce, bot=move.verb == "bot"),)
        case "gathering", "start", ():
            if any(seat.status == "empty" for seat in table.seats):
                raise Refused("Somebody still has to sit down before the game can start.")
            options = choices.read(game.META.options, table.options)
            return (Started(), *games.begin(game, options, len(table.seats), chance).events)
        case "playing", _, (number, *_):
            return _about_seat(game, table, _chair(table, number), move)
    raise _impossible(move)


def _about_seat(game: Game, table: Table, seat: int, move: Move) -> tuple[Any, ...]:
    """What the house does with a seat while the game is played."""
    chair = table.seats[seat]
    match move.verb, move.args[1:]:
        case "substitute" | "relieve", ():
            return (Substituted(seat, bot=move.verb == "relieve"),)
        case "miss", (("relieve" | "resign") as then,) if chair.status == "taken" and menu(game, table, seat):
            return (Missed(seat), Substituted(seat, bot=True) if then == "relieve" else Resigned(seat))
        case "offer", () if chair.held and not chair.offered:
            return (Offered(seat),)
        case "vacation", (first, last) if chair.held and _is_date(first) and _is_date(last) and first <= last:
            return (VacationTaken(seat, first, last),)
        case "home", (first, last) if _is_date(last) and last < dict(chair.away).get(first, ""):
            return (VacationEnded(seat, first, last),)
    raise _impossible(move)


def _is_date(text: str) -> bool:
    """Whether this is a day as the log writes it, such as 2027-01-31."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _command(game: Game, table: Table, seat: int, move: Move, rewind: Rewind) -> tuple[Any, ...]:
    if not menus.allows(commands(table, seat), move):
        raise Refused("“{move}” is not possible now.", move=move)
    match move.verb:
        case "resign":
            return (Resigned(seat),)
        case "back":
            return (Returned(seat),)
        case "undo":
            return _undo(game, table, seat, rewind)
        case "pause":
            return (PauseAsked(seat),) if to_ask(table, seat) else (PauseAsked(seat), Paused())
        case "resume":
            return (Resumed(seat),)
    return _answer(table, seat, agreed=move.verb == "agree")


def _answer(table: Table, seat: int, *, agreed: bool) -> tuple[Any, ...]:
    """Consent, or none, to what was asked first."""
    if table.asked:
        last_word = table.asked.waiting == (seat,)
        undone = (Undone(table.asked.seat, table.asked.to),) if last_word else ()
        return (UndoAgreed(seat), *undone) if agreed else (UndoRefused(seat),)
    assert table.pausing
    paused = (Paused(),) if table.pausing.waiting == (seat,) else ()
    return (PauseAgreed(seat), *paused) if agreed else (PauseRefused(seat),)


def _undo(game: Game, table: Table, seat: int, rewind: Rewind) -> tuple[Any, ...]:
    step = _own_step(table, seat)
    assert step
    if undo_is_free(game, table, seat, rewind):
        return (Undone(seat, step.seq),)
    asked = UndoAsked(seat, step.seq)
    return (asked,) if to_ask(table, seat) else (asked, Undone(seat, step.seq))


def _own_step(table: Table, seat: int) -> Step | None:
    step = table.last
    while step and step.seat != seat:
        step = step.before
    return step


def _ending(game: Game, table: Table) -> tuple[Ended, ...]:
    """The end of the table, if it has come: the game is over, or fewer than two seats are still held."""
    if table.phase != "playing":
        return ()
    standing = game.standing(table.state)
    if standing[0].place is None and sum(seat.status != "resigned" for seat in table.seats) > 1:
        return ()
    return (Ended(_places(table, standing)),)


def _places(table: Table, standing: tuple[games.Standing, ...]) -> tuple[int, ...]:
    """Those who stayed in the order of the game, then those who resigned, the last to leave first."""

    def rank(seat: int) -> tuple[int, int, int]:
        own, chair = standing[seat], table.seats[seat]
        if chair.status == "resigned":
            return (1, -chair.left, 0)
        return (0, own.place if own.place is not None else int(own.out), -own.score if own.place is None else 0)

    ranks = [rank(seat) for seat in range(len(table.seats))]
    return tuple(1 + sum(other < own for other in ranks) for own in ranks)
