"""The commands of every table: seats, start, resigning, time-outs, undo, pauses, substitutes, vacations, rounds.

`play` judges one command and returns its events; `engine/record.py` has the state that they change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from engine import beacon as beacons
from engine import chance as chances
from engine import game as games
from engine import menu as menus
from engine.chance import Chance, RoundPending
from engine.game import Game
from engine.menu import Menu, Move
from engine.options import parse as parse_options
from engine.options import parse_open_command
from engine.record import (
    Rewind,
    Seat,
    Step,
    Table,
    WaitingCommand,
    await_round,
    close_entry,
    evolve,
    explain_waiting,
    find_seats_to_ask,
    refuse_rewind,
)
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
    is_date,
)

RESERVED_VERBS = frozenset(
    "open sit start resign undo agree refuse expire miss substitute offer back status help pause resume vacation home "
    "again order cancel letters unsubscribe sealed hint".split()
)
ALLOWED_WHILE_WAITING = frozenset("substitute relieve offer vacation home".split())  # commands of the server


class TableOutcome(NamedTuple):
    """The table after a command, and the events of the command."""

    table: Table
    events: tuple[Any, ...]


def menu(game: Game, table: Table, seat: int) -> Menu:
    """Return the seat's moves in the game; none while a command waits for its round."""
    if table.phase != "playing" or table.waiting_command is not None:
        return ()
    cache: dict[int, Menu] = table.__dict__.setdefault("menus", {})  # a move needs each menu four times, as does a page
    if seat not in cache:
        cache[seat] = game.menu(table.state, seat)
    return cache[seat]


def list_commands(table: Table, seat: int) -> Menu:
    """Return the table's commands for the seat; they do not depend on the turn."""
    own_seat = table.seats[seat]
    if table.waiting_command:
        return menus.make_menu(*_iter_waiting_verbs(table, seat)) if own_seat.status == "taken" else ()
    if table.phase != "playing":
        return ()
    if own_seat.status == "bot" and own_seat.has_player:
        return menus.make_menu("back")
    return menus.make_menu(*_iter_playing_verbs(table, seat)) if own_seat.status == "taken" else ()


def _iter_waiting_verbs(table: Table, seat: int) -> Iterator[str]:
    """Iterate over a player's commands while a round is awaited: ask to go on without it (`sealed`), answer, resign."""
    request = table.seal_request
    if request and seat in request.waiting:
        yield "agree"
    yield "refuse" if request else "sealed"  # any seat can end a request, even the asking one
    if table.phase == "playing":
        yield "resign"


def _iter_playing_verbs(table: Table, seat: int) -> Iterator[str]:
    """Iterate over a player's commands during the game."""
    if _has_to_answer(table, seat):
        yield "agree"
    if _has_to_answer(table, seat) or (table.pause_request and not table.undo_request):  # any seat can refuse a pause
        yield "refuse"
    if not table.undo_request and _find_last_move(table, seat):
        yield "undo"
    if table.seats[seat].offered:
        yield "back"
    if table.paused:
        yield "resume"
    elif not table.undo_request and not table.pause_request:
        yield "pause"
    yield "resign"


def _find_last_move(table: Table, seat: int) -> Step | None:
    """Return the last move of the seat that was not undone, or None."""
    step = table.last
    while step and step.seat != seat:
        step = step.before
    return step


def _has_to_answer(table: Table, seat: int) -> bool:
    """Whether a request waits for this seat: one to undo first, then one to pause."""
    request = table.undo_request or table.pause_request
    return request is not None and seat in request.waiting


def can_return(table: Table, seat: int) -> bool:
    """Return whether the seat's player may take the seat back from a bot, or from those to whom it is offered."""
    own_seat = table.seats[seat]
    if table.phase != "playing" or table.waiting_command or not own_seat.has_player:
        return False
    return own_seat.status == "bot" or (own_seat.status == "taken" and own_seat.offered)


def find_seats_to_move(game: Game, table: Table) -> tuple[int, ...]:
    """Return the seats that have a menu."""
    return tuple(seat for seat in range(len(table.seats)) if menu(game, table, seat))


def is_undo_free(game: Game, table: Table, seat: int, rewind: Rewind) -> bool:
    """Whether the seat may undo without consent: its move was the last, drew nothing, and gave no other seat a menu."""
    step = table.last
    if step is None or step.seat != seat or step.drew:
        return False
    before = rewind(step.seq)
    others = [other for other in range(len(table.seats)) if other != seat]
    return not any(menu(game, table, other) and not menu(game, before, other) for other in others)


def make_sealed_chance(table: Table, seed: bytes) -> Chance:
    """Return the sealed chance of the next entry."""
    return chances.make_sealed(_derive_key(table, seed), table.length)


def make_chance(table: Table, seed: bytes, move: Move, at: int) -> Chance:
    """Return the chance of this command: sealed, or by the beacon's round that it has, or for a round yet to come."""
    if table.beacon is None:
        return make_sealed_chance(table, seed)
    if table.waiting_command is None:  # this command will wait for a round if it draws
        return chances.make_pending(table.beacon.find_next_round(at))
    if move.verb == "round" and len(move.args) == 2 and beacons.SIGNATURE.fullmatch(move.args[1]):
        key = chances.derive_round_key(_derive_key(table, seed), move.args[1])
        return chances.make_sealed(key, table.length)
    return make_sealed_chance(table, seed)  # the seats may agree to go on without the round


def _derive_key(table: Table, seed: bytes) -> bytes:
    return chances.derive_key(seed, [seat.nonce for seat in table.seats])


def play(
    game: Game, table: Table, seat: int | None, move: Move, chance: Chance, rewind: Rewind = refuse_rewind
) -> TableOutcome:
    """Judge and carry out a command of a seat, or of the server (None); raise Refused if it is not allowed.

    A command that needs a round of the beacon is accepted, and waits for it.
    """
    if table.waiting_command:
        return _play_while_waiting(game, table, seat, move, chance, rewind)
    try:
        return _carry_out(game, table, seat, move, chance, rewind)
    except RoundPending as pending:
        chance.draws.clear()  # the command will draw all again, from the first on, when the round is there
        named = RoundNamed(pending.round)
        return TableOutcome(close_entry(await_round(table, named, seat, str(move))), (named,))


def _carry_out(game: Game, table: Table, seat: int | None, move: Move, chance: Chance, rewind: Rewind) -> TableOutcome:
    """Judge a command that needs no round of the beacon, or whose round is drawn."""
    if seat is None:
        if move.verb == "expire":
            return _move_for_late_seat(game, table, move, chance)
        return _apply(game, table, _run_server_command(game, table, move, chance), rewind)
    _check_seat_may_act(table, seat)
    if move.verb in RESERVED_VERBS:
        return _apply(game, table, _run_seat_command(game, table, seat, move, rewind), rewind)
    return _make_move(game, table, seat, move, chance)


def _apply(game: Game, table: Table, events: tuple[Any, ...], rewind: Rewind) -> TableOutcome:
    """Apply events of the table, and its end if they lead to it."""
    after, end = _end_if_over(game, evolve(game, table, events, rewind))
    return TableOutcome(close_entry(after), (*events, *end))


def _play_while_waiting(
    game: Game, table: Table, seat: int | None, move: Move, chance: Chance, rewind: Rewind
) -> TableOutcome:
    """Judge a command while a round is awaited: the round, going on without it, or a command without draws."""
    command = table.waiting_command
    assert command
    if seat is None and move.verb == "round":
        return _end_wait(game, table, (_parse_round(command, move),), chance, rewind)
    if seat is None and move.verb == "bot" and table.phase == "gathering":  # a player leaves before the first draws
        return _apply(game, table, _run_server_command(game, table, move, chance), rewind)
    if seat is None and move.verb in ALLOWED_WHILE_WAITING and table.phase == "playing" and move.args:
        return _apply(game, table, _change_seat(game, table, _parse_seat(table, move.args[0]), move), rewind)
    if seat is None or not 0 <= seat < len(table.seats) or not menus.allows(list_commands(table, seat), move):
        raise explain_waiting(command)
    if move.verb == "resign":
        return _apply(game, table, (Resigned(seat),), rewind)
    event, all_agree = _answer_seal_request(table, seat, move)
    if not all_agree:
        return _apply(game, table, (event,), rewind)
    return _end_wait(game, table, (event, WentSealed(command.seat)), chance, rewind)


def _parse_round(command: WaitingCommand, move: Move) -> RoundDrawn:
    """Return the event of the awaited round; the caller verifies its signature."""
    match move.args:
        case (number, signature) if number == str(command.round) and beacons.SIGNATURE.fullmatch(signature):
            return RoundDrawn(command.round, signature, command.seat)
    raise Refused("Write the round as: round {round} and its signature.", round=command.round)


def _answer_seal_request(table: Table, seat: int, move: Move) -> tuple[SealAsked | SealAgreed | SealRefused, bool]:
    """Return the event of a seat's command about going on without the beacon, and whether all seats agree now."""
    match move.verb:
        case "sealed":
            return SealAsked(seat), not find_seats_to_ask(table, seat)
        case "agree":
            assert table.seal_request
            return SealAgreed(seat), table.seal_request.waiting == (seat,)
    return SealRefused(seat), False


def _end_wait(game: Game, table: Table, ends: tuple[Any, ...], chance: Chance, rewind: Rewind) -> TableOutcome:
    """Apply the events that end the wait, and carry out the command that waited."""
    command = table.waiting_command
    assert command
    after = evolve(game, table, ends, rewind)
    move = Move.parse(command.move or "-")  # “-”, where its text is not known, is no move and is refused
    outcome = _carry_out(game, after, command.seat, move, chance, rewind)
    return TableOutcome(outcome.table, (*ends, *outcome.events))


def _check_seat_may_act(table: Table, seat: int) -> None:
    """Raise Refused if the table has no seat of this number, or its game is not being played."""
    if not 0 <= seat < len(table.seats):
        raise Refused("This table has no seat {seat}.", seat=seat)
    if table.phase != "playing":
        raise Refused("The game is over." if table.phase == "over" else "The game has not begun yet.")


def _move_for_late_seat(game: Game, table: Table, move: Move, chance: Chance) -> TableOutcome:
    """Make the server's move for a seat whose time is up: `expire SEAT MOVE`."""
    if table.phase != "playing" or len(move.args) < 2:
        raise _explain_impossible(move)
    seat, words = _parse_seat(table, move.args[0]), move.args[1:]
    return _make_move(game, table, seat, Move(words[0], words[1:]), chance, TimedOut(seat))


def _explain_impossible(move: Move) -> Refused:
    return Refused("The server cannot play “{move}” at this table now.", move=move)


def _parse_seat(table: Table, number: str) -> int:
    if number not in map(str, range(len(table.seats))):
        raise Refused("This table has no seat {seat}.", seat=number)
    return int(number)


def _make_move(game: Game, table: Table, seat: int, move: Move, chance: Chance, *first: Any) -> TableOutcome:
    """Make a move of the game; its entry begins with the events `first`, which change nothing."""
    games.check(menu(game, table, seat), move)
    state, events = games.perform(game, table.state, seat, move, chance)
    step = Step(table.length, seat, drew=bool(chance.draws), before=table.last)
    after, end = _end_if_over(game, replace(table, state=state, undo_request=None, length=table.length + 1, last=step))
    return TableOutcome(after, (*first, *events, *end))


def _run_server_command(game: Game, table: Table, move: Move, chance: Chance) -> tuple[Any, ...]:
    """Return the events of a server's command about the whole table, or about a seat."""
    match table.phase, move.verb, move.args:
        case "new", "open", (name, seats, commitment, *chosen) if name == game.META.name:
            return (parse_open_command(game, seats, commitment, chosen),)
        case "gathering", "sit" | "bot", (number, nonce):
            return (_sit_down(table, _parse_seat(table, number), nonce, bot=move.verb == "bot"),)
        case "gathering", "start", ():
            if any(seat.status == "empty" for seat in table.seats):
                raise Refused("The game can start when every seat is taken.")
            options = parse_options(game.META.options, table.options)
            return (Started(), *games.begin(game, options, len(table.seats), chance).events)
        case "playing", _, (number, *_):
            return _change_seat(game, table, _parse_seat(table, number), move)
    raise _explain_impossible(move)


def _sit_down(table: Table, seat: int, nonce: str, *, bot: bool) -> Sat:
    """Return the event of a person or a bot taking an empty seat, or of a bot taking over a person's seat and nonce."""
    replaces_person = bot and table.seats[seat] == Seat("taken", nonce, has_player=True)
    if not replaces_person and (table.seats[seat].status != "empty" or not menus.is_token(nonce)):
        raise Refused("Seat {seat} cannot be taken with these words.", seat=seat)
    return Sat(seat, nonce, bot=bot)


def _change_seat(game: Game, table: Table, seat: int, move: Move) -> tuple[Any, ...]:
    """Return the events of a server's command about a seat during the game."""
    own_seat, last_days = table.seats[seat], dict(table.seats[seat].vacations)  # the last day of each, by its first
    match move.verb, move.args[1:]:
        case "substitute" | "relieve", ():
            return (Substituted(seat, bot=move.verb == "relieve"),)
        case "miss", (("relieve" | "resign") as loss,) if own_seat.status == "taken" and menu(game, table, seat):
            return (Missed(seat), Substituted(seat, bot=True) if loss == "relieve" else Resigned(seat))
        case "offer", () if own_seat.has_player and not own_seat.offered:
            return (Offered(seat),)
        case "vacation", (first, last) if own_seat.has_player and is_date(first) and is_date(last) and first <= last:
            return (VacationTaken(seat, first, last),)
        case "home", (first, last) if first in last_days and is_date(last) and last < last_days[first]:
            return (VacationEnded(seat, first, last),)
    raise _explain_impossible(move)


def _run_seat_command(game: Game, table: Table, seat: int, move: Move, rewind: Rewind) -> tuple[Any, ...]:
    """Return the events of a seat's command to the table."""
    if not menus.allows(list_commands(table, seat), move):
        raise Refused("“{move}” is not possible now.", move=move)
    match move.verb:
        case "resign":
            return (Resigned(seat),)
        case "back":
            return (Returned(seat),)
        case "undo":
            return _undo(game, table, seat, rewind)
        case "pause":
            return (PauseAsked(seat),) if find_seats_to_ask(table, seat) else (PauseAsked(seat), Paused())
        case "resume":
            return (Resumed(seat),)
    return _answer(table, seat, agreed=move.verb == "agree")


def _answer(table: Table, seat: int, *, agreed: bool) -> tuple[Any, ...]:
    """Return the events of a seat's answer to a request: to undo, or else to pause."""
    if not agreed:
        return (UndoRefused(seat) if table.undo_request else PauseRefused(seat),)
    if request := table.undo_request:
        undone = (Undone(request.seat, request.to),) if request.waiting == (seat,) else ()
        return (UndoAgreed(seat), *undone)
    assert table.pause_request
    paused = (Paused(),) if table.pause_request.waiting == (seat,) else ()
    return (PauseAgreed(seat), *paused)


def _undo(game: Game, table: Table, seat: int, rewind: Rewind) -> tuple[Any, ...]:
    """Return the events of an undo, or of a request for one if other seats have to agree."""
    step = _find_last_move(table, seat)
    assert step
    if is_undo_free(game, table, seat, rewind):
        return (Undone(seat, step.seq),)
    request = UndoAsked(seat, step.seq)
    return (request,) if find_seats_to_ask(table, seat) else (request, Undone(seat, step.seq))


def _end_if_over(game: Game, table: Table) -> tuple[Table, tuple[Ended, ...]]:
    """End the table, with an event, if its game is over, or if all seats but one have resigned."""
    if table.phase != "playing":
        return table, ()
    standing = game.standing(table.state)
    is_over = standing[0].place is not None  # only then the seats have places
    if not is_over and sum(seat.status != "resigned" for seat in table.seats) > 1:
        return table, ()
    resigned = {number: seat.resigned_at for number, seat in enumerate(table.seats) if seat.status == "resigned"}
    end = Ended(games.rank_seats(standing, resigned))
    return evolve(game, table, (end,), refuse_rewind), (end,)
