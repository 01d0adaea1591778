"""Tables for tests: whole random ones with all that can happen at a table."""

from __future__ import annotations

from random import Random
from typing import Any

from engine import bots, table
from engine.log import Export
from engine.menu import Move
from engine.refusal import Refused
from service.text import samples
from service.text.samples import Sample


def finished(game: Any, seats: int, seed: bytes = b"a table", *, chosen: Any = (), whims: float = 0.1) -> Export:
    """The log of a table that was played to the end, with undos, time-outs, substitutes and a resignation."""
    return lively(game, seats, seed, chosen=chosen, whims=whims).export()


def running(game: Any, seats: int, most: int, seed: bytes = b"a table", *, seat: int | None = None) -> Export:
    """The log of a table in the middle of its game, after at most so many entries, for one seat or a spectator."""
    return lively(game, seats, seed, whims=0.0, most=most).export(seat=seat)


def lively(game: Any, seats: int, seed: bytes, *, chosen: Any = (), whims: float = 0.1, most: int = 100_000) -> Sample:
    """A random table; before every move something else happens with the probability `whims`."""
    random = Random(seed)
    sample = samples.started(game, seats, seed, dict(chosen), "sample")
    for seat in samples.played(sample, random):
        while sample.table.phase == "playing" and (sample.table.asked or random.random() < whims):
            whim(sample, seat, random)
        if len(sample.entries) >= most:
            break
    return sample


def whim(sample: Sample, seat: int, random: Random) -> None:
    """Something that happens besides moving; what the table does not allow now is left."""
    at = sample.table
    if at.asked:
        sample.do(at.asked.waiting[0], Move(random.choice(["agree", "agree", "refuse"])))
        return
    resigned = any(chair.status == "resigned" for chair in at.seats)
    if at.seats[seat].status == "bot":
        sample.do(None, Move("substitute", (str(seat),)))
        return
    late = random.choice(table.waiting_for(sample.game, at))
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
