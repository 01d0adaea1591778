"""The commands of every table: sitting down, starting, resigning, time-outs, undo, substitutes."""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from engine import canonical_json, log, menu, options, record
from engine import table as tables
from engine.log import Entry
from engine.menu import Move
from engine.record import UndoRequest
from engine.refusal import Refused
from engine.table_events import (
    Ended,
    Resigned,
    Sat,
    Started,
    Substituted,
    TimedOut,
    UndoAgreed,
    UndoAsked,
    Undone,
    UndoRefused,
)
from tests.engine import highcard
from tests.engine.cases import all_games, make_cases
from tests.engine.ledger import SEED, Ledger, make_variant, play_eventfully, play_on, start_table

every_case = pytest.mark.parametrize("case", make_cases(), ids=str)


def check_refused(ledger, seat, words, sentence):
    before = ledger.table
    with pytest.raises(Refused, match=sentence):
        ledger.do(seat, words)
    assert ledger.table is before


def remove_length(table):
    """Return the table without the number of its entries, which an undo does not restore."""
    return replace(table, length=0)


def play_low_cards(seats=2, game=highcard):
    """Start a table and play the lowest card of every seat but the last."""
    ledger = start_table(game, seats)
    for seat in range(seats - 1):
        ledger.do(seat, f"play {ledger.table.state.hands[seat][0]}")
    return ledger


# Opening, sitting down, starting


def test_a_table_is_opened_with_its_options_in_full_and_the_commitment():
    ledger = Ledger(highcard)
    table = ledger.do(None, options.make_open_command(highcard, 2, SEED, {"cards": "2"}))
    assert ledger.entries[0].move == f"open highcard 2 {table.commitment} cards=2"
    assert (table.phase, table.options, len(table.seats)) == ("gathering", {"cards": 2}, 2)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("open chess 2 {commitment}", "The server cannot play"),
        ("open highcard two {commitment}", "played by 2, 3, 4 players"),
        ("open highcard 9 {commitment}", "played by 2, 3, 4 players, not by 9"),
        ("open highcard 2 abc", "64 hexadecimal digits"),
        ("open highcard 2 {commitment} cards", "“cards” can be 1 to 5, not “”"),
        ("open highcard 2 {commitment} moon=full", "no option “moon”"),
        ("sit 0 word", "The server cannot play"),
        ("start", "The server cannot play"),
    ],
)
def test_a_table_with_wrong_words_is_not_opened(words, sentence):
    check_refused(Ledger(highcard), None, words.replace("{commitment}", "0" * 64), sentence)


def test_people_and_bots_sit_down_and_the_game_starts():
    ledger = Ledger(highcard)
    ledger.do(None, options.make_open_command(highcard, 2, SEED, {}))
    check_refused(ledger, None, "start", "when every seat is taken")
    check_refused(ledger, 0, "play 1", "has not begun")
    ledger.do(None, "sit 1 anna")
    ledger.do(None, "bot 0 clockwork")
    assert ledger.entries[-1].events == (Sat(0, "clockwork", bot=True),)
    assert [seat.status for seat in ledger.table.seats] == ["bot", "taken"]
    table = ledger.do(None, "start")
    assert ledger.entries[-1].events[0] == Started()
    assert table.phase == "playing"
    assert ledger.find_seats_to_move() == (0,)


def test_a_bot_replaces_a_player_before_the_start_and_keeps_the_nonce():
    ledger = Ledger(highcard)
    ledger.do(None, options.make_open_command(highcard, 2, SEED, {}))
    ledger.do(None, "sit 0 lantern")
    check_refused(ledger, None, "bot 0 another", "Seat 0 cannot be taken")
    ledger.do(None, "bot 0 lantern")
    assert (ledger.table.seats[0].status, ledger.table.seats[0].nonce) == ("bot", "lantern")
    check_refused(ledger, None, "bot 0 lantern", "Seat 0 cannot be taken")


@pytest.mark.parametrize(
    "words", ["sit 0 again", "sit 2 word", "sit -1 word", "sit x word", "sit ² word", "sit 1", "sit", "start now"]
)
def test_a_taken_or_missing_seat_is_refused(words):
    ledger = Ledger(highcard)
    ledger.do(None, options.make_open_command(highcard, 2, SEED, {}))
    ledger.do(None, "sit 0 anna")
    check_refused(ledger, None, words, "cannot play|no seat|cannot be taken")


def test_a_nonce_is_one_word():
    ledger = Ledger(highcard)
    ledger.do(None, options.make_open_command(highcard, 2, SEED, {}))
    check_refused(ledger, None, Move("sit", ("0", "two words")), "cannot be taken")


def test_every_nonce_changes_the_deal():
    hands = set()
    for nonce in ("a", "b", "c"):
        ledger = Ledger(highcard)
        ledger.do(None, options.make_open_command(highcard, 2, SEED, {}))
        ledger.do(None, f"sit 0 {nonce}")
        ledger.do(None, "sit 1 x")
        hands.add(ledger.do(None, "start").state.hands)
    assert len(hands) == 3


# Moves


def test_moves_are_judged_by_the_game():
    ledger = start_table(highcard, 2)
    check_refused(ledger, 1, "play 1", "not your turn")
    check_refused(ledger, 0, "play 99", "does not fit")
    check_refused(ledger, 7, "play 1", "no seat 7")
    check_refused(ledger, -1, "play 1", "no seat -1")
    check_refused(ledger, 0, "expire 1 play 5", "not possible")
    check_refused(ledger, 0, "relieve 1", "not one of your moves")
    assert ledger.do(0, ledger.pick_move(0, Random(1))).last.seat == 0


def test_the_end_of_the_game_ends_the_table():
    ledger = play_on(start_table(highcard, 3), Random(1))
    ended = ledger.entries[-1].events[-1]
    assert ended == Ended(ledger.table.state.places)
    assert ledger.table.phase == "over"
    for words in ("play 1", "undo", "resign"):
        check_refused(ledger, 0, words, "The game is over")
    for words in ("start", "sit 0 x", "expire 0 play 1", "substitute 0", "relieve 0"):
        check_refused(ledger, None, words, "The server cannot play")
    assert tables.list_commands(ledger.table, 0) == ()


# Resigning, running out of time, standing in


def test_a_bot_plays_on_for_a_seat_that_resigned():
    ledger = start_table(highcard, 3)
    table = ledger.do(1, "resign")
    assert ledger.entries[-1].events == (Resigned(1),)
    assert (table.seats[1].status, table.seats[1].resigned_at) == ("resigned", ledger.entries[-1].seq)
    assert tables.list_commands(table, 1) == ()
    check_refused(ledger, 1, "resign", "not possible")
    assert play_on(ledger, Random(1)).table.places[1] == 3


def test_when_all_but_one_have_resigned_the_table_ends():
    ledger = start_table(highcard, 3)
    ledger.do(2, "resign")
    table = ledger.do(0, "resign")
    assert ledger.entries[-1].events == (Resigned(0), Ended((2, 1, 3)))
    assert (table.phase, table.places) == ("over", (2, 1, 3))


def test_when_the_time_is_up_the_server_moves():
    ledger = start_table(highcard, 2)
    card = ledger.table.state.hands[0][0]
    check_refused(ledger, None, f"expire 1 play {card}", "not your turn")
    check_refused(ledger, None, "expire 0 play 99", "does not fit")
    check_refused(ledger, None, "expire 5 play 1", "no seat 5")
    check_refused(ledger, None, "expire 0", "The server cannot play")
    table = ledger.do(None, f"expire 0 play {card}")
    assert ledger.entries[-1].events[:2] == (TimedOut(0), highcard.Played(0, card))
    assert table.last.seat == 0


def test_a_substitute_or_a_bot_plays_on():
    ledger = start_table(highcard, 2)
    ledger.do(None, "relieve 0")
    assert ledger.entries[-1].events == (Substituted(0, bot=True),)
    assert ledger.table.seats[0].status == "bot"
    check_refused(ledger, 0, "undo", "not possible")
    ledger.do(None, "substitute 0")
    assert ledger.table.seats[0].status == "taken"
    check_refused(ledger, None, "substitute 2", "no seat 2")


def test_a_substitute_may_take_a_seat_that_resigned():
    ledger = start_table(highcard, 3)
    ledger.do(1, "resign")
    ledger.do(None, "substitute 1")
    assert ledger.table.seats[1].status == "taken"
    assert ledger.table.seats[1].nonce == "nonce-1"


# Undo


def test_undo_is_free_if_no_other_seat_could_act_and_nothing_was_drawn():
    """Seat 1 wins the trick and leads the next: no other seat has a menu."""
    ledger = play_low_cards()
    high = max(ledger.table.state.hands[1])
    before = ledger.table
    ledger.do(1, f"play {high}")
    assert ledger.find_seats_to_move() == (1,)
    assert tables.is_undo_free(highcard, ledger.table, 1, ledger.tables.__getitem__)
    ledger.do(1, "undo")
    assert ledger.entries[-1].events == (Undone(1, ledger.entries[-2].seq),)
    assert remove_length(ledger.table) == remove_length(before)


def test_undo_needs_consent_once_another_seat_could_act():
    ledger = start_table(highcard, 3)
    before = ledger.table
    ledger.do(0, ledger.pick_move(0, Random(1)))
    requested = ledger.do(0, "undo")
    assert ledger.entries[-1].events == (UndoAsked(0, before.length),)
    assert requested.undo_request == UndoRequest(0, before.length, (1, 2))
    assert tables.list_commands(requested, 1) == menu.make_menu("agree", "refuse", "resign")
    check_refused(ledger, 0, "agree", "not possible")
    check_refused(ledger, 0, "undo", "not possible")
    ledger.do(2, "agree")
    check_refused(ledger, 2, "agree", "not possible")
    after = ledger.do(1, "agree")
    assert ledger.entries[-1].events == (UndoAgreed(1), Undone(0, before.length))
    assert remove_length(after) == remove_length(before)


def test_one_refusal_ends_the_request_to_undo():
    ledger = play_low_cards(3)
    state = ledger.table.state
    ledger.do(0, "undo")
    ledger.do(2, "refuse")
    assert ledger.entries[-1].events == (UndoRefused(2),)
    assert (ledger.table.undo_request, ledger.table.state) == (None, state)
    check_refused(ledger, 1, "agree", "not possible")


def test_undo_also_undoes_later_moves_of_others():
    ledger = start_table(highcard, 3)
    before = ledger.table
    ledger.do(0, ledger.pick_move(0, Random(1)))
    ledger.do(1, ledger.pick_move(1, Random(1)))
    ledger.do(0, "undo")
    ledger.do(1, "agree")
    ledger.do(2, "agree")
    assert remove_length(ledger.table) == remove_length(before)


def test_a_request_to_undo_ends_with_a_move_or_when_a_player_leaves():
    ledger = play_low_cards(3)
    ledger.do(0, "undo")
    ledger.do(2, ledger.pick_move(2, Random(1)))
    assert ledger.table.undo_request is None
    for seat, words in ((1, "resign"), (None, "relieve 1"), (None, "substitute 1")):
        ledger = play_low_cards(3)
        ledger.do(0, "undo")
        ledger.do(seat, words)
        assert ledger.table.undo_request is None


def test_bots_and_seats_that_resigned_are_not_asked():
    ledger = play_low_cards(3)
    before = ledger.tables[ledger.table.last.before.seq]
    ledger.do(None, "relieve 1")
    ledger.do(2, "resign")
    ledger.do(0, "undo")
    assert ledger.entries[-1].events == (UndoAsked(0, before.length), Undone(0, before.length))
    assert ledger.table.state == before.state


def test_undo_after_a_draw_needs_consent():
    def decide(state, seat, move, chance):
        chance.reveal("the card below")
        return highcard.decide(state, seat, move, chance)

    ledger = play_low_cards(game=make_variant(highcard, decide=decide))
    ledger.do(1, f"play {max(ledger.table.state.hands[1])}")
    assert ledger.find_seats_to_move() == (1,)
    assert not tables.is_undo_free(ledger.game, ledger.table, 1, ledger.tables.__getitem__)
    ledger.do(1, "undo")
    assert ledger.table.undo_request


def test_a_seat_without_a_move_cannot_undo():
    ledger = start_table(highcard, 2)
    check_refused(ledger, 0, "undo", "not possible")
    ledger.do(0, ledger.pick_move(0, Random(1)))
    check_refused(ledger, 1, "undo", "not possible")
    assert not tables.is_undo_free(highcard, ledger.table, 1, ledger.tables.__getitem__)


def test_all_moves_can_be_undone_one_after_the_other():
    ledger = start_table(highcard, 2)
    fresh, random = ledger.table, Random(3)
    for _ in range(3):
        seat = ledger.find_seats_to_move()[0]
        ledger.do(seat, ledger.pick_move(seat, random))
    while ledger.table.last:
        seat = ledger.table.last.seat
        ledger.do(seat, "undo")
        if ledger.table.undo_request:
            ledger.do(1 - seat, "agree")
    assert remove_length(ledger.table) == remove_length(fresh)
    assert play_on(ledger, random).table.phase == "over"


@every_case
def test_undo_restores_the_exact_state(case):
    random = Random(5)
    ledger = start_table(case.game, case.seats, case.chosen)
    for _ in range(40):
        play_on(ledger, random, random.randrange(8))
        if ledger.table.phase == "over":
            break
        before, seat = ledger.table, random.choice(ledger.find_seats_to_move())
        ledger.do(seat, ledger.pick_move(seat, random))
        if ledger.table.phase == "over":
            break
        ledger.do(seat, "undo")
        while ledger.table.undo_request:
            ledger.do(ledger.table.undo_request.waiting[0], "agree")
        assert remove_length(ledger.table) == remove_length(before)


# The record


@every_case
def test_entries_alone_rebuild_the_table(case):
    ledger = play_eventfully(start_table(case.game, case.seats, case.chosen), Random(2), 400)
    decode = log.make_entry_decoder(case.game).decode
    read = [decode(canonical_json.encode(entry)) for entry in ledger.entries]
    assert read == ledger.entries
    for seq, table in enumerate(record.fold_each(case.game, read)):
        assert table == ledger.tables[seq]
    assert record.fold(case.game, read) == ledger.table
    assert record.fold(case.game, read, 3) == ledger.tables[3]


@every_case
def test_a_redacted_entry_has_only_what_hear_returns(case):
    ledger = play_eventfully(start_table(case.game, case.seats, case.chosen), Random(4), 150)
    for entry in ledger.entries:
        for seat in (*range(case.seats), None):
            copy = log.redact(case.game, entry, seat)
            events = [log.hear(case.game, event, seat) for event in entry.events]
            assert list(copy.events) == [event for event in events if event is not None]
            assert (copy.seq, copy.at, copy.seat, copy.edition) == (entry.seq, entry.at, entry.seat, entry.edition)
            if tuple(events) != entry.events:
                assert copy.draws == ()
                assert copy.move is None or entry.seat == seat is not None
            assert log.redact(case.game, copy, seat).events == copy.events


def test_a_hidden_hand_stays_hidden():
    ledger = start_table(highcard, 3)
    deal = ledger.entries[-1]
    for seat in range(3):
        copy = log.redact(highcard, deal, seat)
        assert [event.cards for event in copy.events[1:]] == [
            hand if other == seat else () for other, hand in enumerate(ledger.table.state.hands)
        ]
        assert (copy.move, copy.draws) == (None, ())


def test_a_hidden_move_is_shown_to_its_own_seat_alone_even_if_the_server_made_it():
    """In this variant cards are played face down: no other seat learns them."""

    def hear(event, seat):
        hidden = isinstance(event, highcard.Played) and event.seat != seat
        return replace(event, card=0) if hidden else highcard.hear(event, seat)

    game = make_variant(highcard, hear=hear)
    ledger = start_table(game, 3)
    ledger.do(0, f"play {ledger.table.state.hands[0][0]}")
    assert log.redact(game, ledger.entries[-1], 0) == ledger.entries[-1]
    assert log.redact(game, ledger.entries[-1], 1).move is None
    card = ledger.table.state.hands[1][0]
    ledger.do(None, f"expire 1 play {card}")
    assert (
        str(card) not in canonical_json.encode(replace(log.redact(game, ledger.entries[-1], 2), at=0, seq=0)).decode()
    )
    assert log.redact(game, ledger.entries[-1], 1).events == (TimedOut(1), highcard.Played(1, card))


@pytest.mark.parametrize("game", all_games(), ids=lambda game: game.META.name)
def test_events_of_the_table_are_public(game):
    for event in (Sat(0, "x"), Started(), Resigned(0), TimedOut(0), UndoAsked(0, 3), Undone(0, 3), Ended((1, 2))):
        assert log.hear(game, event, 1) == log.hear(game, event, None) == event


def test_an_undo_without_its_earlier_table_is_an_error():
    with pytest.raises(AssertionError, match="nobody expected"):
        record.apply(highcard, start_table(highcard, 2).table, Entry(4, 0, 0, "undo", (), (Undone(0, 3),), 1))
