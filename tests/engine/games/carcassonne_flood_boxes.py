"""The second opinion goes on: what further boxes bring, counted naively from tiles and figures alone."""

from collections import Counter

from tests.engine.games.carcassonne_flood import ROWS, WEIGHTS, Count

NEAR = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
NO_MEEPLES = ("builder", "pig", "shepherd", "barn")
WEIGHTS.update({"shepherd": 0, "barn": 0, "mayor": 0})


class BoxCount(Count):
    """Keeps the score of games with further boxes; shares no code with the game."""

    def __init__(self, seats):
        super().__init__(seats)
        self.names = {}
        self.turns = {}
        self.tent = None
        self.flocks = {}

    def hear(self, event):
        match type(event).__name__:
            case "FinalScoringBegan":
                self.settle()
            case "GameEnded":
                self.finish()
            case "TilePlaced":
                super().hear(event)
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
                super().hear(event)

    def signs(self, x, y):
        """The words on a whole tile."""
        name = self.names.get((x, y), "")
        return ROWS[name.rstrip("*")].get("signs", []) if name else []

    def rose(self, seat, x, y):
        """Three points for a quarter rose on its side of the latest full rose."""
        mine = [sign.split()[1] for sign in self.signs(x, y) if sign.startswith("rose")]
        full = [spot for spot in self.names if "rose NWSE" in self.signs(*spot)]
        if not mine or mine == ["NWSE"] or not full:
            return
        east, south = x - full[-1][0], y - full[-1][1]
        for _ in range(self.turns[full[-1]] // 90):
            east, south = south, -east  # as somebody sees it who turns with the rose
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
            self.towers(self.completed())
        super().settle()

    def completed(self):
        """The roads and cities that the latest tile completed."""
        _, x, y = self.latest
        areas = []
        for number, segment in enumerate(self.land.cells[x, y]):
            if segment[0] in ("road", "city") and not any((x, y, number) in area for area in areas):
                area, is_open = self.land.flood((x, y, number))
                areas += [] if is_open else [area]
        return areas

    def towers(self, areas):
        for area in areas:
            for seat, kind, x, y, number in self.figures:
                for sign in self.signs(x, y) if (x, y, number) in area and kind not in NO_MEEPLES else ():
                    if sign.startswith("watchtower"):
                        self.scores[seat] += int(sign.split()[1]) * self.seen(sign.split()[2], x, y)

    def seen(self, what, x, y):
        if what == "meeple":
            return len(self.meeples_near(x, y))
        tiles = [self.land.cells.get((x + dx, y + dy), []) for dx, dy in NEAR]
        if what == "shield":
            return sum(segment[2].count("shield") for tile in tiles for segment in tile)
        return sum(any(segment[0] == what for segment in tile) for tile in tiles)

    def score(self, area):
        there = [figure for figure in self.figures if figure[2:] in area]
        if there and self.kind(there[0]) == "acrobats":
            return self.pyramid(there[0][2:4])
        might = Counter()
        for figure in there:
            might[figure[0]] += self.weight(figure, area)
        best = [seat for seat, strength in might.items() if strength and strength == max(might.values())]
        high = {f[0] for f in there if f[1] not in NO_MEEPLES and "hill" in self.signs(f[2], f[3])}
        for seat in [seat for seat in best if seat in high] or best:
            self.scores[seat] += self.worth(area, any(figure[:2] == (seat, "pig") for figure in there))
        for seat, kind, x, y, _ in there:
            if kind == "ringmaster":
                self.scores[seat] += 2 * sum(self.stage(x + dx, y + dy) for dx, dy in NEAR)
        self.figures = [figure for figure in self.figures if figure not in there]
        return None

    def weight(self, figure, area):
        return WEIGHTS.get(figure[1], 1)

    def stage(self, x, y):
        return "circus" in self.signs(x, y) or any(s[0] == "acrobats" for s in self.land.cells.get((x, y), ()))

    def worth(self, area, pig):
        points = super().worth(area, pig)
        x, y, number = next(iter(area))
        if self.land.cells[x, y][number][0] == "cloister" and points == 9:
            points += 3 * sum("vineyard" in self.signs(x + dx, y + dy) for dx, dy in NEAR)
        return points
