"""Each owed notice leaves by each channel of its reader that wants it: at least once, and only while it is true."""

from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import select, update

from service import timing
from service.app import App
from service.notify import channels
from service.notify.channels import NewChannel, Notice, SenderAnswer
from service.people.letter_settings import LetterSettings, dump_settings
from service.people.proof import ProvenPerson
from service.store import channel_queries, queries
from service.store.channel_queries import ChannelRow
from service.store.schema import channels as channel_table
from service.store.schema import deliveries as delivery_table
from service.store.schema import letters, people, seats
from service.tables.access import Place
from service.timing import Calendar, dump_calendar
from tests import apps
from tests.apps import FakeTime
from tests.servers import Sink
from workers.outgoing import channel_deliveries, post

KIND = "pigeon"


class Loft:
    """The other end of a channel; it takes what it is sent, or answers as it is set to."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self.answer = SenderAnswer("sent")

    def send(self, _: App, channel: ChannelRow, notice: Notice) -> SenderAnswer:
        self.notices.append(notice)
        return self.answer


@pytest.fixture
def loft(monkeypatch: pytest.MonkeyPatch) -> Loft:
    one = Loft()
    monkeypatch.setitem(channel_deliveries.SENDERS, KIND, one.send)
    return one


def add_channel(app: App, place: Place, **others: Any) -> int:
    with app.store.writing() as db:
        new = NewChannel(KIND, "Loft", "https://loft.example.org", **others)
        return channels.add(db, find_person(app, place), new, app.now())


def find_person(app: App, place: Place) -> ProvenPerson:
    own = select(seats.c.person).where(seats.c.table == place.table, seats.c.seat == place.seat)
    with app.store.reading() as db:
        return ProvenPerson(db.execute(own).scalar_one())


def find_channel(app: App, place: Place) -> ChannelRow:
    (one,) = apps.run_query(app, channels.list_own, find_person(app, place))
    return one


def list_outcomes(app: App) -> list[str]:
    """Return the outcomes of all deliveries but those of the letter that says that the channel was added."""
    joined = delivery_table.join(letters, letters.c.id == delivery_table.c.letter)
    query = select(delivery_table.c.outcome).select_from(joined).where(~letters.c.kind.startswith("added/"))
    with app.store.reading() as db:
        return list(db.execute(query.order_by(delivery_table.c.id)).scalars())


def start(app: App, **others: Any) -> tuple[Place, Place, str]:
    """Start a game whose second mover has a channel; return both places and the move of the first."""
    places = apps.start_table(app, pace=3 * 86_400)
    mover, move = apps.find_move(app, places)
    waiting = apps.find_waiting(app, places)
    add_channel(app, waiting, **others)
    channel_deliveries.run()
    with app.store.writing() as db:
        db.execute(update(letters).values(sent_at=app.now()))
    return mover, waiting, move


def give_turn(app: App, *places: Place) -> Place:
    """Move until it is the turn of the other player; return that player's place."""
    mover, _ = apps.find_move(app, list(places))
    while (now := apps.find_move(app, list(places)))[0] == mover:
        assert apps.submit(app, *now).accepted
    return now[0]


def test_a_turn_is_told_by_each_channel_before_the_letter_leaves(any_app: App, loft: Loft) -> None:
    mover, waiting, _ = start(any_app)
    loft.notices.clear()
    give_turn(any_app, mover, waiting)
    channel_deliveries.run()
    (notice,) = loft.notices
    assert (notice.kind, notice.group, notice.table) == ("turn", "turn", waiting.table)
    assert notice.sentence.endswith("it is your turn.")
    assert notice.link == f"{any_app.settings.address}/t/{waiting.link}"
    assert notice.waiting == 1
    assert notice.deadline is not None
    assert find_channel(any_app, waiting).ok_at == any_app.now()
    channel_deliveries.run()
    assert len(loft.notices) == 1


def test_a_letter_that_the_post_claims_first_is_delivered_too(any_app: App, loft: Loft) -> None:
    mover, waiting, _ = start(any_app)
    loft.notices.clear()
    give_turn(any_app, mover, waiting)
    any_app.relay = "smtp://127.0.0.1:1"
    post.run()
    with any_app.store.writing() as db:
        db.execute(update(letters).values(sent_at=any_app.now()))
    channel_deliveries.run()
    assert [notice.kind for notice in loft.notices] == ["turn"]


def test_a_move_that_is_made_in_time_withdraws_the_notice(any_app: App, loft: Loft) -> None:
    mover, waiting, _ = start(any_app)
    loft.notices.clear()
    loft.answer = SenderAnswer("retry", "503")
    give_turn(any_app, mover, waiting)
    channel_deliveries.run()
    give_turn(any_app, mover, waiting)
    loft.answer = SenderAnswer("sent")
    any_app.now.advance(60)  # type: ignore[attr-defined]
    channel_deliveries.run()
    assert len(loft.notices) == 1
    assert "withdrawn" in list_outcomes(any_app)


def test_a_failure_is_retried_with_the_same_id_and_growing_pauses(any_app: App, clock: FakeTime, loft: Loft) -> None:
    mover, waiting, _ = start(any_app)
    loft.notices.clear()
    loft.answer = SenderAnswer("retry", "503")
    give_turn(any_app, mover, waiting)
    channel_deliveries.run()
    clock.advance(timing.FIRST_PAUSE_S - 1)
    channel_deliveries.run()
    assert len(loft.notices) == 1
    clock.advance(1)
    channel_deliveries.run()
    clock.advance(2 * timing.FIRST_PAUSE_S)
    loft.answer = SenderAnswer("sent")
    channel_deliveries.run()
    assert len(loft.notices) == 3
    assert len({notice.id for notice in loft.notices}) == 1
    assert find_channel(any_app, waiting).failures == 0


def test_a_process_that_dies_at_any_point_loses_no_notice(any_app: App, clock: FakeTime, loft: Loft) -> None:
    mover, waiting, _ = start(any_app)
    loft.notices.clear()
    give_turn(any_app, mover, waiting)
    assert channel_deliveries.claim(any_app)  # it dies before it sends
    channel_deliveries.run()
    assert loft.notices == []
    clock.advance(any_app.settings.lease)
    (claimed,) = channel_deliveries.claim(any_app)
    prepared = channel_deliveries.prepare(any_app, claimed)
    assert prepared is not None
    assert channel_deliveries.send(any_app, prepared).outcome == "sent"  # it dies before it records that
    clock.advance(any_app.settings.lease)
    channel_deliveries.run()
    assert len(loft.notices) == 2
    assert loft.notices[0].id == loft.notices[1].id


def test_a_channel_that_fails_for_days_is_switched_off_and_its_owner_gets_a_letter(
    any_app: App, clock: FakeTime, loft: Loft
) -> None:
    mover, waiting, _ = start(any_app)
    channel = find_channel(any_app, waiting)
    for _ in range(channels.FAILING_MIN_TIMES):
        clock.advance(channels.FAILING_MAX_S // channels.FAILING_MIN_TIMES + 3_600)
        with any_app.store.writing() as db:
            channels.record_failure(db, find_channel(any_app, waiting), any_app.now(), "500")
    assert find_channel(any_app, waiting).disabled_at == any_app.now()
    loft.notices.clear()
    give_turn(any_app, mover, waiting)
    channel_deliveries.run()
    assert loft.notices == []
    with any_app.store.reading() as db:
        kinds = db.execute(select(letters.c.kind).where(letters.c.person == channel.person)).scalars().all()
    assert f"channel/{channel.id}" in [kind.rpartition("/")[0] for kind in kinds]


def test_quiet_hours_hold_a_notice_back(any_app: App, clock: FakeTime, loft: Loft) -> None:
    mover, waiting, _ = start(any_app)
    loft.notices.clear()
    hour = any_app.now() // 3_600 % 24
    quiet = dump_calendar(Calendar(quiet=(hour, (hour + 8) % 24)))
    with any_app.store.writing() as db:
        db.execute(update(people).values(calendar=quiet))
    give_turn(any_app, mover, waiting)
    channel_deliveries.run()
    assert loft.notices == []
    clock.advance(8 * 3_600)
    channel_deliveries.run()
    assert len(loft.notices) == 1


def test_a_channel_gets_the_groups_that_its_owner_chose(any_app: App, loft: Loft) -> None:
    mover, waiting, _ = start(any_app, groups=("news",))
    give_turn(any_app, mover, waiting)
    channel_deliveries.run()
    assert loft.notices == []
    assert "not wanted" in list_outcomes(any_app)


def test_a_new_link_of_the_seat_ends_the_channels_that_were_added_by_the_old_one(any_app: App, loft: Loft) -> None:
    mover, waiting, _ = start(any_app)
    with any_app.store.writing() as db:
        own = channel_table.c.id == find_channel(any_app, waiting).id
        db.execute(update(channel_table).where(own).values(table=waiting.table, link_number=0))
        queries.change_seat(db, waiting.table, waiting.seat or 0, link_number=1)
    loft.notices.clear()
    give_turn(any_app, mover, waiting)
    channel_deliveries.run()
    assert loft.notices == []


def test_a_seat_that_has_another_player_sends_nothing_to_the_former_one(any_app: App, loft: Loft) -> None:
    mover, waiting, _ = start(any_app)
    loft.notices.clear()
    give_turn(any_app, mover, waiting)
    (claimed,) = channel_deliveries.claim(any_app)
    assert claimed.owed is not None
    assert claimed.channel is not None
    other = replace(claimed.owed, request=replace(claimed.owed.request, person=claimed.channel.person + 1))
    assert channel_deliveries.find_obstacle(other, claimed.channel) == "withdrawn"


def test_deliveries_are_deleted_weeks_later_and_with_their_channel(any_app: App, clock: FakeTime, loft: Loft) -> None:
    mover, waiting, _ = start(any_app)
    give_turn(any_app, mover, waiting)
    channel_deliveries.run()
    counted = apps.run_query(any_app, channel_queries.count_outcomes, 0)
    assert (KIND, "sent") in [row[:2] for row in counted]
    with any_app.store.writing() as db:
        channels.remove(db, find_person(any_app, waiting), find_channel(any_app, waiting).id)
    assert list_outcomes(any_app) == []


def test_a_letter_waits_two_hours_for_a_move_if_another_channel_took_the_notice(
    any_app: App, clock: FakeTime, loft: Loft
) -> None:
    mover, waiting, _ = start(any_app)
    with any_app.store.writing() as db:
        db.execute(update(people).values(letter_settings=dump_settings(LetterSettings(mail_waits=True))))
    give_turn(any_app, mover, waiting)
    channel_deliveries.run()
    (letter,) = post.claim(any_app)
    assert post.settle_unsendable(any_app, letter)
    clock.advance(post.MAIL_WAIT_S)
    (letter,) = post.claim(any_app)
    assert not post.settle_unsendable(any_app, letter)


def test_a_letter_leaves_at_once_if_no_other_channel_took_the_notice(any_app: App, loft: Loft) -> None:
    mover, waiting, _ = start(any_app)
    loft.answer = SenderAnswer("refused", "413")
    with any_app.store.writing() as db:
        db.execute(update(people).values(letter_settings=dump_settings(LetterSettings(mail_waits=True))))
    give_turn(any_app, mover, waiting)
    channel_deliveries.run()
    (letter,) = post.claim(any_app)
    assert not post.settle_unsendable(any_app, letter)


def find_notice(loft: Loft, kind: str) -> Notice:
    (one,) = [notice for notice in loft.notices if notice.kind == kind]
    return one


@pytest.mark.parametrize("by_mail", [False, True])
def test_remarks_go_by_a_channel_that_wants_them_and_by_mail_only_if_wished(
    any_app: App, clock: FakeTime, loft: Loft, smtp_sink: Sink, by_mail: bool
) -> None:
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    mover, waiting, _ = start(any_app, groups=["talk"])
    if by_mail:
        with any_app.store.writing() as db:
            own = people.c.id == find_person(any_app, waiting).id
            db.execute(update(people).where(own).values(letter_settings=dump_settings(LetterSettings(talk=True))))
    apps.say(any_app, mover, "Well played!")
    clock.advance(20)
    apps.say(any_app, mover, "Shall we pause?")
    channel_deliveries.run()
    assert loft.notices == []  # a minute later, with all that was said
    clock.advance(61)
    channel_deliveries.run()
    post.run()
    name = apps.load_table(any_app, mover.table).names[mover.seat or 0]
    assert find_notice(loft, "talk").sentence == f"{name}: Well played!\n{name}: Shall we pause?"
    assert len(smtp_sink.letters) == by_mail
    apps.say(any_app, mover, "Later")
    clock.advance(61)
    channel_deliveries.run()
    assert loft.notices[-1].sentence == f"{name}: Later"


def test_the_notice_of_a_pause_says_who_asked_for_it(any_app: App, loft: Loft) -> None:
    mover, waiting, _ = start(any_app, groups=["news"])
    assert apps.submit(any_app, waiting, "pause").accepted
    assert apps.submit(any_app, mover, "agree").accepted
    channel_deliveries.run()
    name = apps.load_table(any_app, waiting.table).names[waiting.seat or 0]
    assert find_notice(loft, "paused").sentence.startswith(f"{name} asked for a pause, and the table pauses;")


def test_no_remark_goes_by_a_channel_that_does_not_want_them(any_app: App, clock: FakeTime, loft: Loft) -> None:
    mover, _, _ = start(any_app)
    apps.say(any_app, mover, "Well played!")
    clock.advance(61)
    channel_deliveries.run()
    assert "talk" not in [notice.kind for notice in loft.notices]


def test_the_daily_list_goes_by_a_channel_that_wants_it_and_no_letter_more(
    any_app: App, clock: FakeTime, loft: Loft, smtp_sink: Sink
) -> None:
    any_app.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    mover, waiting, _ = start(any_app, groups=["digest"])
    give_turn(any_app, mover, waiting)
    post.run()
    assert len(smtp_sink.letters) == 1  # for the turn, as before
    assert loft.notices == []
    for _ in range(25):
        clock.advance(3_600)
        post.run()
        channel_deliveries.run()
    assert find_notice(loft, "digest").sentence == "It is your turn at one table"
    assert [one["Subject"] for one in smtp_sink.letters if "It is your turn at" in one["Subject"]] == []
