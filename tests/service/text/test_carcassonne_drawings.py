"""The drawings, the text board and the sentences of Carcassonne."""

import itertools
import re
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from engine import game as games
from engine import menu
from engine.chance import make_sealed
from engine.games import carcassonne
from engine.games.carcassonne import board
from engine.games.carcassonne.boxes.leipzig import BONUSES
from engine.games.carcassonne.coordinates import locate_crown, locate_segment
from engine.games.carcassonne.state import Award, FeatureScored, Figure, FigurePlaced, PlacedTile, TilePlaced
from engine.games.carcassonne.tiles import PIECES, ROWS
from engine.options import parse as parse_options
from service.text import drawing, narration, templates
from tests.board_tokens import list_tokens
from tests.engine.games.carcassonne_table import set_up
from tests.engine.games.test_carcassonne_bazaars import lay_bazaar
from tests.engine.games.test_carcassonne_busy import RARE_EVENTS, boxes_of, play_busy_game
from tests.engine.games.test_carcassonne_castles import SMALL_CITY, set_up_castles
from tests.engine.games.test_carcassonne_leipzig import complete
from tests.sampling import one_of

NAMES = ["Anna", "Bartholomäus", "Chiara <&>"]
SILENT = {"BuilderRoused", "FigureWithheld", "MessageReturned", "PartEnded", "RoundClosed"}
SILENT |= {"SecondTileOffered", "TileDrawn", "TurnBegan", "FlockStirred"}
SILENT |= {
    "EscapeOffered",
    "Stayed",
    "WagonScored",
    "WagonAsked",
    "WagonRested",
    "FruitOffered",
    "FruitLeft",
    "TeacherAsked",
    "ChurchCompleted",
    "TunnelOffered",
    "TunnelDeferred",
    "CityOpened",
    "CityDeclined",
    "CitizensAsked",
    "CitizensRemained",
    "TowerClosed",
    "CaptureOffered",
    "CaptureDeclined",
    "ExchangeOffered",
    "MarketOpened",
    "MarketDeclined",
    "CastleOffered",
    "CastleDeclined",
    "CastlesReached",
    "BazaarPlaced",
    "BidDeclined",
    "BoughtTileTaken",
    "SpreadAsked",
}


def scene(state, seat):
    own = () if seat is None else carcassonne.menu(state, seat)
    players = drawing.list_players(NAMES[: len(state.track)])
    return drawing.Scene(carcassonne, carcassonne.view(state, seat), players, seat, own)


@pytest.fixture(scope="module")
def moments():
    """Return positions of busy games with the seat that is to move, the verbs of its menu and the latest events."""
    positions = []
    for seed in (4, 5, 6, 13):  # where nearly every menu comes that comes in twenty games
        for state, events in play_busy_game(boxes_of(seed), 3, seed):
            menus = ((seat, offered) for seat in range(3) if (offered := carcassonne.menu(state, seat)))
            mover, offered = next(menus, (0, ()))
            positions.append((state, mover, tuple(entry.verb for entry in offered), events))
    return positions


def pick_by_verb(moments, each):
    """Yield a few positions for each combination of verbs."""
    counted = {}
    for state, seat, verbs, _ in moments:
        counted[verbs] = counted.get(verbs, 0) + 1
        if counted[verbs] <= each:
            yield state, seat


def draw(state, seat):
    return ElementTree.fromstring(drawing.draw_board_svg(scene(state, seat)))


@pytest.mark.parametrize(
    ("each", "step"),
    [(1, 4), pytest.param(1, 1, marks=pytest.mark.release), pytest.param(3, 1, marks=pytest.mark.soak)],
)
def test_every_token_of_the_menu_can_be_touched_and_a_tile_is_turned_on_its_cell(moments, each, step):
    for state, seat in itertools.islice(pick_by_verb(moments, each), None, None, step):
        world = drawing.draw_stage(scene(state, seat)).world
        ElementTree.fromstring(world)
        can_be_touched, is_in_hand = list_tokens(scene(state, seat)), "data-ghost" in world
        assert len(set(can_be_touched)) == len(can_be_touched)
        for move in menu.iter_moves(carcassonne.menu(state, seat)):
            assert set(move.args[:1] if move.verb == "place" and is_in_hand else move.args) <= set(can_be_touched)
        assert list_tokens(scene(state, None)) == []


def test_a_meeple_is_sent_to_leipzig_by_touch_and_everybody_reads_where_it_went():
    game = complete("0 meeple 2,0/road")
    tokens = list_tokens(scene(game.state, 0))
    assert {"2,0/road", "nowhere", *BONUSES} == set(tokens) & {"2,0/road", "nowhere", *BONUSES, "sheds"}
    game.play("send 2,0/road coiners")
    narrator = narration.Narrator(carcassonne, NAMES)
    assert "to Leipzig (coiners)" in narrator.describe(game.find_events("MerchantSent")[0])
    assert "Leipzig, coiners: Anna" in drawing.draw_board_text(scene(game.state, 0))


def test_a_bought_tile_is_said_to_be_its_buyers():
    game = lay_bazaar(3).play("1: pick 2", "1: bid 1", "2: bid 3", "bid nothing", "1: deal buy")
    text = drawing.draw_board_text(scene(game.state, 0))
    assert "Bartholomäus has a tile for the next turn: V" in text
    assert "Anna has a tile" not in text


def test_a_crown_is_marked_where_the_figure_comes_to():
    game = set_up(wheel=True).play("place 1,0 0")
    world = drawing.draw_stage(scene(game.state, 0)).world
    for section in board.CROWNS:
        point = locate_crown(section, "1")
        assert f'data-place="{section}" transform="translate({point.x} {point.y})"' in world


def test_a_figure_on_a_cloister_under_a_bridge_is_where_the_cloister_is_drawn():
    plain, bridged = ({"0,0": PlacedTile(name, 0, 0)} for name in ("KR1", "KR1=EW"))
    assert locate_segment(plain, "0,0", "cloister") == locate_segment(bridged, "0,0", "cloister")


def test_a_castle_a_bridge_and_a_bid_are_made_by_touch_and_everybody_reads_of_them():
    narrator = narration.Narrator(carcassonne, NAMES)
    game = set_up_castles(["B 0,1 0"]).play(SMALL_CITY, "pass")
    assert list_tokens(scene(game.state, 0)) == ["make", "score"]
    game.play("castle make")
    assert narrator.describe(game.find_events("CastleMade")[0]) == "Anna turns the city into a castle."
    assert "Castle 0,0 + 0,-1: Anna" in drawing.draw_board_text(scene(game.state, 1))
    pair = narration.Narrator(carcassonne, NAMES[:2])
    assert "a meeple in the castle" in pair.describe_board(carcassonne.view(game.state, 1))
    assert {"0,1/bridge-EW", "hand-NS"} <= set(list_tokens(scene(game.state, 1)))
    game.play("1: bridge 0,1/bridge-EW")
    assert "builds a bridge over a tile" in narrator.describe(game.find_events("BridgeBuilt")[0])
    sale = lay_bazaar(3)
    assert list_tokens(scene(sale.state, 1)) == ["1", "2", "3"]
    sale.play("1: pick 2", "1: bid 4")
    assert narrator.describe(sale.find_events("BidMade")[0]) == "Bartholomäus bids 4 points."
    assert list_tokens(scene(sale.state, 2)) == ["5", "6", "7", "8", "9", "nothing"]
    assert "Highest bid: 4 (Bartholomäus)." in drawing.draw_board_text(scene(sale.state, 2))
    assert narrator.label_token("bid", "1") == "1 point"


@pytest.mark.parametrize("tile", ["B=NS", "E=EW", "I15*=NS", "BB06=EW"])
def test_a_tile_with_a_bridge_is_drawn_with_it(tile):
    state = set_up(drawn=tile).state
    assert f'href="#tile-{tile.replace("*", "g").replace("=", "b")}"' in drawing.draw_board_svg(scene(state, 0))
    assert "bridge" in drawing.draw_board_text(scene(state, 0))


def test_every_tile_on_the_table_is_drawn(moments):
    state, seat, *_ = moments[-1]
    uses = [one for one in draw(state, seat).iter() if one.tag.endswith("use") and "#tile-" in one.get("href", "")]
    assert len(uses) == len(state.tiles)


def test_every_tile_can_be_drawn_in_hand():
    for tile in ROWS:
        state = set_up(drawn=tile).state
        assert f'href="#tile-{tile.replace("*", "g")}"' in drawing.draw_board_svg(scene(state, 0))
        assert f"In hand, unturned: {tile} (" in drawing.draw_board_text(scene(state, 0))


def test_the_text_board_is_narrow_and_names_every_figure_and_legal_cell(moments):
    narrator = narration.Narrator(carcassonne, NAMES)
    for state, seat in pick_by_verb(moments, 2):
        text = drawing.draw_board_text(scene(state, seat))
        assert max(map(len, text.splitlines())) <= 80
        words = " ".join(text.split())
        for figure in carcassonne.view(state, seat).figures:
            kind = {"large": "large meeple"}.get(figure.kind, figure.kind)
            assert f"{kind} {narrator.label_token('recall', figure.place)}" in words
        for entry in carcassonne.menu(state, seat):
            if entry.verb == "place":
                assert all(f"{args[0]} (" in words for args in entry.options)


@pytest.mark.parametrize(
    ("tile", "boxes", "words"),
    [
        ("BH2", {"bathhouses": True}, "b bathhouse"),
        ("TU2", {"tunnel": True}, "u tunnel"),
        ("DA3", {"darmstadt": True}, "k church"),
        ("CA1", {"cathars": True}, "x besieged"),
        ("PD20", {"princess_dragon": True}, "q princess"),
        ("RV01", {"revolts": True}, "R revolt"),
        ("I11", {"inns_cathedrals": True}, "i inn"),
        ("I01", {"inns_cathedrals": True}, "c cathedral"),
        ("T02", {"traders_builders": True}, "w wine"),
        ("R08", {}, "~ river"),
        ("E*", {"abbot": True}, "* garden"),
    ],
)
def test_the_text_board_explains_every_letter_that_is_on_the_table_and_no_other(tile, boxes, words):
    assert words in drawing.draw_board_text(scene(set_up([f"{tile} 5,5 0"], **boxes).state, 0))
    assert words not in drawing.draw_board_text(scene(set_up(**boxes).state, 0))


def test_the_picture_of_a_letter_shows_the_pieces_of_boxes_that_a_seat_has():
    state = set_up(bridges_castles=True, tower=True, abbey_mayor=True).state
    things = board.lay_out_letter(carcassonne.view(state, 0), (0, 0, 0, 0), True, False).things[0]
    assert things[-4:] == (("abbey", 1), ("bridge", 3), ("castle", 3), ("floor", 10))
    without = board.lay_out_letter(carcassonne.view(set_up().state, 0), (0, 0, 0, 0), True, False).things[0]
    assert without == (("meeple", 7),)
    numbers = [element.text for element in draw(state, 0).iter() if element.tag.endswith("}text")]
    assert numbers.count("10") == 2 + 1  # a number of each seat, and a space of the track


def test_the_tile_in_hand_is_described_in_lines_of_eighty_columns():
    text = drawing.draw_board_text(scene(set_up(drawn="RV10", revolts=True).state, 0))
    assert max(map(len, text.splitlines())) <= 80


def test_the_legend_of_a_letter_explains_choices_only_to_a_seat_that_has_a_menu():
    state = set_up().state
    for seat in (0, None, 0):  # the legend is drawn once for each language, so the order must not matter
        assert ("possible here" in drawing.draw_board_svg(scene(state, seat))) == (seat == 0)


def test_a_wide_land_is_shown_round_the_latest_tile():
    road = [f"U {x},0 0" for x in range(1, 30)]
    text = drawing.draw_board_text(scene(set_up(road).state, 0))
    assert max(map(len, text.splitlines())) <= 80
    assert "Only the land round the latest tile is shown." in text
    assert re.search(r"\b29\b", text.splitlines()[0])
    assert "30,0 (0)" in text


def test_each_event_has_one_sentence(moments):
    narrator = narration.Narrator(carcassonne, NAMES)
    sentences_by_event = {}
    for *_, events in moments:
        for event in events:
            sentences_by_event.setdefault(type(event).__name__, set()).add(narrator.describe(event))
    assert {
        name for name, sentences in sentences_by_event.items() if sentences == {""}
    } == SILENT & sentences_by_event.keys()
    for name in sentences_by_event.keys() - SILENT:
        assert all(sentence(text) for text in sentences_by_event[name] - {""}), name
    assert {kind.__name__ for kind in carcassonne.Event.__args__} - set(sentences_by_event) <= RARE_EVENTS | {
        "SecondTileDeclined",
        "Stayed",
        "Escaped",
    }


def test_every_token_and_verb_has_words_and_every_position_a_description(moments):
    narrator = narration.Narrator(carcassonne, NAMES)
    for state, seat in pick_by_verb(moments, 2):
        assert sentence(narrator.describe_board(carcassonne.view(state, seat)))
        for move in menu.iter_moves(carcassonne.menu(state, seat)):
            assert narrator.label_verb(move.verb)
            assert all(narrator.label_token(move.verb, token) for token in move.args)


@pytest.mark.parametrize(
    ("place", "words"), [("1,0/tower", "a meeple on the tower."), ("1,0/acrobats-1", "a meeple on the pyramid.")]
)
def test_a_sentence_says_on_what_a_figure_stands(place, words):
    told = narration.Narrator(carcassonne, NAMES).describe(FigurePlaced(Figure(0, "meeple", *place.split("/"))))
    assert told == f"Anna places {words}"


def sentence(text):
    return text[:1].isupper() and text.endswith(".") and "None" not in text and "{" not in text


def test_a_mat_shows_the_abbeys_and_the_fruit_of_its_seat():
    options = parse_options(carcassonne.META.options, {"abbey_mayor": True, "fruit_trees": True})
    state = games.begin(carcassonne, options, 2, make_sealed(b"", 0)).state
    first, second = drawing.draw_stage(scene(replace(state, abbeys=(1, 0), baskets=({}, {"apple": 2})), 0)).mats
    assert '"abbey"' in first
    assert "abbey" not in second
    assert "apple</span> 2" in second
    assert "apple" not in first


@pytest.mark.parametrize(("tile", "pockets"), [("AM01", 0), ("AM02", 2), ("AM03", 1)])
def test_fields_enclosed_between_two_cities_are_drawn(tile, pockets):
    template = templates.get_environment("en", "carcassonne").get_template("games/carcassonne/tiles.svg")
    drawn = str(template.make_module().tile(tile, board))
    grass = template.make_module().GRASS
    assert len(re.findall(f'<path [^>]*fill="{grass}"', drawn)) == pockets
    assert sum(segment.kind == "field" for segment in PIECES[tile][0].segments) >= pockets


def sizes_of_text(part, scale=1.0, size=""):
    """Yield the size of each text, in units of which a tile is a hundred wide."""
    for factor in re.findall(r"scale\(([\d.]+)", part.get("transform", "")):
        scale *= float(factor)
    size = part.get("font-size", size)
    if part.tag.endswith("text"):
        yield float(size) * scale
    for child in part:
        yield from sizes_of_text(child, scale, size)


@pytest.mark.parametrize("step", one_of([1, 3], 3))
def test_numbers_on_the_land_can_be_read_where_a_tile_is_44_pixels_wide(moments, step):
    sizes = set()
    for state, seat in itertools.islice(pick_by_verb(moments, 1), None, None, step):
        sizes |= set(sizes_of_text(ElementTree.fromstring(drawing.draw_stage(scene(state, seat)).world)))
    assert len(sizes) >= 3  # of watchtowers, baskets, flocks and houses of toll
    assert min(sizes) * 44 / 100 >= 6.5, sorted(sizes)


def test_the_seat_that_is_asked_is_marked_and_not_the_one_whose_turn_it_is(moments):
    state, seat = next((state, seat) for state, seat, *_ in moments if seat != state.turn and state.phase == "playing")
    marked_scene = replace(scene(state, seat), seats_to_move=(seat,))
    marked = [line for line in drawing.draw_board_text(marked_scene).split("\n") if "(to move)" in line]
    assert len(marked) == 1
    assert marked[0].startswith(f"{seat + 1} = ")
    red_frames = drawing.draw_board_svg(marked_scene).count('stroke="#b3261e" stroke-width="4"')
    assert red_frames == 1
    assert drawing.draw_board_svg(marked_scene) != drawing.draw_board_svg(scene(state, seat))


@pytest.mark.parametrize(
    ("token", "label"),
    [
        ("field-nnw", "NNW"),
        ("city-NE", "NE"),
        ("field-inner2", "in2"),
        ("1,0/road-EW", "1,0 EW"),
        ("0,1/acrobats", "0,1"),
        ("cloister", ""),
        ("cloister-lying", "lying"),
    ],
)
def test_a_choice_is_labelled_with_its_cell_and_sides(token, label):
    assert board.label_offer(token) == label


@pytest.mark.parametrize("step", one_of([1, 3], 3))
def test_in_a_letter_every_choice_of_segments_bears_its_sides(moments, step):
    labels = set()
    for state, seat in itertools.islice(pick_by_verb(moments, 1), None, None, step):
        texts = {element.text for element in draw(state, seat).iter() if element.tag.endswith("}text")}
        offers = board.list_offers(carcassonne.menu(state, seat))
        names = board.name_marks(offers.segments)
        own = {name for token, name in names.items() if token not in offers.figures} - {"", "lying", "safe"}
        assert own <= texts
        labels |= own
    assert {"NNW", "NNE"} & labels


def test_through_a_portal_each_tile_bears_its_cell_once_so_that_names_do_not_cover_the_land():
    tokens = [f"{x},0/{segment}" for x in range(5) for segment in ("road", "field-nnw", "field-sse")]
    assert board.name_marks(["city", *tokens]) == {"city": "", **{f"{x},0/road": f"{x},0" for x in range(5)}}
    assert len(board.name_marks(tokens[:12])) == 12


def test_where_very_many_tiles_have_marks_columns_and_rows_are_numbered_instead():
    tokens = [f"{x},1/road" for x in range(30)]
    assert board.name_marks(["city-N", *tokens]) == {"city-N": "N"}
    axes = board.name_axes(tokens, [f"{x},1" for x in range(30)])
    assert [name for name, _ in axes] == [*map(str, range(30)), "0", "1"]
    assert axes[3][1].x == board.locate_tile("3,1").x
    assert board.name_axes(tokens[:20], ["0,0"]) == []


def test_the_mark_for_a_protected_figure_has_no_name_beside_the_plain_one():
    assert board.name_marks(["road-N", "road-N-safe", "road-S-safe"]) == {"road-N": "N", "road-S-safe": "S safe"}


def test_names_of_marks_in_a_letter_do_not_cover_each_other(moments):
    """Each plate has its own place, also where a tile has a choice for every segment."""
    covered, most = 0, 0
    for state, seat in pick_by_verb(moments, 3):
        offers, tiles = board.list_offers(carcassonne.menu(state, seat)), carcassonne.view(state, seat).tiles
        labels = board.name_marks(offers.segments)
        points = {token: board.locate_offer(tiles, token) for token in labels}
        middles = {token: board.locate_offered_tile(tiles, token) for token in labels}
        names = [(label, board.move_outside(middles[token], points[token])) for token, label in labels.items()]
        plates = board.lay_out_plates(names, 1.6)
        assert len(plates) == sum(bool(label) for label, _ in names)
        covered += sum(one.hides(other) for one, other in itertools.combinations(plates, 2))
        most = max(most, len(plates))
    assert covered == 0
    assert most > 10


def test_names_of_marks_are_outside_of_their_tile_and_apart():
    middle = board.locate_tile("0,0")
    above = board.move_outside(middle, board.locate_tile("0,0")._replace(y=-32))
    beside = board.move_outside(middle, middle._replace(x=-20, y=-40))
    assert (above.x, above.y) == (0, -57)
    assert beside.x < -35
    assert beside.y < -50
    assert board.move_outside(middle, middle).y == 25


@pytest.mark.parametrize(
    ("language", "scored", "placed"),
    [
        ("en", "The city is complete: 6 points for Jürgen.", "Jürgen lays a straight road."),
        ("de", "Stadt fertig: 6 Punkte für Jürgen.", "Jürgen legt eine gerade Straße."),
        ("nl", "Project voltooid (stad): 6 punten voor Jürgen.", "Jürgen legt een rechte weg."),
        ("fr", "Zone achevée (ville)\u00a0: 6 points pour Jürgen.", "Jürgen pose une route droite."),
    ],
)
def test_a_sentence_names_the_scorer_and_the_tile(language, scored, placed):
    narrator = narration.Narrator(carcassonne, ["Jürgen", "Anna"], language)
    assert narrator.describe(FeatureScored(0, "city", "0,0", (Award(0, 6, "city"),), ())) == scored
    assert narrator.describe(TilePlaced("U", "1,0", 0, 0)) == placed


def test_many_buttons_in_the_hand_of_a_letter_leave_room_for_the_tiles_left():
    game = complete("0 meeple 2,0/road")
    drawn = ElementTree.fromstring(drawing.draw_board_svg(scene(game.state, 0)))
    parents = {child: parent for parent in drawn.iter() for child in parent}
    buttons = [rect for rect in drawn.iter() if rect.get("rx") == "14" and rect.get("fill") == "#fffaf0"]
    places = [parents[rect].get("transform")[len("translate(") : -1].split() for rect in buttons]
    halves = [float(rect.get("width")) / 2 for rect in buttons]
    assert len(places) == 4
    assert all(float(x) - half >= 3 and float(x) + half <= 953 for (x, _), half in zip(places, halves, strict=True))
    assert all(float(y) - 32 > 45 for _, y in places)  # the tiles left are written above them
