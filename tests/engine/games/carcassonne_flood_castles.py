"""The second implementation of the scoring, for bridges, castles and bazaars."""

from tests.engine.games.carcassonne_flood_boxes import NEAR
from tests.engine.games.carcassonne_flood_more import MoreCount


class CastleCount(MoreCount):
    """A score of a game with castles: it keeps them on a list of its own, and looks round each after every tile."""

    def __init__(self, seats):
        super().__init__(seats)
        self.castles = []
        self.picker = self.bidder = self.bid = None

    def apply(self, event):
        match type(event).__name__:
            case "BridgeBuilt" if event.cell:
                x, y = map(int, event.cell.split(","))
                axis = event.tile.partition("=")[2]
                turn = self.turns[x, y] // 90
                self.land.bridge(x, y, {("NESW".index(letter) + turn) % 4 for letter in axis})
            case "CastleMade":
                self.make_castle(*(tuple(map(int, cell.split(","))) for cell in event.cells))
            case "TilePicked":
                self.picker = event.seat
            case "BidMade":
                self.bidder, self.bid = event.seat, event.points
            case "TileBought":
                self.pay(event.seat)
            case _:
                super().apply(event)

    def make_castle(self, one, other):
        """The city on two cells, of which one side is common, becomes a castle; only its meeple stays."""
        side = {(0, -1): 0, (1, 0): 1, (0, 1): 2, (-1, 0): 3}[other[0] - one[0], other[1] - one[1]]
        spots = []
        for cell, end in ((one, side), (other, (side + 2) % 4)):
            number = next(n for n, part in enumerate(self.land.cells[cell]) if part[:2] == ("city", {end}))
            self.land.cells[cell][number] = ("castle", {end}, [], [])
            spots.append((*cell, number))
        self.figures = [f for f in self.figures if f[2:] not in spots or f[1] not in ("builder", "pig")]
        assert sum(f[2:] in spots for f in self.figures) == 1
        self.castles.append((one, other, spots))

    def lord(self, castle):
        return next((f for f in self.figures if f[2:] in castle[2]), None)

    def six(self, castle):
        """The cells of a castle and those to both sides of it."""
        (x, y), (u, v), _ = castle
        across = (0, 1) if y == v else (1, 0)
        return {(a + k * across[0], b + k * across[1]) for a, b in ((x, y), (u, v)) for k in (-1, 0, 1)}

    def settle(self):
        latest = self.latest
        done = self.complete_now() if latest is not None and self.castles else []
        super().settle()
        waiting = [one for one in self.castles if self.lord(one) and latest and latest[1:] not in one[:2]]
        while done:
            paid = {}
            for number, castle in enumerate(waiting):
                near = [points for cells, points in done if cells & self.six(castle)]
                if near:
                    paid[number] = max(near)
            done = [(set(waiting[number][:2]), points) for number, points in paid.items()]
            for number, points in paid.items():
                self.pay_lord(self.lord(waiting[number]), points)
            waiting = [castle for number, castle in enumerate(waiting) if number not in paid]

    def pay_lord(self, lord, points):
        self.scores[lord[0]] += points
        self.brought.add(points)
        self.applause([lord])
        self.figures.remove(lord)

    def complete_now(self):
        """The cells and points of each road, city and cloister that the latest tile completed."""
        done = [({spot[:2] for spot in area}, self.worth(area, False)) for area in self.find_completed()]
        _, x, y = self.latest
        for dx, dy in NEAR:
            cell = (x + dx, y + dy)
            if (
                any(part[0] == "cloister" for part in self.land.cells.get(cell, ()))
                and self.land.neighbours(*cell) == 8
            ):
                done.append(({cell}, 9))
        return done

    def score(self, area):
        if self.kind_of(next(iter(area))) == "castle":
            self.figures = [figure for figure in self.figures if figure[2:] not in area]
        else:
            super().score(area)

    def symbols(self, spot):
        """The inns of this box count only together with those of Inns & Cathedrals."""
        inns = self.options is None or self.options.inns_cathedrals
        return [symbol for symbol in super().symbols(spot) if symbol != "inn" or inns]

    def is_castle(self, spot):
        return any(spot in castle[2] for castle in self.castles)

    def cities_fed(self, area):
        return {city for city in super().cities_fed(area) if not self.is_castle(city)}

    def castles_at(self, area):
        """A castle counts as a city and brings a point more; with a pig it counts for that like a city too."""
        return sum(self.is_castle(city) for city in super().cities_fed(area))

    def servings(self, area):
        return super().servings(area) + self.castles_at(area)

    def pay(self, seat):
        """The winner pays the picker, or the picker pays who bid more, or the bag."""
        if self.bid and self.picker == self.bidder:
            self.scores[seat] -= self.bid
        elif self.bid:
            self.scores[seat] -= self.bid
            self.scores[self.bidder if seat == self.picker else self.picker] += self.bid
        self.picker = self.bidder = self.bid = None
