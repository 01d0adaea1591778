"""`depesche playout`: whole games played at random or by bots, timed, and checked for what every game promises."""

from __future__ import annotations

import secrets
import shlex
import time
import traceback
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from msgspec import Struct, to_builtins

from service.commands import terminal
from service.commands.terminal import (
    FINE,
    INTERRUPT,
    WRONG,
    Misuse,
    Parser,
    Subparsers,
    add_command,
    add_json,
    parse_positive,
)

if TYPE_CHECKING:
    from engine.bots import Chooser
    from engine.game import Game, Standing

MAX_MOVES = 100_000
RANDOM_BOT = "random"
BOTS = (RANDOM_BOT, "easy", "normal", "strong")
CHUNK_STEPS = 500  # that are played and timed before they are checked


class PlayoutTable(Struct, frozen=True):
    """A table for playouts: its game, options and seats, and the level of the bots that play, or chance."""

    game: Any
    options: Any
    seats: int
    bot: str = RANDOM_BOT


class PlayedGame(Struct):
    """One played game: its moves after the set-up, the time that they took, and what was wrong with it.

    Each move has its seat. `broken` names the promise that the game broke, and `trace` is the traceback if it raised
    an error; both are empty for a sound game.
    """

    seed: str
    moves: list[tuple[int, str]] = []
    seconds: float = 0.0
    winners: tuple[int, ...] = ()
    broken: str = ""
    trace: str = ""


def add(subparsers: Subparsers[Parser]) -> None:
    """Add the command `playout`."""
    parser = add_command(
        subparsers,
        "playout",
        play_out,
        "Play whole games at random, measure how fast, and check what every game promises.",
        "depesche playout kaiser --seats 3 --count 100 --seed 7",
        "depesche playout kaiser --seats 2 --option corners=opposite --json",
        "depesche playout carcassonne --bot normal --count 3",
    )
    parser.add_argument("game", metavar="GAME", help="one of `depesche games`")
    parser.add_argument(
        "--seats", type=parse_positive, metavar="N", help="how many play (the fewest possible unless given)"
    )
    parser.add_argument("--bot", choices=BOTS, default=RANDOM_BOT, help="who plays: chance, or bots of this level")
    parser.add_argument(
        "--count", type=parse_positive, default=10, metavar="K", help="how many games (10 unless given)"
    )
    parser.add_argument("--seed", metavar="S", help="any text: the same seed gives the same games (else a new one)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game")
    parser.add_argument(
        "--limit", type=parse_positive, default=MAX_MOVES, metavar="M", help=f"moves a game may take ({MAX_MOVES})"
    )
    parser.add_argument("--log", metavar="FILE", help="where to write the moves of a game that breaks a promise")
    add_json(parser)


def play_out(args: Namespace) -> int:
    """Play the games, print their figures, and report the last game if it broke a promise."""
    table = _make_table(args.game, args.seats, parse_option_pairs(args.option), args.bot)
    seed = args.seed or secrets.token_hex(4)
    seed = seed.encode("utf-8", "replace").decode()  # a command line may hold bytes that are no text
    played, stopped = _play_all(table, seed, args)
    valid = [one for one in played if not one.broken]
    summary = summarize(table, seed, valid)
    broken = [one for one in played if one.broken]  # the last one or none: no game is played after it
    report = _make_report(table, broken[0]) if broken else None
    if args.json:
        terminal.print_json(summary | {"broken": report, "stopped": stopped})
    elif valid:
        print("\n".join(_format_lines(summary)))
    if stopped:
        terminal.print_error(f"Stopped after {len(played)} of {args.count} games.")
        return INTERRUPT
    if report is None:
        return FINE
    _print_report(report, args)
    return WRONG


def _play_all(table: PlayoutTable, seed: str, args: Namespace) -> tuple[list[PlayedGame], bool]:
    """Return the games that were played, and whether Ctrl-C stopped them."""
    played = list[PlayedGame]()
    try:
        for playout in _iter_games(table, seed, args.count, args.limit):
            played.append(playout)
            terminal.show_progress(len(played), args.count, "games")
    except KeyboardInterrupt:
        terminal.end_progress()
        return played, True
    return played, False


def parse_option_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Parse options as written on the command line."""
    for pair in pairs:
        if "=" not in pair:
            raise Misuse(f"An option is written NAME=VALUE, not “{pair}”.")
    return dict(pair.split("=", 1) for pair in pairs)


def _make_table(name: str, seats: int | None, pairs: Mapping[str, str], bot: str) -> PlayoutTable:
    """Choose what is played; raise Misuse if the game does not allow it."""
    from engine import catalogue, options
    from engine import game as games

    game = catalogue.find(name)
    seats = seats or min(game.META.seats)
    values = options.parse(game.META.options, pairs)
    why = games.objection(game, values, seats)
    if why:
        raise Misuse(str(why))
    return PlayoutTable(game, values, seats, bot)


def _iter_games(table: PlayoutTable, seed: str, count: int, limit: int) -> Iterator[PlayedGame]:
    """Yield the games up to the first that breaks a promise.

    Each has its own seed, which repeats it; the first game has the given one.
    """
    for number in range(count):
        own_seed = seed if number == 0 else f"{seed}-{number}"
        playout = run(table, own_seed, limit)
        yield playout
        if playout.broken:
            return


def run(table: PlayoutTable, seed: str, limit: int = MAX_MOVES) -> PlayedGame:
    """Play one whole game and check it; the result names the promise that the game broke, if any."""
    playout = PlayedGame(seed)
    try:
        playout.winners = _list_winners(_play(table, playout, limit))
    except Broken as broken:
        playout.broken = str(broken)
    except Exception as fault:
        playout.broken = f"{type(fault).__name__}: {fault}"
        playout.trace = traceback.format_exc()
        failed_move = _find_failed_move(table, playout)
        if failed_move:
            playout.moves.append(failed_move)
    return playout


class Broken(Exception):
    """A promise of the contract that a game does not keep."""


def _play(table: PlayoutTable, playout: PlayedGame, limit: int) -> tuple[Standing, ...]:
    """Play a game and return its standing; record its moves and time, and raise Broken if it breaks a promise."""
    from engine import game as games

    before = None
    for seat, move, state, events in _time_steps(playout, _iter_steps(table, table.game, playout.seed)):
        if seat is not None:  # a move, not the set-up
            playout.moves.append((seat, str(move)))
        if len(playout.moves) > limit:
            raise Broken(f"the game has not ended after {limit} moves")
        _check_step(table, before, state, events)
        before = state
    if not games.is_over(table.game, before):
        raise Broken("nobody has a move, yet the game is not over")
    standing: tuple[Standing, ...] = table.game.standing(before)
    return standing


def _iter_steps(table: PlayoutTable, game: Any, seed: str) -> Iterator[Any]:
    """Yield the steps of a playout as `bots.play_out` does; `game` is that of the table, or a recorder of its calls."""
    from engine import bots

    return bots.play_out(game, table.options, table.seats, seed.encode(), _make_chooser(table))


def _make_chooser(table: PlayoutTable) -> Chooser:
    """Return what chooses the moves: chance, or a bot.

    The bot searches in the table's own game: a recorder in its place would record moves that are only tried.
    """
    from engine import bots, search

    if table.bot == RANDOM_BOT:
        return bots.choose_at_random
    level, game = search.LEVELS[table.bot], table.game
    return lambda _game, state, seat, _, random: search.choose_move(level, game, state, seat, random.getrandbits(64))


def _time_steps(playout: PlayedGame, steps: Iterator[Any]) -> Iterator[Any]:
    """Yield the steps, played a chunk at a time, so that their time does not include the checks."""
    while True:
        chunk = list[Any]()
        fault = None
        start = time.perf_counter()
        try:
            chunk.extend(islice(steps, CHUNK_STEPS))
        except Exception as error:  # raised below, after the caller has checked the steps before it
            fault = error
        playout.seconds += time.perf_counter() - start
        yield from chunk
        if fault is not None:
            raise fault
        if len(chunk) < CHUNK_STEPS:
            return


def _check_step(table: PlayoutTable, before: Any, state: Any, events: Sequence[Any]) -> None:
    """Raise Broken if a step from one state to the next breaks a promise of the contract."""
    from engine import game as games

    if before is not None and games.is_over(table.game, before):
        raise Broken("the game is over, yet somebody has a move")
    if not events:
        raise Broken("a move made nothing happen")
    if games.fold(table.game, events, before) != state:
        raise Broken("replaying the events gives another position than playing did")
    why = _find_wrong_standing(table.game.standing(state), table.seats)
    if why:
        raise Broken(why)


def _find_wrong_standing(standing: Sequence[Standing], seats: int) -> str:
    """Return what is wrong with a standing, or an empty text.

    Either every seat has a place or none has one, and the best place is 1.
    """
    if len(standing) != seats:
        return f"{len(standing)} of {seats} seats have a standing"
    places = [one.place for one in standing if one.place is not None]
    if places and (len(places) != seats or min(places) != 1 or max(places) > seats):
        return f"these are no final places: {[one.place for one in standing]}"
    return ""


def _list_winners(standing: Sequence[Standing]) -> tuple[int, ...]:
    return tuple(seat for seat, one in enumerate(standing) if one.place == 1)


class RecordingGame:
    """A game that records the moves it was asked to decide."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.decided: list[tuple[int, str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)

    def decide(self, state: Any, seat: int, move: Any, chance: Any) -> Sequence[Any]:
        """Record the move, and let the game decide it."""
        self.decided.append((seat, str(move)))
        return self.game.decide(state, seat, move, chance)


def _find_failed_move(table: PlayoutTable, playout: PlayedGame) -> tuple[int, str] | None:
    """Play a game again that raised an error; return the seat and the move during which it did.

    Return None if something else raised it: the set-up, the choice of the next move, or a check.
    """
    recording, made = RecordingGame(table.game), len(playout.moves)  # moves that were made before the error
    steps = _iter_steps(table, recording, playout.seed)
    try:
        for _ in islice(steps, 1 + made + 1):  # set-up, moves, and the failed move
            pass
    except Exception:
        if len(recording.decided) > made:
            return recording.decided[made]
    return None


def summarize(table: PlayoutTable, seed: str, played: Sequence[PlayedGame]) -> dict[str, Any]:
    """Summarize these games in figures; an entry is the set-up or a move, a turn is all moves of one seat in a row."""
    seconds = sum(one.seconds for one in played) or 1e-9  # never 0, because figures are divided by it
    moves = sum(len(one.moves) for one in played)
    lengths = [1 + len(one.moves) for one in played]  # in entries
    turns = Counter[int]()
    for one in played:
        turns.update(_iter_turns(one.moves))
    wins = Counter(seat for one in played for seat in one.winners)
    count = max(len(played), 1)
    return {
        "game": table.game.META.name,
        "edition": table.game.META.edition,
        "seats": table.seats,
        "options": to_builtins(table.options),
        "seed": seed,
        "games": len(played),
        "moves": moves,
        "seconds": round(seconds, 4),
        "games_per_second": round(len(played) / seconds, 2),
        "moves_per_second": round(moves / seconds, 1),
        "wins_by_seat": [wins[seat] for seat in range(table.seats)],
        "shared_wins": sum(len(one.winners) > 1 for one in played),
        "entries_per_game": round(sum(lengths) / count, 2),
        "shortest": min(lengths, default=0),
        "longest": max(lengths, default=0),
        "turns_per_game": round(turns.total() / count, 2),
        "turns_by_seat": [round(turns[seat] / count, 2) for seat in range(table.seats)],
    }


def _iter_turns(moves: Sequence[tuple[int, str]]) -> Iterator[int]:
    """Yield the seat of each turn; moves of one seat in a row are one turn."""
    seats = [seat for seat, _ in moves]
    yield from seats[:1]  # the first turn, if there is one
    yield from (after for before, after in pairwise(seats) if before != after)


def _format_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a summary, with its numbers below each other."""
    yield f"{summary['game']}, {summary['seats']} seats, seed “{summary['seed']}”: {summary['games']} sound games"
    yield f"  games per second  {summary['games_per_second']:>12,}"
    yield f"  moves per second  {summary['moves_per_second']:>12,}"
    yield f"  entries per game  {summary['entries_per_game']:>12,} ({summary['shortest']} to {summary['longest']})"
    yield f"  turns per game    {summary['turns_per_game']:>12,} ({_format_by_seat(summary['turns_by_seat'])})"
    yield f"  wins              {_format_by_seat(summary['wins_by_seat'])}; {summary['shared_wins']} shared"


def _format_by_seat(numbers: Sequence[float]) -> str:
    return ", ".join(f"seat {seat}: {number}" for seat, number in enumerate(numbers))


def _make_report(table: PlayoutTable, playout: PlayedGame) -> dict[str, Any]:
    """Return what was wrong with a game that broke a promise, and all that is needed to repeat it."""
    return {
        "game": table.game.META.name,
        "edition": table.game.META.edition,
        "seats": table.seats,
        "options": to_builtins(table.options),
        "seed": playout.seed,
        "sentence": playout.broken,
        "trace": playout.trace,
        "moves": [{"seat": seat, "move": move} for seat, move in playout.moves],
    }


def _print_report(report: Mapping[str, Any], args: Namespace) -> None:
    """Report a game that broke a promise: its moves to the file or as JSON, and how to play it again."""
    if args.log:
        terminal.write_file(args.log, terminal.format_json(report))
    elif not args.json:
        terminal.print_json(report)
    terminal.print_error(
        f"After {len(report['moves'])} moves, with the seed “{report['seed']}”: {report['sentence']}. "
        f"Again: {_write_command_to_repeat(report, args)}"
    )


def _write_command_to_repeat(report: Mapping[str, Any], args: Namespace) -> str:
    """Return the command that plays the reported game alone, by the same bots and with the same limit."""
    words = ["depesche", "playout", args.game, "--seats", str(report["seats"])]
    words += ["--count", "1", "--seed", report["seed"]]
    words += [word for pair in args.option for word in ("--option", pair)]
    if args.bot != RANDOM_BOT:
        words += ["--bot", args.bot]
    if args.limit != MAX_MOVES:
        words += ["--limit", str(args.limit)]
    return shlex.join(words)
