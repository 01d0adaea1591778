"""Metrics are right over several processes, and only the host reads them."""

from prometheus_client.parser import text_string_to_metric_families

from service.app import App
from service.monitoring import Metrics
from service.settings import Settings
from service.store.schema import letters
from tests.sites import Site, Visitor


def figures(page: str) -> dict[str, float]:
    """Return each figure by its name and its labels; the bound of a bucket is last."""
    return {
        " ".join([sample.name, *(value for _, value in sorted(sample.labels.items(), key=_step_last))]): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


def _step_last(label: tuple[str, str]) -> bool:
    return label[0] == "le"


def test_moves_and_verdicts_are_counted(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    site.submit(opened, site.list_moves(opened)[0])
    visitor.submit(opened.links[site.find_mover(opened)], "no such move")
    values = figures(visitor.get("/metrics"))
    assert values["depesche_moves_total accepted"] == 3  # two sat down, one moved
    assert values["depesche_moves_total refused"] == 1
    assert values["depesche_verdict_seconds_count page"] >= 2
    assert values["depesche_verdict_seconds_bucket page +Inf"] == values["depesche_verdict_seconds_count page"]
    assert values["depesche_tables playing"] == 1


def test_steps_of_a_time_add_up_and_what_is_slower_counts_in_the_sum(site: Site, visitor: Visitor) -> None:
    for seconds in (0.001, 0.015, 0.015, 60):
        site.app.metrics.add_duration("thinking_seconds", "strong", seconds)
    values = figures(visitor.get("/metrics"))
    steps = {
        name.rsplit(" ", 1)[1]: value
        for name, value in values.items()
        if name.startswith("depesche_thinking_seconds_b")
    }
    assert (steps["0.005"], steps["0.01"], steps["0.02"], steps["5.0"], steps["+Inf"]) == (1, 1, 3, 3, 4)
    assert values["depesche_thinking_seconds_sum strong"] == 60.031


def test_processes_count_together(app: App) -> None:
    first, second = Metrics(app.redis), Metrics(app.redis)
    first.count("moves", "accepted")
    second.count("moves", "accepted")
    second.flush()
    assert first.load() == {"moves|accepted|count": 2}


def test_without_redis_what_was_counted_is_kept_until_it_is_back(app: App) -> None:
    metrics = Metrics(app.redis)
    app.redis.connection_pool.connection_kwargs["server"].connected = False
    metrics.count("moves", "accepted")
    metrics.flush()
    assert metrics.load() == {}
    app.redis.connection_pool.connection_kwargs["server"].connected = True
    assert metrics.load() == {"moves|accepted|count": 1}


def test_what_waits_tells_since_when(site: Site, visitor: Visitor) -> None:
    site.judging = False
    opened = site.open_table()
    visitor.post(f"/t/{opened.links[0]}/sit", nonce="a word")
    site.time += 90
    values = figures(visitor.get("/metrics"))
    assert (values["depesche_submissions_waiting"], values["depesche_submissions_oldest_seconds"]) == (1, 90)
    with site.app.store.reading() as connection:
        owed = connection.execute(letters.select()).all()
    assert values["depesche_letters_owed"] == len(owed) > 0


def test_no_figure_names_a_link_or_an_address(site: Site, visitor: Visitor) -> None:
    opened = site.start_table()
    page = visitor.get("/metrics")
    assert not any(word in page for word in (*opened.links, opened.watch, opened.table, "example.org"))


def test_strangers_read_metrics_only_with_the_hosts_password(site: Site, visitor: Visitor) -> None:
    remote = {"environ_base": {"REMOTE_ADDR": "192.0.2.7"}}
    assert visitor.client.get("/metrics", **remote).status_code == 404
    assert visitor.client.get("/metrics", headers={"Authorization": "Bearer "}, **remote).status_code == 404
    site.app.settings = Settings(folder=site.app.settings.folder, metrics="of the host")
    for word, status in (("of the host", 200), ("of a guest", 404)):
        answer = visitor.client.get("/metrics", headers={"Authorization": f"Bearer {word}"}, **remote)
        assert answer.status_code == status


def test_a_process_is_ready_while_database_and_redis_answer(site: Site, visitor: Visitor) -> None:
    assert visitor.client.get("/readyz").json == {"ok": True}
    site.app.store.engine.dispose()
    with site.app.store.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    assert visitor.client.get("/readyz").status_code == 503
