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

LIMIT = 100_000
BOTS = ("random", "easy", "normal", "strong")
CHUNK = 500


class PlayoutTable(Struct, frozen=True):
    """What is played, and by whom: bots of a level, or chance."""

    game: Any
    options: Any
    seats: int
    bot: str = "random"


class PlayedGame(Struct):
    """How one game went: the moves after the set-up, the time they took, and what was wrong with it, if anything."""

    seed: str
    moves: list[tuple[int, str]] = []
    seconds: float = 0.0
    winners: tuple[int, ...] = ()
    broken: str = ""
    trace: str = ""


def add(subparsers: Subparsers[Parser]) -> None:
    parser = add_command(
        subparsers,
        "playout",
        playout,
        "Play whole games at random, measure how fast, and check what every game promises.",
        "depesche playout kaiser --seats 3 --count 100 --seed 7",
        "depesche playout kaiser --seats 2 --option corners=opposite --json",
        "depesche playout carcassonne --bot normal --count 3",
    )
    parser.add_argument("game", metavar="GAME", help="one of `depesche games`")
    parser.add_argument(
        "--seats", type=parse_positive, metavar="N", help="how many play (the fewest possible unless given)"
    )
    parser.add_argument("--bot", choices=BOTS, default=BOTS[0], help="who plays: chance, or bots of this level")
    parser.add_argument(
        "--count", type=parse_positive, default=10, metavar="K", help="how many games (10 unless given)"
    )
    parser.add_argument("--seed", metavar="S", help="any text: the same seed gives the same games (else a new one)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the game")
    parser.add_argument(
        "--limit", type=parse_positive, default=LIMIT, metavar="M", help=f"moves a game may take ({LIMIT})"
    )
    parser.add_argument("--log", metavar="FILE", help="where to write the moves of a game that breaks a promise")
    add_json(parser)


def playout(args: Namespace) -> int:
    table = _table(args.game, args.seats, chosen(args.option), args.bot)
    seed = (args.seed or secrets.token_hex(4)).encode("utf-8", "replace").decode()
    courses, stopped = _played(table, seed, args)
    sound = [course for course in courses if not course.broken]
    summary = summed(table, seed, sound)
    broken = _log(table, courses[-1]) if courses and courses[-1].broken else None
    if args.json:
        terminal.print_json(summary | {"broken": broken, "stopped": stopped})
    elif sound:
        print("\n".join(_lines(summary)))
    if stopped:
        terminal.print_error(f"Stopped after {len(courses)} of {args.count} games.")
        return INTERRUPT
    if broken is None:
        return FINE
    _report(table, broken, args)
    return WRONG


def _played(table: PlayoutTable, seed: str, args: Namespace) -> tuple[list[PlayedGame], bool]:
    """The games that were played, and whether Ctrl-C stopped them: what is done by then still counts."""
    courses = list[PlayedGame]()
    try:
        for course in _courses(table, seed, args.count, args.limit):
            courses.append(course)
            terminal.show_progress(len(courses), args.count, "games")
    except KeyboardInterrupt:
        terminal.end_progress()
        return courses, True
    return courses, False


def chosen(pairs: Sequence[str]) -> dict[str, str]:
    """Options as written on the command line."""
    for pair in pairs:
        if "=" not in pair:
            raise Misuse(f"An option is written NAME=VALUE, not “{pair}”.")
    return dict(pair.split("=", 1) for pair in pairs)


def _table(name: str, seats: int | None, pairs: Mapping[str, str], bot: str) -> PlayoutTable:
    from engine import catalogue, options
    from engine import game as games

    game = catalogue.find(name)
    seats = seats or min(game.META.seats)
    settled = options.parse(game.META.options, pairs)
    why = games.objection(game, settled, seats)
    if why:
        raise Misuse(str(why))
    return PlayoutTable(game, settled, seats, bot)


def _courses(table: PlayoutTable, seed: str, count: int, limit: int) -> Iterator[PlayedGame]:
    """The games one after the other, up to the first that breaks a promise; each has a seed of its own to repeat it."""
    for number in range(count):
        course = run(table, f"{seed}-{number}" if number else seed, limit)
        yield course
        if course.broken:
            return


def run(table: PlayoutTable, seed: str, limit: int = LIMIT) -> PlayedGame:
    """One whole game, checked; what breaks is noted in the course."""
    course = PlayedGame(seed)
    try:
        course.winners = _winners(_play(table, course, limit))
    except Broken as broken:
        course.broken = str(broken)
    except Exception as fault:
        course.broken = f"{type(fault).__name__}: {fault}"
        course.trace = traceback.format_exc()
        course.moves += _undone(table, course)
    return course


class Broken(Exception):
    """A promise of the contract that a game does not keep."""


def _play(table: PlayoutTable, course: PlayedGame, limit: int) -> tuple[Standing, ...]:
    from engine import bots
    from engine import game as games

    before = None
    for seat, move, state, events in _timed(course, bots.playout(*_start(table, table.game, course.seed))):
        if seat is not None:
            course.moves.append((seat, str(move)))
        if len(course.moves) > limit:
            raise Broken(f"the game has not ended after {limit} moves")
        _check(table, before, state, events)
        before = state
    if not games.is_over(table.game, before):
        raise Broken("nobody has a move, yet the game is not over")
    found: tuple[Standing, ...] = table.game.standing(before)
    return found


def _start(table: PlayoutTable, game: Any, seed: str) -> tuple[Any, Any, int, bytes, Chooser]:
    return game, table.options, table.seats, seed.encode(), _chooser(table.bot)


def _chooser(bot: str) -> Chooser:
    from engine import bots, search

    if bot == BOTS[0]:
        return bots.choose_at_random
    level = search.LEVELS[bot]
    return lambda game, state, seat, _, random: search.choose_move(level, game, state, seat, random.getrandbits(64))


def _timed(course: PlayedGame, steps: Iterator[Any]) -> Iterator[Any]:
    """The steps, played a chunk at a time so that the clock stands still while they are checked."""
    fault: Exception | None = None
    chunk: list[Any] = []
    while fault is None:
        chunk = []
        begun = time.perf_counter()
        try:
            chunk.extend(islice(steps, CHUNK))
        except Exception as error:
            fault = error
        course.seconds += time.perf_counter() - begun
        yield from chunk
        if fault is None and len(chunk) < CHUNK:
            return
    raise fault


def _check(table: PlayoutTable, before: Any, state: Any, events: Sequence[Any]) -> None:
    from engine import game as games

    if before is not None and games.is_over(table.game, before):
        raise Broken("the game is over, yet somebody has a move")
    if not events:
        raise Broken("a move made nothing happen")
    if games.fold(table.game, events, before) != state:
        raise Broken("replaying the events gives another position than playing did")
    why = _misplaced(table.game.standing(state), table.seats)
    if why:
        raise Broken(why)


def _misplaced(standing: Sequence[Standing], seats: int) -> str:
    """Why this is no standing, if it is none: all places or none, the best of them first."""
    if len(standing) != seats:
        return f"{len(standing)} of {seats} seats have a standing"
    places = [one.place for one in standing if one.place is not None]
    if places and (len(places) != seats or min(places) != 1 or max(places) > seats):
        return f"these are no final places: {[one.place for one in standing]}"
    return ""


def _winners(standing: Sequence[Standing]) -> tuple[int, ...]:
    return tuple(seat for seat, one in enumerate(standing) if one.place == 1)


class Watched:
    """A game that remembers what it was asked to decide."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.decided: list[tuple[int, str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)

    def decide(self, state: Any, seat: int, move: Any, chance: Any) -> Sequence[Any]:
        self.decided.append((seat, str(move)))
        return self.game.decide(state, seat, move, chance)


def _undone(table: PlayoutTable, course: PlayedGame) -> list[tuple[int, str]]:
    """The move during which the game broke down, found by playing it again."""
    from engine import bots

    watched, known = Watched(table.game), len(course.moves)
    try:
        for _ in islice(bots.playout(*_start(table, watched, course.seed)), known + 2):
            pass
    except Exception:
        return watched.decided[known : known + 1]
    return []


def summed(table: PlayoutTable, seed: str, courses: Sequence[PlayedGame]) -> dict[str, Any]:
    """The figures of these games; an entry is the set-up or a move, a turn is what one seat does in a row."""
    seconds = sum(course.seconds for course in courses) or 1e-9
    lengths = [1 + len(course.moves) for course in courses]
    turns = Counter[int]()
    for course in courses:
        turns.update(_turns(course.moves))
    wins = Counter(seat for course in courses for seat in course.winners)
    count = max(len(courses), 1)
    return {
        "game": table.game.META.name,
        "edition": table.game.META.edition,
        "seats": table.seats,
        "options": to_builtins(table.options),
        "seed": seed,
        "games": len(courses),
        "moves": sum(lengths) - len(courses),
        "seconds": round(seconds, 4),
        "games_per_second": round(len(courses) / seconds, 2),
        "moves_per_second": round((sum(lengths) - len(courses)) / seconds, 1),
        "wins_by_seat": [wins[seat] for seat in range(table.seats)],
        "shared_wins": sum(len(course.winners) > 1 for course in courses),
        "entries_per_game": round(sum(lengths) / count, 2),
        "shortest": min(lengths, default=0),
        "longest": max(lengths, default=0),
        "turns_per_game": round(turns.total() / count, 2),
        "turns_by_seat": [round(turns[seat] / count, 2) for seat in range(table.seats)],
    }


def _turns(moves: Sequence[tuple[int, str]]) -> Iterator[int]:
    seats = [seat for seat, _ in moves]
    yield from seats[:1]
    yield from (after for before, after in pairwise(seats) if before != after)


def _lines(summary: Mapping[str, Any]) -> Iterator[str]:
    yield f"{summary['game']}, {summary['seats']} seats, seed “{summary['seed']}”: {summary['games']} sound games"
    yield f"  games per second  {summary['games_per_second']:>12,}"
    yield f"  moves per second  {summary['moves_per_second']:>12,}"
    yield f"  entries per game  {summary['entries_per_game']:>12,} ({summary['shortest']} to {summary['longest']})"
    yield f"  turns per game    {summary['turns_per_game']:>12,} ({_by_seat(summary['turns_by_seat'])})"
    yield f"  wins              {_by_seat(summary['wins_by_seat'])}; {summary['shared_wins']} shared"


def _by_seat(numbers: Sequence[float]) -> str:
    return ", ".join(f"seat {seat}: {number}" for seat, number in enumerate(numbers))


def _log(table: PlayoutTable, course: PlayedGame) -> dict[str, Any]:
    """Everything needed to see the game break its promise again."""
    return {
        "game": table.game.META.name,
        "edition": table.game.META.edition,
        "seats": table.seats,
        "options": to_builtins(table.options),
        "seed": course.seed,
        "sentence": course.broken,
        "trace": course.trace,
        "moves": [{"seat": seat, "move": move} for seat, move in course.moves],
    }


def _report(table: PlayoutTable, broken: Mapping[str, Any], args: Namespace) -> None:
    if args.log:
        terminal.write_file(args.log, terminal.format_json(broken))
    elif not args.json:
        terminal.print_json(broken)
    again = ["playout", args.game, "--seats", str(table.seats), "--count", "1", "--seed", broken["seed"]]
    again += [word for pair in args.option for word in ("--option", pair)]
    terminal.print_error(
        f"After {len(broken['moves'])} moves, with the seed “{broken['seed']}”: {broken['sentence']}. "
        f"Again: depesche {shlex.join(again)}"
    )
