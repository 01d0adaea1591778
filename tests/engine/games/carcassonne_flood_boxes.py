"""The second opinion goes on: what further boxes bring, counted naively from tiles and figures alone."""

from tests.engine.games.carcassonne_flood import ROWS, Count

NEAR = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]


class BoxCount(Count):
    """Keeps the score of games with further boxes; shares no code with the game."""

    def __init__(self, seats):
        super().__init__(seats)
        self.names = {}
        self.turns = {}

    def hear(self, event):
        super().hear(event)
        if type(event).__name__ == "TilePlaced":
            x, y = map(int, event.cell.split(","))
            self.names[x, y], self.turns[x, y] = event.tile, event.turn
            self.rose(event.seat, x, y)

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
