"""The second implementation of the scoring, for the boxes that came last."""

from engine.games.carcassonne.state import Figure
from tests.engine.games.carcassonne_flood_boxes import NEAR, NO_MEEPLES, BoxCount


class MoreCount(BoxCount):
    """A score of a game with any boxes."""

    def __init__(self, seats):
        super().__init__(seats)
        self.titles = {}
        self.options = None
        self.turn = 0
        self.safe = set()
        self.pig = 0
        self.crowned = []
        self.joined = []
        self.all_meeples = 0
        self.laid = None
        self.bathing = {}
        self.merchants = set()

    def apply(self, event):
        if type(event).__name__ == "Began":
            self.options = event.options
            self.all_meeples = sum(n for kind, n in event.supply.items() if kind not in NO_MEEPLES)
        if type(event).__name__ in ("TurnBegan", "OvertimeBegan"):
            self.turn = event.seat
        match type(event).__name__:
            case "RevoltBroke":
                self.settle()
                self.revolt(event.kind)
            case "WheelTurned":
                self.settle()
                self.turn_wheel(event.number)
            case "MeepleWithdrawn":
                self.figures.remove(self.spot(event.figures[0]))
                self.leave_alone(event.figures[0].seat)
            case "TunnelDug" if event.other:
                one, other = (self.spot(Figure(0, "", *place.split("/")))[2:] for place in (event.place, event.other))
                self.land.tunnels |= {one: other, other: one}
                self.joined.append(one)
            case "CitizensAsked" if not event.place:
                self.settle()
            case "CitizenMoved":
                self.figures.append(self.spot(event.figure))
            case "BathEntered":
                self.settle()
                self.bathing[event.bather.cell] = event.bather.seat
            case "BatherFetched":
                x, y = map(int, event.cell.split(","))
                price = next(int(mark[4:]) for one in self.land.cells[x, y] for mark in one[2] if "bath" in mark)
                self.scores[self.bathing.pop(event.cell)] -= price
            case "MerchantSent":
                for figure in (event.figure, *event.companions):
                    self.figures.remove(self.spot(figure))
                self.merchants.add((event.merchant.seat, event.merchant.segment))
            case "Fled":
                old, new = self.spot(event.figure), self.spot(event.goal)
                self.figures[self.figures.index(old)] = new
                self.safe |= {new} if old in self.safe else set()
                if old in self.flocks:
                    self.flocks[new] = self.flocks.pop(old)
            case "DragonMoved" | "KnightSent" | "PlagueSpread":
                for figure in event.figures:
                    self.figures.remove(self.spot(figure))
                    self.flocks.pop(self.spot(figure), None)
                    self.lying.discard(self.spot(figure))
            case "CrownTaken":
                self.crowned.append((event.figure.seat, event.figure.kind, event.figure.segment))
            case "FigureProtected":
                self.scores[event.seat] -= 4 if self.laid == self.spot(event.figure) else 2
                self.safe.add(self.spot(event.figure))
            case _:
                super().apply(event)
        self.safe &= set(self.figures)
        self.laid = self.spot(event.figure) if type(event).__name__ == "FigurePlaced" else None

    def count_away(self, seat):
        """Count the meeples of a seat that are on crowns, in prison or in bathhouses."""
        bathing = list(self.bathing.values()).count(seat)
        return sum(figure[0] == seat for figure in self.crowned) + self.imprisoned.count(seat) + bathing

    def revolt(self, kind):
        """Seat by seat from the one on turn, until one has lost meeples."""
        for seat in (*range(self.turn, len(self.scores)), *range(self.turn)):
            struck = [f for f in self.figures if f[0] == seat and self.kind(f) == kind and f[1] not in NO_MEEPLES]
            self.scores[seat] += 2 * sum(figure in self.safe for figure in struck)
            lost = [figure for figure in struck if figure not in self.safe]
            self.figures = [figure for figure in self.figures if figure not in lost]
            self.leave_alone(seat)
            if lost:
                return

    def turn_wheel(self, number):
        """The pig runs, its section pays all, and then its crowns."""
        self.pig = (self.pig + number) % 6
        section = ("fortune", "taxes", "famine", "storm", "inquisition", "plague")[self.pig]
        meeples = [figure for figure in self.figures if figure[1] not in NO_MEEPLES]
        for seat in range(len(self.scores)):
            own = [figure for figure in meeples if figure[0] == seat]
            self.scores[seat] += {
                "fortune": 3 * (seat == self.turn),
                "taxes": sum(self.tax(figure, own) for figure in own if self.kind(figure) == "city"),
                "famine": sum(
                    len(self.cities_fed(self.area(figure))) for figure in own if self.kind(figure) == "field"
                ),
                "storm": self.all_meeples - len(own) - self.count_away(seat),
                "inquisition": 2 * sum(self.kind(figure) == "cloister" for figure in own),
                "plague": 0,
            }[section]
            self.scores[seat] += 3 * sum(figure[0] == seat and figure[2] == section for figure in self.crowned)
        self.crowned = [figure for figure in self.crowned if figure[2] != section]

    def servings(self, area):
        """Carcassonne or Leipzig is a city for all farms at its wall."""
        at_wall = self.options.count and any(self.names[spot[:2]].startswith("CO") for spot in area)
        at_wall |= any(self.names[spot[:2]] in ("LZ1a", "LZ2a", "LZ3a", "LZ4a") for spot in area)
        return super().servings(area) + at_wall

    def area(self, figure):
        return self.land.flood(figure[2:])[0]

    def tax(self, figure, own):
        area = self.area(figure)
        shields = sum(self.symbols(spot).count("shield") for spot in area)
        return shields + sum(other[2:] in area for other in own)

    def leave_alone(self, seat):
        """Builders and pigs do not stay without a meeple of their owner."""
        for figure in [f for f in self.figures if f[0] == seat and f[1] in ("builder", "pig")]:
            area = self.land.flood(figure[2:])[0]
            if not any(f[0] == seat and f[1] not in NO_MEEPLES and f[2:] in area for f in self.figures):
                self.figures.remove(figure)

    def settle(self):
        if self.latest is not None:
            self.crown(self.latest[0])
            self.bless(*self.latest[1:])
        areas = [area for area in self.find_completed() if area & set(self.joined)] if self.latest else []
        super().settle()
        self.joined = []
        for area in areas:
            self.score(area)

    def find_completed(self):
        """Return also the roads that a tunnel completed."""
        areas = super().find_completed()
        for spot in self.joined:
            area, is_open = self.land.flood(spot)
            areas += [] if is_open or area in areas else [area]
        return areas

    def crown(self, seat):
        """The largest completed city and the longest completed road so far."""
        for area in self.find_completed():
            kind, tiles = self.kind_of(next(iter(area))), self.count_tiles(area)
            if tiles > self.titles.get(kind, (0, 0))[1]:
                self.titles[kind] = (seat, tiles)

    def count_tiles(self, area):
        """The road on a double tile of Leipzig counts once."""
        names = {self.names[spot[:2]] for spot in area if self.kind_of(spot) == "road"}
        return super().count_tiles(area) - sum({f"LZ{n}a", f"LZ{n}b"} <= names for n in (1, 2, 3, 4))

    def kind_of(self, spot):
        return self.land.cells[spot[:2]][spot[2]][0]

    def bless(self, x, y):
        """Three points for the most meeples on and round a church that the latest tile completed."""
        for dx, dy in NEAR:
            cell = (x + dx, y + dy)
            is_church = any("church" in segment[2] for segment in self.land.cells.get(cell, ()))
            if is_church and self.land.neighbours(*cell) == 8:
                near = [figure[0] for figure in self.meeples_near(*cell)]
                for seat in set(near):
                    self.scores[seat] += 3 * (near.count(seat) == max(map(near.count, near)))

    def worth(self, area, pig):
        points = super().worth(area, pig)
        is_built = any("darmstadtium" in self.symbols(spot) for spot in area)
        is_complete = not self.land.flood(next(iter(area)))[1]
        baths = sum(int(mark[4:]) for spot in area for mark in self.symbols(spot) if mark.startswith("bath"))
        return points + is_complete * (3 * is_built + baths)

    def score(self, area):
        """Leipzig pays those who lead on roads and cloisters, and all knights."""
        there = [figure for figure in self.figures if figure[2:] in area]
        kind = self.kind_of(next(iter(area)))
        if self.merchants and there and kind in ("road", "city", "cloister") and self.worth(area, False):
            leaders = self.leaders(there, area)
            knights = {figure[0] for figure in there if figure[1] not in NO_MEEPLES}
            tiles = self.count_tiles(area)
            shields = sum(self.symbols(spot).count("shield") for spot in area)
            quarter, seats, points = {
                "road": ("wainwrights", leaders, tiles),
                "cloister": ("bookbinders", leaders, 3),
                "city": ("coiners", knights, 3 * shields),
            }[kind]
            for seat in seats:
                self.scores[seat] += points * ((seat, quarter) in self.merchants)
        super().score(area)

    def finish(self):
        super().finish()
        for kind, (seat, _) in self.titles.items() if self.options.king_robber else ():
            self.scores[seat] += self.count_complete(kind)

    def count_complete(self, kind):
        """Count the completed cities or roads."""
        complete = set()
        for cell, tile in self.land.cells.items():
            for number in range(len(tile)):
                area, is_open = self.land.flood((*cell, number)) if tile[number][0] == kind else ((), True)
                complete |= set() if is_open else {min(area)}
        return len(complete) + (self.options.count and kind == "city")
