"""A seat whose log tells half of its link gets another one by letter; every other link stays."""

import pytest
from sqlalchemy import delete, select

from engine.refusal import Refused
from service.house import House
from service.store.schema import house as facts
from service.store.schema import letters
from service.tables import access, half_links
from tests import houses
from tests.servers import Sink
from workers.outgoing import post


def test_a_seat_whose_log_tells_half_of_its_link_gets_another_one_by_letter(any_house: House, smtp_sink: Sink) -> None:
    any_house.relay = f"smtp://{smtp_sink.hostname}:{smtp_sink.port}"
    told, kept = houses.opened(any_house)
    assert houses.judged(any_house, told, f"sit {told.link[:16]}").accepted
    assert houses.judged(any_house, kept, "sit word").accepted
    post.deliver()
    before = len(smtp_sink.letters)
    half_links.renew(any_house)
    with pytest.raises(Refused, match="newest letter"):
        access.find(any_house, told.link)
    assert access.find(any_house, kept.link) == kept
    post.deliver()
    (letter,) = smtp_sink.letters[before:]
    text = letter.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    assert "half of the old one" in " ".join(text.split())
    link = text.split("/t/")[1].split()[0]
    assert access.find(any_house, link).seat == told.seat
    assert access.answered(any_house, str(letter["Reply-To"]).removeprefix("play+").partition("@")[0]).link == link


def test_links_are_renewed_once_however_many_processes_start(house: House) -> None:
    told, _ = houses.opened(house)
    assert houses.judged(house, told, f"sit {told.link[:16]}").accepted
    for _ in range(3):
        half_links.renew(house)
        with house.store.writing() as connection:
            connection.execute(delete(facts).where(facts.c.name == half_links.DONE))
    with house.store.reading() as connection:
        assert len(connection.execute(select(letters).where(letters.c.kind == "seat/link")).all()) == 1


def test_a_game_that_is_over_keeps_its_links(house: House) -> None:
    told, other = houses.opened(house)
    assert houses.judged(house, told, f"sit {told.link[:16]}").accepted
    assert houses.judged(house, other, "sit word").accepted
    for place in (told, other):
        houses.judged(house, place, "resign")
    half_links.renew(house)
    assert access.find(house, told.link) == told
