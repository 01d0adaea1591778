"""§23.9, bazaars: at the end of a turn with one, as many tiles as seats are auctioned, for the next turn of each."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.games.carcassonne.boxes.bridges import OPTION
from engine.games.carcassonne.hooks import BoxHooks, Rules, pick_tile
from engine.games.carcassonne.land import find_features_ending_at
from engine.games.carcassonne.state import (
    Award,
    Part,
    State,
    Task,
    TilePlaced,
    apply_awards,
    count_points_of,
    count_tiles_left,
    get_current_part,
    get_field,
    list_seats_after_turn,
    make_getter,
    pop_work,
    push_work,
    replace_top,
    take_from_bags,
)
from engine.games.carcassonne.tiles import FITTING_TURNS, PIECES, get_plain_name
from engine.menu import Choice, Menu, MenuEntry, Move

BAZAAR = "bazaar"
MOST_POINTS = 20
"""The highest bid that is possible."""

NO_BID, BUY, SELL = "nothing", "buy", "sell"
BOUGHT_NOTE = "bought "
"""The beginning of the note that the tile of this part was bought, followed by its name."""

ANY_TILE, OWN_TILE = 1.5, 2.0
"""For bots: what any tile is worth, and what one is worth more that fits a feature of its owner."""


class Auction(Struct, frozen=True, gc=False):
    """An auction that goes on.

    `tiles` are still to be had, by `seats`, of which the first picks the next one. Once a `tile` is picked, `bidder`
    made the highest `bid` so far (None before the first one), and the seats in `waiting` have not bid yet.
    """

    tiles: tuple[str, ...] = ()
    seats: tuple[int, ...] = ()
    tile: str = ""
    bid: int = 0
    bidder: int | None = None
    waiting: tuple[int, ...] = ()

    @property
    def next_seat(self) -> int:
        """The seat that has to pick, bid or decide.

        The picker picks a tile and makes the first bid; then the seats in `waiting` bid, and then the picker decides.
        """
        picker = self.seats[0]
        if self.bidder is None or not self.waiting:
            return picker
        return self.waiting[0]


class BazaarPlaced(Struct, frozen=True, omit_defaults=True, tag=True):
    """There will be an auction at the end of this turn."""

    seat: int


class AuctionBegan(Struct, frozen=True, omit_defaults=True, tag=True):
    """Tiles were drawn, one for each seat; the seats pick in this order."""

    tiles: tuple[str, ...]
    seats: tuple[int, ...]


class TilePicked(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat picked a tile for which it bids first."""

    seat: int
    tile: str


class BidMade(Struct, frozen=True, omit_defaults=True, tag=True):
    seat: int
    points: int


class BidDeclined(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat bid no more than the highest bid."""

    seat: int


class TileBought(Struct, frozen=True, omit_defaults=True, tag=True):
    """A seat got a tile, for points that it paid to the bag or to another seat."""

    seat: int
    tile: str
    awards: tuple[Award, ...] = ()


class BoughtTileTaken(Struct, frozen=True, omit_defaults=True, tag=True):
    """The seat took its tile in hand instead of drawing one."""

    seat: int
    tile: str


def get_auction(state: State) -> Auction | None:
    """Return the auction that goes on; None if there is none."""
    auction: Auction | None = get_field(state, "auction")
    return auction


is_auction_due = make_getter(BAZAAR, bool)
"""Whether a bazaar was placed in this turn, and its tiles have not been drawn yet."""

get_bought_tiles = make_getter("bought", tuple[tuple[str, ...], ...])
"""The tiles that each seat has bought and not used yet."""


def apply_bazaar_placed(state: State, event: BazaarPlaced) -> State:
    """Remember that an auction is due at the end of the turn."""
    return replace(state, bazaar=True)


def apply_auction_began(state: State, event: AuctionBegan) -> State:
    """Take the tiles out of the bags, and ask the first seat to pick one of them."""
    bags = state.bags
    for tile in event.tiles:
        bags = take_from_bags(bags, tile)
    auction = Auction(event.tiles, event.seats)
    state = push_work(state, Task(BAZAAR, seats=(auction.next_seat,)))
    return replace(state, bags=bags, auction=auction, bazaar=False)


def apply_tile_picked(state: State, event: TilePicked) -> State:
    """Put the tile up; the first seat, which picked it, bids now, and the others wait to bid."""
    return _continue_auction(state, tile=event.tile, waiting=require_auction(state).seats[1:])


def apply_bid_made(state: State, event: BidMade) -> State:
    """Remember the highest bid; its seat does not wait to bid any more."""
    waiting = tuple(seat for seat in require_auction(state).waiting if seat != event.seat)
    return _continue_auction(state, bid=event.points, bidder=event.seat, waiting=waiting)


def apply_bid_declined(state: State, event: BidDeclined) -> State:
    """Take the seat, which is the first of them, from the seats that wait to bid."""
    return _continue_auction(state, waiting=require_auction(state).waiting[1:])


def _continue_auction(state: State, **changes: object) -> State:
    """Change the auction, and ask the seat whose turn it is in it."""
    auction = replace(require_auction(state), **changes)
    return replace(replace_top(state, Task(BAZAAR, seats=(auction.next_seat,))), auction=auction)


def require_auction(state: State) -> Auction:
    """Return the auction where there has to be one."""
    auction = get_auction(state)
    assert auction is not None
    return auction


def apply_tile_bought(state: State, event: TileBought) -> State:
    """Give the tile to the seat, which leaves the auction, and pay for it; the auction ends when no seat is left.

    The seat after the picker picks next; a picker that sold the tile picks again after all others.
    """
    bought = list(get_bought_tiles(state))
    bought[event.seat] += (event.tile,)
    state = replace(state, bought=tuple(bought))
    auction = require_auction(state)
    picker, *others = auction.seats
    seats = tuple(seat for seat in (*others, picker) if seat != event.seat)
    if seats:
        tiles = list(auction.tiles)
        tiles.remove(event.tile)
        next_auction = Auction(tuple(tiles), seats)
        state = replace(replace_top(state, Task(BAZAAR, seats=(next_auction.next_seat,))), auction=next_auction)
    else:
        state = replace(pop_work(state), auction=None)
    return _apply_payment(state, event.awards)


def _apply_payment(state: State, awards: tuple[Award, ...]) -> State:
    """Let the seats pay. What is owed to them or by them for it is marked late, so that it draws no message."""
    state = apply_awards(state, awards)
    return replace(state, owed=tuple(replace(one, late=True) if one.why == BAZAAR else one for one in state.owed))


def apply_bought_tile_taken(state: State, event: BoughtTileTaken) -> State:
    """Put the first tile that the seat has bought in its hand, and note in the part that it was bought."""
    bought, part = list(get_bought_tiles(state)), get_current_part(state)
    bought[event.seat] = bought[event.seat][1:]
    taken = replace(part, step="place", tile=event.tile, notes=(*part.notes, BOUGHT_NOTE + event.tile))
    return replace(replace_top(state, taken), bought=tuple(bought))


def find_bid_limit(state: State, seat: int) -> int:
    """§23.10: Return the most that a seat can bid: no more points than it has, but at least 0."""
    return max(0, min(MOST_POINTS, count_points_of(state, seat)))


def sell(auction: Auction, buyer: int, payee: int | None) -> TileBought:
    """Return the event that gives a seat the picked tile for the highest bid, which is paid to the payee, if any."""
    price = auction.bid
    if not price:
        return TileBought(buyer, auction.tile)
    income = () if payee is None else (Award(payee, price, BAZAAR),)
    return TileBought(buyer, auction.tile, (Award(buyer, -price, BAZAAR), *income))


class Bazaars(BoxHooks):
    """Auctions of tiles."""

    option = "bazaars"
    about = ""
    switches = (OPTION,)
    state_fields = {
        "bazaar": (bool, False),
        "auction": (Auction | None, None),
        "bought": (tuple[tuple[str, ...], ...], ()),
    }
    view_fields = {"auction": (Auction | None, get_auction), "bought": (tuple[tuple[str, ...], ...], get_bought_tiles)}
    verbs = ("pick", "bid", "deal")
    tasks = (BAZAAR,)
    shared_tasks = frozenset({BAZAAR})
    events = {
        BazaarPlaced: apply_bazaar_placed,
        AuctionBegan: apply_auction_began,
        TilePicked: apply_tile_picked,
        BidMade: apply_bid_made,
        BidDeclined: apply_bid_declined,
        TileBought: apply_tile_bought,
        BoughtTileTaken: apply_bought_tile_taken,
    }

    def prepare(self, state: State, rules: Rules) -> State:
        return replace(state, bought=((),) * len(state.track))

    def react_to_tile(self, state: State, rules: Rules, event: TilePlaced, chance: Chance) -> BazaarPlaced | None:
        """§23.9, §23.11: Make an auction due for a tile with a bazaar, unless one is due or the tile was bought."""
        if BAZAAR not in PIECES[event.tile][0].signs or is_auction_due(state):
            return None
        note = BOUGHT_NOTE + get_plain_name(event.tile)  # a bridge may have changed the name since
        if note in get_current_part(state).notes:
            return None
        return BazaarPlaced(state.turn)

    def end_turn(self, state: State, rules: Rules, part: Part, chance: Chance) -> AuctionBegan | None:
        """§23.9: Draw a tile for each seat, if enough are left; the seat to the left of the one on turn picks first."""
        seats = len(state.track)
        if not is_auction_due(state) or count_tiles_left(state) < seats:
            return None
        tiles = list[str]()
        for _ in range(seats):
            tile = pick_tile(state, rules, chance)
            state = replace(state, bags=take_from_bags(state.bags, tile))
            tiles.append(tile)
        return AuctionBegan(tuple(tiles), tuple(list_seats_after_turn(state)))

    def take_own_tile(self, state: State, rules: Rules, seat: int) -> BoughtTileTaken | None:
        """§23.11: A seat uses its tile when its turn comes next, or in the first part of a turn that is going on."""
        own, work = get_bought_tiles(state)[seat], state.work[-1]
        begins_turn = seat != state.turn or (isinstance(work, Part) and work.kind == "turn")
        if not own or not begins_turn:
            return None
        return BoughtTileTaken(seat, own[0])

    def menu(self, state: State, rules: Rules, seat: int, task: Task) -> Menu:
        """§23.10: Let the seat pick a tile, bid, or choose between buying and selling, as the auction goes on."""
        auction = require_auction(state)
        limit = find_bid_limit(state, seat)
        if not auction.tile:
            numbers = range(1, len(auction.tiles) + 1)
            return (Choice("pick", tuple((str(number),) for number in numbers), "23.10"),)
        if auction.bidder is None:  # the picker makes the first bid, and has to bid
            return (Choice("bid", tuple((str(points),) for points in range(limit + 1)), "23.10"),)
        if auction.waiting:
            higher_bids = [(str(points),) for points in range(auction.bid + 1, limit + 1)]
            return (Choice("bid", (*higher_bids, (NO_BID,)), "23.10"),)
        return (Choice("deal", ((BUY,), (SELL,)), "23.10"),)

    def resolve_task(self, state: State, rules: Rules, task: Task, chance: Chance) -> Struct | None:
        """§23.10: Go on without a question where there is no choice."""
        auction = require_auction(state)
        seat = auction.next_seat
        picker = auction.seats[0]
        if len(auction.tiles) == 1:  # the last tile costs nothing
            return TileBought(seat, auction.tiles[0])
        if not auction.tile:  # the picker chooses one
            return None
        if auction.bidder is None:  # the picker bids first, and bids nothing if it has no points
            return None if find_bid_limit(state, seat) else BidMade(seat, 0)
        if auction.waiting:  # each other seat may outbid, if it has the points
            return BidDeclined(seat) if find_bid_limit(state, seat) <= auction.bid else None
        if auction.bidder == picker:
            return sell(auction, picker, payee=None)
        if find_bid_limit(state, picker) < auction.bid:  # without the points to buy for that bid the picker has to sell
            return sell(auction, auction.bidder, payee=picker)
        return None

    def decide(self, state: State, rules: Rules, seat: int, move: Move, chance: Chance) -> Sequence[Struct]:
        """§23.10: Pick a tile by its number, bid or bid no more, or let the picker buy the tile or sell it."""
        auction = require_auction(state)
        word = move.args[0]
        match move.verb:
            case "pick":
                return [TilePicked(seat, auction.tiles[int(word) - 1])]
            case "bid":
                return [BidDeclined(seat) if word == NO_BID else BidMade(seat, int(word))]
        assert auction.bidder is not None
        if word == BUY:
            return [sell(auction, buyer=seat, payee=auction.bidder)]
        return [sell(auction, buyer=auction.bidder, payee=seat)]

    def estimate_points(self, state: State, rules: Rules, seat: int) -> float:
        """Return what the tiles of a seat are worth, and what it can expect of an auction."""
        points = sum(value_tile(state, tile, seat) for tile in get_bought_tiles(state)[seat])
        auction = get_auction(state)
        if auction is None or seat not in auction.seats:
            return points
        picker = auction.seats[0]
        if auction.bidder is None or seat not in (auction.bidder, picker):
            return points + ANY_TILE  # each seat of an auction gets one tile
        gain = value_tile(state, auction.tile, seat) - auction.bid
        if seat == auction.bidder:
            return points + gain
        return points + max(gain, auction.bid)  # the picker buys the tile, or is paid the bid

    def prune_menu(self, state: State, rules: Rules, seat: int, menu: Menu) -> Menu:
        """Leave out what costs more than the tile is worth: a bot that has nearly won or lost would bid anything."""
        auction = get_auction(state)
        if auction is None or not auction.tile:
            return menu
        most = int(value_tile(state, auction.tile, seat))
        return tuple(_limit_price(entry, auction.bid, most) for entry in menu)


def _limit_price(entry: MenuEntry, bid: int, most: int) -> MenuEntry:
    """Return a choice of the auction without bids above `most`, and without buying above it."""
    match entry:
        case Choice("bid", options):
            affordable = tuple(args for args in options if args == (NO_BID,) or int(args[0]) <= most)
            return replace(entry, options=affordable)
        case Choice("deal") if bid > most:
            return replace(entry, options=((SELL,),))
    return entry


def value_tile(state: State, tile: str, seat: int) -> float:
    """Return for bots what a tile is worth to a seat: more if it fits where a feature of the seat goes on."""
    fits = FITTING_TURNS[tile]
    for cell, edges in state.frontier.items():
        if fits[edges]:
            roots = find_features_ending_at(state, cell)
            features = [state.features[root] for root in roots if state.features[root].kind != "field"]
            if any(figure.seat == seat for feature in features for figure in feature.figures):
                return ANY_TILE + OWN_TILE
    return ANY_TILE


BOX = Bazaars()
