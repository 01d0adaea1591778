"""The second implementation of the scoring, for the further boxes."""

from collections import Counter

from tests.engine.games.carcassonne_flood import WEIGHTS, Count, row_of

NEAR = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
NO_MEEPLES = ("builder", "pig", "shepherd", "barn")
WEIGHTS.update({"shepherd": 0, "barn": 0, "mayor": 0})


class BoxCount(Count):
    """A score of a game with further boxes."""

    def __init__(self, seats):
        super().__init__(seats)
        self.names = {}
        self.turns = {}
        self.tent = None
        self.flocks = {}
        self.lying = set()
        self.barn = None
        self.ended = False
        self.tolls = {}
        self.brought = set()
        self.imprisoned = []

    def apply(self, event):
        match type(event).__name__:
            case "FinalScoringBegan":
                self.settle()
                self.ended = True
            case "FigurePlaced" if event.figure.way == "lying":
                self.figures.append(self.spot(event.figure))
                self.lying.add(self.figures[-1])
            case "AbbotRecalled" if event.figure.way == "lying":
                self.scores[event.figure.seat] += self.cross(*self.spot(event.figure)[2:4])
                self.figures.remove(self.spot(event.figure))
            case "BarnBuilt":
                self.barn = self.spot(event.figure)
                self.figures.append(self.barn)
            case "WagonDriven":
                self.settle()
                self.figures.append(self.spot(event.figure))
            case "TeacherPaid":
                self.settle()
                assert event.points in self.brought
                self.scores[event.seat] += event.points
            case "FruitHarvested":
                self.scores[event.seat] += event.points
            case "FruitSold":
                assert len(set(event.fruits)) == len(event.fruits)
                self.scores[event.seat] += (1, 3, 6, 10)[len(event.fruits) - 1]
            case "TollhouseSet":
                self.settler(event.seat, tuple(map(int, event.cell.split(","))))
            case "Captured":
                for figure in (event.figure, *event.companions):
                    self.figures.remove(self.spot(figure))
                self.imprisoned += [event.figure.seat] if event.figure.seat != event.seat else []
            case "PrisonersExchanged":
                for prisoner in event.prisoners:
                    self.imprisoned.remove(prisoner.seat)
            case "RansomPaid":
                self.imprisoned.remove(event.prisoner.seat)
                self.scores[event.prisoner.seat] -= 3
                self.scores[event.prisoner.captor] += 3
            case "Escaped":
                self.settle()
                for figure in event.figures:
                    self.figures.remove(self.spot(figure))
            case "GameEnded":
                self.finish()
            case "TilePlaced":
                super().apply(event)
                x, y = map(int, event.cell.split(","))
                self.names[x, y], self.turns[x, y] = event.tile, event.turn
                self.rose(event.seat, x, y)
            case "CircusShown":
                self.settle()
                self.circus(event.animal)
            case "TentPitched":
                self.tent = tuple(map(int, event.cell.split(",")))
            case "PyramidScored":
                self.pyramid(tuple(map(int, event.cell.split(","))))
            case "SheepCame":
                self.flocks.setdefault(self.spot(event.figure), []).append(event.sheep)
            case "WolfCame":
                self.sheep(self.spot(event.figure), 0)
            case "FlockHome":
                self.sheep(self.spot(event.figures[0]), 1)
            case _:
                super().apply(event)

    def signs(self, x, y):
        """Return the signs of a tile."""
        name = self.names.get((x, y), "")
        return row_of(name).get("signs", []) if name else []

    def rose(self, seat, x, y):
        """Three points for a quarter rose on its side of the latest full rose."""
        mine = [sign.split()[1] for sign in self.signs(x, y) if sign.startswith("rose")]
        full = [spot for spot in self.names if "rose NWSE" in self.signs(*spot)]
        if not mine or mine == ["NWSE"] or not full:
            return
        east, south = x - full[-1][0], y - full[-1][1]
        for _ in range(self.turns[full[-1]] // 90):
            east, south = south, -east  # as seen by a player who turns with the rose
        right = {"N": south <= 0, "S": south >= 0, "E": east >= 0, "W": east <= 0}
        if all(right[letter] for letter in mine[0]):
            self.scores[seat] += 3

    def meeples_near(self, x, y):
        return [f for f in self.figures if (f[2] - x, f[3] - y) in NEAR and f[1] not in NO_MEEPLES]

    def circus(self, animal):
        for figure in self.meeples_near(*self.tent):
            self.scores[figure[0]] += animal
        self.tent = None

    def pyramid(self, cell):
        for figure in [f for f in self.figures if f[2:4] == cell and self.kind(f) == "acrobats"]:
            self.scores[figure[0]] += 5
            self.figures.remove(figure)

    def kind(self, figure):
        return self.land.cells[figure[2], figure[3]][figure[4]][0]

    def sheep(self, spot, times):
        """The shepherds of a field go home, paid or not."""
        area = self.land.flood(spot[2:])[0]
        there = [f for f in self.figures if f[1] == "shepherd" and f[2:] in area]
        sheep = sum(sum(self.flocks.get(f, [])) for f in there)
        for figure in there:
            self.scores[figure[0]] += times * sheep
            self.figures.remove(figure)
            self.flocks.pop(figure, None)

    def settle(self):
        if self.latest is not None:
            self.brought = set()
            self.towers(self.find_completed())
            self.raise_tolls(self.find_completed())
            self.challenges(*self.latest[1:])
        super().settle()
        for barn in [figure for figure in self.figures if figure[1] == "barn"]:
            self.score_barn_farm(self.land.flood(barn[2:])[0])
        self.barn = None

    def find_completed(self):
        """Return the roads and cities that the latest tile completed."""
        areas = []
        for spot in self.land.iter_segments(*self.latest[1:]):
            if self.land.cells[spot[:2]][spot[2]][0] in ("road", "city") and not any(spot in area for area in areas):
                area, is_open = self.land.flood(spot)
                areas += [] if is_open else [area]
        return areas

    def settler(self, seat, cell):
        side = next((side for own, side in self.tolls.values() if own == seat), 1)
        self.tolls = {spot: toll for spot, toll in self.tolls.items() if toll[0] != seat} | {cell: (seat, side)}

    def raise_tolls(self, areas):
        """Houses, gardens, robbers and travellers of the roads that end at a tollhouse."""
        for area in areas:
            road = self.land.cells[next(iter(area))[:2]][next(iter(area))[2]][0] == "road"
            for cell, (seat, side) in list(self.tolls.items()) if road else ():
                if not any(spot[:2] == cell and len(self.land.cells[cell][spot[2]][1]) == 1 for spot in area):
                    continue
                tiles = {spot[:2] for spot in area}
                seen = sum("house" in self.signs(*tile) for tile in tiles)
                seen += sum(any(segment[0] == "garden" for segment in self.land.cells[tile]) for tile in tiles)
                seen += sum(f[2:] in area and f[1] not in NO_MEEPLES for f in self.figures)
                points = side * (seen + 3 * sum(self.symbols(spot).count("travellers") for spot in area))
                self.scores[seat] += points
                if points:
                    del self.tolls[cell]
                    self.tolls |= {cell: (seat, 2)} if side == 1 else {}

    def challenges(self, x, y):
        """Monks beside a shrine or cloister that is finished first go home."""
        monks = {f[2:4]: f for f in self.figures if self.kind(f) == "cloister" and f not in self.lying}
        done = [cell for cell in monks if self.land.neighbours(*cell) == 8]
        for cell, monk in monks.items():
            for cx, cy in done if cell not in done else ():
                apart = self.symbols((cx, cy, monks[cx, cy][4])) != self.symbols(monk[2:])
                shrines = "shrine" in self.symbols((cx, cy, monks[cx, cy][4])) + self.symbols(monk[2:])
                if (cell[0] - cx, cell[1] - cy) in NEAR and apart and shrines and monk in self.figures:
                    self.figures.remove(monk)

    def score_barn_farm(self, area):
        """Farmers on a farm with a barn: three for a city if it was built just now, otherwise one."""
        there = [f for f in self.figures if f[2:] in area and f[1] not in ("barn", "shepherd")]
        if all(f[1] == "pig" for f in there):
            return
        for seat in self.leaders(there, area):
            rate = 3 if self.barn and self.barn[2:] in area else 1
            points = self.servings(area) * (rate + ((seat, "pig") in [f[:2] for f in there])) + self.castles_at(area)
            self.scores[seat] += points
            self.brought.add(points)
        self.applause(there)
        self.figures = [figure for figure in self.figures if figure not in there]

    def towers(self, areas):
        for area in areas:
            for seat, kind, x, y, number in self.figures:
                for sign in self.signs(x, y) if (x, y, number) in area and kind not in NO_MEEPLES else ():
                    if sign.startswith("watchtower"):
                        self.scores[seat] += int(sign.split()[1]) * self.count_around(sign.split()[2], x, y)

    def count_around(self, what, x, y):
        if what == "meeple":
            return len(self.meeples_near(x, y))
        tiles = [self.land.cells.get((x + dx, y + dy), []) for dx, dy in NEAR]
        if what == "shield":
            return sum(segment[2].count("shield") for tile in tiles for segment in tile)
        return sum(any(segment[0] == what for segment in tile) for tile in tiles)

    def score(self, area):
        there = [figure for figure in self.figures if figure[2:] in area]
        barns = [figure for figure in there if figure[1] == "barn"]
        if there and self.kind(there[0]) == "acrobats":
            self.pyramid(there[0][2:4])
        elif there and self.kind(there[0]) == "tower":
            pass  # worth nothing
        elif barns:
            for seat, *_ in barns:
                self.scores[seat] += 4 * self.servings(area) + self.castles_at(area)
        elif any(figure in self.lying for figure in there):
            if not self.ended:
                return
            self.scores[there[0][0]] += self.cross(*there[0][2:4])
            self.applause(there)
        else:
            for seat in self.leaders(there, area):
                points = self.worth(area, any(figure[:2] == (seat, "pig") for figure in there))
                self.scores[seat] += points
                self.brought.add(points)
            self.applause(there)
        self.figures = [figure for figure in self.figures if figure not in there]

    def leaders(self, there, area):
        might = Counter()
        for figure in there:
            shields = sum(self.symbols(spot).count("shield") for spot in area)
            might[figure[0]] += shields if figure[1] == "mayor" else WEIGHTS.get(figure[1], 1)
        best = [seat for seat, strength in might.items() if strength and strength == max(might.values())]
        high = {f[0] for f in there if f[1] not in NO_MEEPLES and "hill" in self.signs(f[2], f[3])}
        return [seat for seat in best if seat in high] or best

    def applause(self, there):
        for seat, kind, x, y, _ in there:
            if kind == "ringmaster":
                self.scores[seat] += 2 * sum(self.stage(x + dx, y + dy) for dx, dy in NEAR)

    def stage(self, x, y):
        return "circus" in self.signs(x, y) or any(s[0] == "acrobats" for s in self.land.cells.get((x, y), ()))

    def cross(self, x, y):
        """The tile itself and the unbroken row and column through it."""
        count = 1
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            steps = 1
            while (x + steps * dx, y + steps * dy) in self.land.cells:
                steps += 1
            count += steps - 1
        return count

    def is_besieged(self, area):
        return any("besieged" in self.symbols(spot) for spot in area)

    def servings(self, area):
        """The completed cities along a farm, besieged ones twice."""
        return sum(1 + self.is_besieged(self.land.flood(city)[0]) for city in self.cities_fed(area))

    def castles_at(self, area):
        """The castles along a farm, none without their box."""
        return 0

    def worth(self, area, pig):
        x, y, number = next(iter(area))
        kind = self.land.cells[x, y][number][0]
        if kind == "field":
            return self.servings(area) * (4 if pig else 3) + self.castles_at(area)
        if kind == "city" and self.is_besieged(area):
            symbols = [symbol for spot in area for symbol in self.symbols(spot)]
            size = len({spot[:2] for spot in area}) + symbols.count("shield")
            return 0 if self.land.flood((x, y, number))[1] else size * (2 if "cathedral" in symbols else 1)
        points = super().worth(area, pig)
        if kind == "cloister" and points == 9:
            points += 3 * sum("vineyard" in self.signs(x + dx, y + dy) for dx, dy in NEAR)
        return points
