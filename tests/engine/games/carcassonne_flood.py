"""A second implementation of the scoring: it finds every feature from the tiles and counts every point itself.

It reads only the tile file and the events, and shares no code with the game.
"""

import tomllib
from collections import Counter
from pathlib import Path

import engine.games

DATA = tomllib.loads((Path(engine.games.__path__[0]) / "carcassonne" / "board.toml").read_text("utf-8"))
ROWS = {name: row for box in DATA["tiles"].values() for name, row in box.items()}
ROWS |= {f"{name}-{number}": ROWS[name] for name, them in DATA["wheel"]["numbers"].items() for number in them}
COMPASS = ["nnw", "nne", "ene", "ese", "sse", "ssw", "wsw", "wnw"]
MIRROR = {0: 5, 1: 4, 2: 7, 3: 6, 4: 1, 5: 0, 6: 3, 7: 2}
OFFSETS = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
WEIGHTS = {"large": 2, "builder": 0, "pig": 0}


def row_of(tile):
    """Return what is printed on a tile, whether it shows a garden or carries a bridge or not."""
    return ROWS[tile.partition("=")[0].rstrip("*")]


class Land:
    """The tiles on the table, as lists of segments by cell."""

    def __init__(self):
        self.cells = {}
        self.closed = set()
        self.tunnels = {}

    def lay(self, tile, x, y, turn):
        row, plain, axis = row_of(tile), *tile.partition("=")[::2]
        self.cells[x, y] = segments(row, turn // 90, plain.endswith("*"))
        if axis:
            self.bridge(x, y, {("NESW".index(letter) + turn // 90) % 4 for letter in axis})
        self.closed |= {(x, y)} if row.get("closes") else set()

    def bridge(self, x, y, sides):
        self.cells[x, y].append(("road", sides, ["bridge"], []))

    def flood(self, start):
        """Return each (x, y, number of a segment) that is connected with this one, and whether any end is open."""
        connected, queue, is_open = {start}, [start], False
        while queue:
            x, y, number = queue.pop()
            kind, ends, symbols = self.cells[x, y][number][:3]
            if "tunnel" in symbols:
                beyond = self.tunnels.get((x, y, number))
                is_open |= beyond is None
                queue.extend({beyond} - connected - {None})
                connected |= {beyond} - {None}
            for end in ends:
                beyond = self.segments_beyond(x, y, kind, end)
                is_open |= beyond is None
                queue.extend(other for other in beyond or () if other not in connected)
                connected.update(beyond or ())
        return connected, is_open

    def segments_beyond(self, x, y, kind, end):
        """Return the segments beyond an end, two cities if they share the side; None if there is no tile."""
        side = "NESW"[end // 2] if kind == "field" else "NESW"[end]
        dx, dy = OFFSETS[side]
        there = MIRROR[end] if kind == "field" else (end + 2) % 4
        cell = x + dx, y + dy
        if cell not in self.cells:
            return None
        segments = [(*cell, n) for n, other in enumerate(self.cells[cell]) if other[0] == kind and there in other[1]]
        assert segments or cell in self.closed, "the tiles do not match"
        return segments

    def iter_segments(self, x, y):
        """Return the segments of a tile, or those that reach it if it closes everything."""
        if (x, y) not in self.closed:
            return [(x, y, number) for number in range(len(self.cells[x, y]))]
        return [
            (x + dx, y + dy, number)
            for side, (dx, dy) in enumerate(OFFSETS.values())
            for number, segment in enumerate(self.cells[x + dx, y + dy])
            if segment[0] in ("road", "city") and (side + 2) % 4 in segment[1]
        ]

    def neighbours(self, x, y):
        return sum((x + dx, y + dy) in self.cells for dx in (-1, 0, 1) for dy in (-1, 0, 1)) - 1


def segments(row, quarter, garden):
    """Return (kind, ends, symbols, touched cities) for everything on a tile, cities first."""

    def sides(word):
        return {("NESW".index(letter) + quarter) % 4 for letter in word}

    segments = []
    for kind, key in (("city", "cities"), ("road", "roads")):
        for text in row.get(key, ()):
            word, *symbols = text.split()
            segments.append((kind, sides(word), symbols, []))
    for text in row.get("fields", ()):
        halves, _, touched = text.partition(">")
        segments.append(("field", {(int(half) + 2 * quarter) % 8 for half in halves.strip()}, [], touched.split()))
    if row.get("cloister"):
        segments.append(("cloister", set(), [row["cloister"]] if row["cloister"] is not True else [], []))
    if garden:
        segments.append(("garden", set(), [], []))
    return segments + [(kind, set(), [], []) for kind in row.get("places", ())]


def segment_called(tile, token):
    """Return the number of the segment with this token."""
    kind, _, where = token.partition("-")
    if kind == "bridge":
        return next(number for number, segment in enumerate(tile) if "bridge" in segment[2])
    kinds = (kind, "castle") if kind == "city" else (kind,)
    numbers = [number for number, one in enumerate(tile) if one[0] in kinds and "bridge" not in one[2]]
    if not where:
        assert len(numbers) == 1
        return numbers[0]
    if kind == "field":
        first_half = COMPASS.index(where) if where in COMPASS else None
        return next(number for number in numbers if min(tile[number][1], default=None) == first_half)
    return next(number for number in numbers if tile[number][1] == {"NESW".index(letter) for letter in where})


class Count:
    """A score of a game without messages, counted from its events."""

    def __init__(self, seats):
        self.land = Land()
        self.figures = []
        self.scores = [0] * seats
        self.goods = [Counter() for _ in range(seats)]
        self.latest = None

    def apply(self, event):
        match type(event).__name__:
            case "TilePlaced":
                self.settle()
                x, y = map(int, event.cell.split(","))
                self.land.lay(event.tile, x, y, event.turn)
                self.latest = event.seat, x, y
            case "FigurePlaced":
                self.figures.append(self.spot(event.figure))
            case "AbbotRecalled":
                seat, kind, x, y, number = self.spot(event.figure)
                self.figures.remove((seat, kind, x, y, number))
                self.scores[seat] += 1 + self.land.neighbours(x, y)
            case "FinalScoringBegan":
                self.settle()
                self.finish()

    def spot(self, figure):
        x, y = map(int, figure.cell.split(","))
        return figure.seat, figure.kind, x, y, segment_called(self.land.cells[x, y], figure.segment)

    def settle(self):
        """Score what the latest tile completed."""
        if self.latest is None:
            return
        seat, x, y = self.latest
        seen = set()
        for spot in self.land.iter_segments(x, y):
            kind = self.land.cells[spot[:2]][spot[2]][0]
            if kind in ("road", "city") and spot not in seen:
                area, is_open = self.land.flood(spot)
                seen |= area
                if not is_open:
                    self.score(area)
                    if kind == "city" and seat is not None:
                        goods = [symbol for spot in area for symbol in self.symbols(spot)]
                        self.goods[seat].update(good for good in goods if good in ("wine", "grain", "cloth"))
        for _, _, fx, fy, number in list(self.figures):
            enclosed = self.land.cells[fx, fy][number][0] in ("cloister", "garden")
            if enclosed and max(abs(fx - x), abs(fy - y)) <= 1 and self.land.neighbours(fx, fy) == 8:
                self.score({(fx, fy, number)})
        self.latest = None

    def symbols(self, spot):
        x, y, number = spot
        return self.land.cells[x, y][number][2]

    def score(self, area):
        there = [figure for figure in self.figures if figure[2:] in area]
        might = Counter()
        for seat, kind, *_ in there:
            might[seat] += WEIGHTS.get(kind, 1)
        for seat, strength in might.items():
            if strength == max(might.values()) and strength:
                pig = any(figure[:2] == (seat, "pig") for figure in there)
                self.scores[seat] += self.worth(area, pig)
        self.figures = [figure for figure in self.figures if figure not in there]

    def worth(self, area, pig):
        x, y, number = next(iter(area))
        kind = self.land.cells[x, y][number][0]
        tiles = self.count_tiles(area)
        symbols = [symbol for spot in area for symbol in self.symbols(spot)]
        is_open = self.land.flood((x, y, number))[1]
        if kind in ("cloister", "garden"):
            return 1 + self.land.neighbours(x, y)
        if kind == "road":
            return tiles * ((0 if is_open else 2) if "inn" in symbols else 1)
        if kind == "city":
            rate = (0 if is_open else 3) if "cathedral" in symbols else (1 if is_open else 2)
            return rate * (tiles + symbols.count("shield"))
        return len(self.cities_fed(area)) * (4 if pig else 3)

    def count_tiles(self, area):
        return len({spot[:2] for spot in area})

    def cities_fed(self, area):
        fed = set()
        for x, y, number in area:
            for city in self.land.cells[x, y][number][3]:
                land, is_open = self.land.flood((x, y, int(city)))
                if not is_open:
                    fed.add(min(land))
        return fed

    def finish(self):
        while self.figures:
            self.score(self.land.flood(self.figures[0][2:])[0])
        for good in ("wine", "grain", "cloth"):
            most = max(own[good] for own in self.goods)
            for seat, own in enumerate(self.goods):
                self.scores[seat] += 10 if most and own[good] == most else 0
