"""News of tables for chats: claimed once by one worker, on each kind of database."""

from sqlalchemy import insert

from service.app import App
from service.notify import followers
from service.store import queries
from service.store.schema import followers as follower_table
from tests import apps
from workers import clock
from workers.outgoing import follower_news


def test_news_is_leased_by_one_worker_and_the_clock_finds_what_is_left(any_app: App) -> None:
    anna, bert = apps.start_table(any_app)
    with any_app.store.writing() as db:
        row = queries.find_table(db, anna.table)
        person = queries.list_seats(db, anna.table)[0].person
        assert row is not None
        words = {"table": row.id, "person": person, "kind": "discord", "address": "https://example.org/hook"}
        numbers = {"next_seq": row.length, "created_at": 0, "due_at": 0}
        db.execute(insert(follower_table), {**words, **numbers, "language": "en"})
    assert "followers" not in apps.load(any_app, clock.find_due).queues
    assert apps.submit(any_app, bert, "resign").accepted
    assert "followers" in apps.load(any_app, clock.find_due).queues
    assert follower_news.is_waiting(any_app)
    with any_app.store.writing() as db:
        (follower,) = followers.lease(db, any_app.now(), 120)
    assert follower.end_seq == apps.load_table(any_app, anna.table).row.length
    with any_app.store.writing() as db:
        assert not followers.lease(db, any_app.now(), 120)
    assert not follower_news.is_waiting(any_app)
    message = follower_news.write(any_app, follower)
    assert message is not None
    assert "Berta" in message.sentence
    with any_app.store.writing() as db:
        followers.record_sent(db, follower, any_app.now())
    assert not follower_news.is_waiting(any_app)
