"""Hand-made positions of Carcassonne, and the moves played in them."""

from engine import chance, menu, options
from engine import game as games
from engine.games import carcassonne
from engine.games.carcassonne import land
from engine.games.carcassonne.boxes import Began, get_rules
from engine.games.carcassonne.state import Figure, TileDrawn, TilePlaced, TurnBegan

WITHOUT_MESSAGES = {"messages": False}


def build_state(tiles=(), meeples=(), drawn="U", bag=("U",) * 9, seats=2, track=None, start="D", edition=6, **boxes):
    """Return a position in which seat 0 has drawn a tile.

    Tiles are written as `U 1,0 90`, figures as `0 meeple 1,0/road`. There are no messages unless `messages=True`.
    """
    chosen = options.parse(carcassonne.META.options, WITHOUT_MESSAGES | boxes)
    rules = get_rules(chosen)
    track = track or ((0,) * rules.scoring_figures,) * seats
    events = [Began(chosen, 0, rules.supply, ((drawn, *bag),), track, edition), TilePlaced(start, "0,0")]
    for text in tiles:
        tile, cell, turn = text.split()
        events.append(TilePlaced(tile, cell, int(turn)))
    state = games.fold(carcassonne, events)
    for text in meeples:
        state = land.add_figure(state, figure(text))
    return games.fold(carcassonne, [TurnBegan(0), TileDrawn(0, drawn)], state)


def figure(text):
    seat, kind, place, *way = text.split()
    return Figure(int(seat), kind, *place.split("/"), *way)


class Game:
    """A game that collects its events; a move for `play` can name its seat, otherwise seat 0 makes it."""

    def __init__(self, state, **rig):
        self.state = state
        self.events = ()
        self.chance = chance.make_rigged({"tile": ["U"] * 40, **rig})

    def play(self, *moves, **rig):
        this_chance = chance.make_rigged(rig, self.chance.source) if rig else self.chance
        for text in moves:
            seat, _, move = text.rpartition(": ")
            seat = int(seat or 0)
            chosen_move = menu.parse_move(carcassonne.menu(self.state, seat), move)
            played = games.play(carcassonne, self.state, seat, chosen_move, this_chance)
            self.state, self.events = played.state, self.events + played.events
        return self

    def menu(self, verb="", seat=0):
        """Return the arguments that a seat can use with a verb, or the verbs that it can use."""
        offered = carcassonne.menu(self.state, seat)
        if not verb:
            return [entry.verb for entry in offered]
        return {" ".join(args) for entry in offered if entry.verb == verb for args in entry.options}

    def find_events(self, name):
        """Return the events of this class so far."""
        return [event for event in self.events if type(event).__name__ == name]

    @property
    def points(self):
        return [standing.score for standing in carcassonne.standing(self.state)]

    @property
    def over(self):
        return games.is_over(carcassonne, self.state)


def set_up(*args, rig=None, **given):
    """Return a game that goes on from a hand-made position."""
    return Game(build_state(*args, **given), **(rig or {}))
