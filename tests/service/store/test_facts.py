"""The newest value of a fact holds, and several processes may store it at once."""

from concurrent.futures import ThreadPoolExecutor

from service.app import App
from service.store import queries


def test_the_newest_word_holds_and_an_empty_one_takes_the_fact_away(any_app: App) -> None:
    with any_app.store.writing() as connection:
        for value in ("one", "two"):
            queries.set_fact(connection, "a fact", value)
            assert queries.get_facts(connection, ["a fact", "another"]) == {"a fact": value}
        queries.set_fact(connection, "a fact", "")
        assert queries.get_facts(connection, ["a fact"]) == {}


def test_many_may_note_the_same_fact_at_once(any_app: App) -> None:
    def store_fact(number: int) -> None:
        with any_app.store.writing() as connection:
            queries.set_fact(connection, "a fact", str(number))

    with ThreadPoolExecutor(8) as crowd:
        list(crowd.map(store_fact, range(40)))
    with any_app.store.reading() as connection:
        assert int(queries.get_facts(connection, ["a fact"])["a fact"]) in range(40)
