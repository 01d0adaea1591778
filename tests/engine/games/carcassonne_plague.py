"""A slow second model of the plague: it knows tiles and figures by their events, and counts by walking over cells."""

from tests.engine.games.carcassonne_flood import ROWS

FLEAS, FIRST = 18, 17


def plain(tile):
    """Return the name of a tile without garden, number and bridge."""
    return tile.partition("=")[0].rstrip("*").partition("-")[0]


class SlowPlague:
    """The tiles, the outbreaks and the fleas, as a player sees them."""

    def __init__(self):
        self.tiles = {}
        self.drawn = 0
        self.active = {}
        self.ended = []
        self.red, self.pink = [], []

    def apply(self, event):
        match type(event).__name__:
            case "TileDrawn":
                self.drawn += 1
                assert self.drawn > FIRST or not self.is_source(event.tile)
            case "TilePlaced":
                self.tiles[event.cell] = plain(event.tile)
            case "OutbreakCame":
                assert self.is_source(self.tiles[event.cell])
                assert event.number == len(self.active) + len(self.ended) + 1
                self.active[event.cell] = event.number
            case "OutbreakEnded":
                assert len(self.red) == FLEAS
                assert self.active.pop(event.cell) < min(self.active.values())
                self.ended.append(event.cell)
                asleep = [cell for cell in self.red if cell not in self.reach(self.red)]
                assert sorted(asleep) == sorted(event.fleas)
                self.pink += asleep
                self.red = [cell for cell in self.red if cell not in asleep]
            case "PlagueSpread":
                self.spread(event)

    def spread(self, event):
        """A flea is taken from the supply as long as there is one, then a sleeping one, then one of the others."""
        assert event.cell in self.targets(event.taken)
        if event.taken in self.pink:
            self.pink.remove(event.taken)
        elif event.taken:
            assert not self.pink
            self.red.remove(event.taken)
        self.red.append(event.cell)
        assert len(self.red) + len(self.pink) <= FLEAS
        assert set(self.red) <= self.reach(self.red)

    def targets(self, taken):
        red = [cell for cell in self.red if cell != taken]
        free = set(self.tiles) - {*self.red, *self.pink, *self.active, *self.ended}
        free = {cell for cell in free if ROWS[self.tiles[cell]].get("wall") != "01234567"}
        return {cell for one in (*self.active, *red) for cell in self.beside(one)} & free

    def reach(self, red):
        """The cells to which one can walk from an outbreak over red fleas."""
        reached = set(self.active)
        while more := {cell for one in reached for cell in self.beside(one) if cell in red} - reached:
            reached |= more
        return reached

    def beside(self, cell):
        x, y = map(int, cell.split(","))
        return [f"{x},{y - 1}", f"{x + 1},{y}", f"{x},{y + 1}", f"{x - 1},{y}"]

    def is_source(self, tile):
        return "source" in ROWS[plain(tile)].get("signs", [])

    def compare(self, state):
        assert state.outbreaks == self.active
        assert list(state.ended_outbreaks) == self.ended
        assert {cell for cell, active in state.fleas.items() if active} == set(self.red)
        assert {cell for cell, active in state.fleas.items() if not active} == set(self.pink)
