"""Random games for tests, with everything that can happen at a table."""

from __future__ import annotations

from random import Random
from typing import Any

from engine import bots, table
from engine.log import Export
from engine.menu import Move
from engine.refusal import Refused
from service.text import lessons
from service.text.lessons import Sample


def play_to_end(
    game: Any, seats: int, seed: bytes = b"a table", *, chosen: Any = (), incident_rate: float = 0.1
) -> Export:
    """Play a game with undos, time-outs, substitutes and a resignation; return its log."""
    return play_randomly(game, seats, seed, chosen=chosen, incident_rate=incident_rate).export()


def play_part(game: Any, seats: int, most: int, seed: bytes = b"a table", *, seat: int | None = None) -> Export:
    """Play at most so many entries of a game; return its log for one seat, or for a spectator."""
    return play_randomly(game, seats, seed, incident_rate=0.0, most=most).export(seat=seat)


def play_randomly(
    game: Any, seats: int, seed: bytes, *, chosen: Any = (), incident_rate: float = 0.1, most: int = 100_000
) -> Sample:
    """Play random moves; before each one, something else happens with the probability `incident_rate`."""
    random = Random(seed)
    sample = lessons.start_sample(game, seats, seed, dict(chosen), "sample")
    for seat in lessons.play_randomly(sample, random):
        while sample.table.phase == "playing" and (sample.table.undo_request or random.random() < incident_rate):
            do_incident(sample, seat, random)
        if len(sample.entries) >= most:
            break
    return sample


def do_incident(sample: Sample, seat: int, random: Random) -> None:
    """Let something happen that is no move; skip what the table does not allow now."""
    at = sample.table
    if at.undo_request:
        sample.do(at.undo_request.waiting[0], Move(random.choice(["agree", "agree", "refuse"])))
        return
    resigned = any(chair.status == "resigned" for chair in at.seats)
    if at.seats[seat].status == "bot":
        sample.do(None, Move("substitute", (str(seat),)))
        return
    late = random.choice(table.find_seats_to_move(sample.game, at))
    stand_in = bots.pick_random_move(table.menu(sample.game, at, late), random)
    app, move = random.choice(
        [
            (False, Move("undo")),
            (False, Move("undo")),
            (True, Move("expire", (str(late), stand_in.verb, *stand_in.args))),
            (True, Move("relieve", (str(seat),))),
            *([(False, Move("resign"))] if len(at.seats) > 2 and not resigned else []),
        ]
    )
    try:
        sample.do(None if app else seat, move)
    except Refused:
        return
