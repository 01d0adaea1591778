"""A slow second model of the dragon, which knows tiles and figures by their events and not the engine’s land."""

from tests.engine.games.carcassonne_flood import ROWS

KEEP_FIGURES = (
    "SheepCame",
    "FlockStirred",
    "WagonScored",
    "WagonAsked",
    "CrownTaken",
    "WheelTurned",
    "FigureProtected",
)
"""The events whose figures stay where they are, or are not on the land."""


class SlowDragon:
    """The tiles, the figures, the fairy and the dragon, as a player sees them."""

    def __init__(self, seats):
        self.seats = seats
        self.tiles = {}
        self.figures = set()
        self.fairy = None
        self.dragon = None
        self.visited = []
        self.mover = None
        self.offered = None
        self.lords = set()

    def apply(self, event):
        match type(event).__name__:
            case "TilePlaced":
                self.tiles[event.cell] = event.tile.partition("=")[0].rstrip("*").partition("-")[0]
            case "FigurePlaced" | "BarnBuilt" | "WagonDriven" | "CitizenMoved":
                assert event.figure.cell != self.dragon, "a figure was put on the tile of the dragon"
                self.figures.add(self.spot(event.figure))
            case "FairyMoved":
                assert event.figure.cell != self.dragon
                self.fairy = event.figure.cell
            case "DragonCame":
                assert "volcano" in self.signs(event.cell)
                self.dragon = event.cell
            case "DragonWoke":
                assert "dragon" in self.signs(list(self.tiles)[-1])
                self.visited, self.mover = [self.dragon], event.seat
            case "Fled":
                assert event.goal.cell != self.dragon
                self.figures.remove(self.spot(event.figure))
                self.figures.add(self.spot(event.goal))
            case "DragonMoved":
                self.step(event)
            case "DragonStopped":
                assert not self.ways()
                assert len(self.visited) < 7
                self.mover = None
            case "CastleOffered":
                self.offered = event.place
            case "CastleMade":
                self.lords.add(self.offered)
                self.send_home(event)
            case name if name not in KEEP_FIGURES:
                self.send_home(event)

    def step(self, event):
        """One step: who is there is eaten, and of others only builders and pigs of the same seats go."""
        assert event.seat == self.mover
        assert event.cell in self.ways()
        self.dragon = event.cell
        self.visited.append(event.cell)
        self.mover = (self.mover + 1) % self.seats if len(self.visited) < 7 else None
        gone = {self.spot(one) for one in event.figures}
        eaten = {one for one in self.figures if one[2] == event.cell and self.is_edible(one)}
        assert eaten <= gone
        assert {one[1] for one in gone - eaten} <= {"builder", "pig"}
        assert {one[0] for one in gone - eaten} <= {one[0] for one in eaten}
        self.figures -= gone

    def send_home(self, event):
        """Take away the figure or figures of any other event, and their companions."""
        gone = [*getattr(event, "figures", ()), *getattr(event, "companions", ())]
        gone += [event.figure] if hasattr(event, "figure") else []
        self.figures -= {self.spot(figure) for figure in gone}

    def spot(self, figure):
        return figure.seat, figure.kind, figure.cell, figure.segment, figure.way

    def is_edible(self, spot):
        place = f"{spot[2]}/{spot[3]}" + (f"-{spot[4]}" if spot[4] else "")
        return spot[1] != "barn" and spot[3] != "tower" and place not in self.lords

    def signs(self, cell):
        return ROWS[self.tiles[cell]].get("signs", [])

    def ways(self):
        """The tiles that touch the dragon's by a side, but for those of this walk, the fairy's, and walled ones."""
        x, y = map(int, self.dragon.split(","))
        beside = [f"{x},{y - 1}", f"{x + 1},{y}", f"{x},{y + 1}", f"{x - 1},{y}"]
        walled = [cell for cell, tile in self.tiles.items() if ROWS[tile].get("wall") == "01234567"]
        return {one for one in beside if one in self.tiles} - {*self.visited, self.fairy, *walled}

    def compare(self, state, menus):
        """Compare with the state after a move, and with what each seat is offered."""
        assert (self.dragon or "") == state.dragon
        there = {self.spot(one) for feature in state.features.values() for one in feature.figures}
        assert self.figures == there
        is_paid_first = any(entry.verb == "score" for menu in menus.values() for entry in menu)
        for seat, menu in menus.items():
            offered = {args[0] for entry in menu if entry.verb == "dragon" for args in entry.options}
            assert offered == (self.ways() if seat == self.mover and not is_paid_first else set())
        assert (self.mover is None) == (not state.dragon_path)
