"""The document of the JSON interface lists every route, its examples work, and it holds for any request."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from engine import catalogue
from service import create_app
from service.app import App
from service.tables import access
from service.tables.opening import Invitee
from service.text.languages import LANGUAGES
from service.web.api import openapi
from service.web.api.requests import Language
from service.web.api.routes import make_document
from tests import apps
from workers import referee

CONTENT = "application/json"


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Iterator[App]:
    """An app where the referee judges at once, and no letters leave."""
    with apps.run_app(apps.make_settings(tmp_path_factory.mktemp("app")), apps.FakeTime()) as app:
        app.wakeups.wake = lambda queue: referee.run() if queue == "referee" else None  # type: ignore[method-assign]
        yield app


@pytest.fixture(scope="module")
def links(app) -> list[str]:
    """Return links of every kind: for each game a seat and a spectator at a running table, and a seat at a new one."""
    links = []
    for number, (name, game) in enumerate(catalogue.find_all().items()):
        guests = [Invitee(one, f"{one}{number}@example.org") for one in apps.NAMES[: min(game.META.seats)]]
        new_table = apps.open_new(app, name, {}, guests, 0)
        for link in new_table.links:
            apps.submit(app, access.find(app, link), "sit word")
        links += [new_table.links[0], new_table.watch]
    return [*links, apps.open_new(app, name, {}, guests, 0).links[1]]


def test_every_route_is_documented_and_every_document_is_a_route(app):
    prefix = "/api/v1"
    served = {
        (method, openapi.format_path(str(rule)).removeprefix(prefix))
        for rule in create_app(app).url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if str(rule).startswith(f"{prefix}/")
    }
    documented = {
        (method.upper(), path) for path, operations in make_document()["paths"].items() for method in operations
    }
    assert served == documented


def test_every_reference_leads_somewhere():
    text = json.dumps(make_document())
    components = make_document()["components"]["schemas"]
    referenced = {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}
    assert referenced == components.keys()
    assert not [name for name in components if name.startswith(("engine.", "service."))]


def test_every_operation_and_every_argument_is_explained():
    for path, operations in make_document()["paths"].items():
        for operation in operations.values():
            assert operation["summary"], path
            assert all(parameter["description"] for parameter in operation.get("parameters", ())), path


def test_the_languages_are_those_we_speak():
    assert set(get_args(Language)) == LANGUAGES.keys()


def test_the_examples_work(app):
    """Open a table as the example says, sit down as it says; the move was once on the menu of a table like that."""
    paths, client = make_document()["paths"], create_app(app).test_client()

    def example(path: str) -> Any:
        return paths[path]["post"]["requestBody"]["content"][CONTENT]["example"]

    new_table = client.post("/api/v1/tables", json=example("/tables"))
    assert new_table.status_code == 201
    link = new_table.json["links"][0]
    assert client.post(f"/api/v1/t/{link}/sit", json=example("/t/{link}/sit")).json["accepted"]
    answer = client.post(f"/api/v1/t/{link}/moves", json=example("/t/{link}/moves"))
    assert answer.status_code in (200, 422)
    assert "JSON" not in answer.json.get("refused", "")


class Door:
    """The WSGI application of the app; it replaces `PLACEHOLDER` in paths by one real link after the other."""

    def __init__(self) -> None:
        self.app: Any = None
        self.links: Iterator[str] = iter(())

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        path = environ["PATH_INFO"]
        if PLACEHOLDER in path:
            environ["PATH_INFO"] = path.replace(PLACEHOLDER, next(self.links))
        return self.app(environ, start)


door = Door()


@pytest.fixture(scope="module", autouse=True)
def filled_door(app, links) -> None:
    door.app, door.links = create_app(app), itertools.cycle(links)


@pytest.fixture
def schema(examples: int, links_of_requests: Any) -> Any:
    """The document as Schemathesis reads it, with so many examples of each kind, the same every time."""
    import schemathesis  # here, because it takes a second in each process that collects this file
    from schemathesis.config import (
        ChecksConfig,
        CoveragePhaseConfig,
        GenerationConfig,
        PhasesConfig,
        ProjectConfig,
        ProjectsConfig,
        SchemathesisConfig,
    )

    is_real = links_of_requests is REAL_LINK  # elsewhere a link that leads nowhere is refused, whatever else is wrong
    generation = GenerationConfig(max_examples=examples, deterministic=True)
    phases = PhasesConfig(coverage=CoveragePhaseConfig(enabled=is_real or examples > FEW_EXAMPLES))
    checks = ChecksConfig.from_dict(CHECKS)
    projects = ProjectsConfig(default=ProjectConfig(generation=generation, phases=phases, checks=checks))
    document = copy.deepcopy(make_document())
    for operations in document["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "link":
                    parameter["schema"] = links_of_requests
    read = schemathesis.openapi.from_dict(document, config=SchemathesisConfig(projects=projects))
    read.app = door
    return read


FEW_EXAMPLES, MORE_EXAMPLES = 2, 10
CHECKS = {"negative_data_rejection": {"expected-statuses": [400, 404, 405, 413, 415, 422]}}
PLACEHOLDER = "somebodysomebodysomebodysomebody"
REAL_LINK, ANY_LINK = {"const": PLACEHOLDER}, openapi.PATH_PARAMETERS["link"][1]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "examples",
    [
        FEW_EXAMPLES,
        pytest.param(MORE_EXAMPLES, marks=pytest.mark.release),
        pytest.param(200, marks=pytest.mark.soak),
    ],
)
@pytest.mark.parametrize("links_of_requests", [ANY_LINK, REAL_LINK], ids=["any link", "real tables"])
@pytest.mark.usefixtures("schema")
def test_the_document_holds_for_any_request(request: pytest.FixtureRequest, links_of_requests: Any) -> None:
    import schemathesis
    from schemathesis.checks import positive_data_acceptance

    operations = schemathesis.pytest.from_fixture("schema")
    if links_of_requests is ANY_LINK:
        operations = operations.include(path_regex="{link}")

    @operations.parametrize()
    def check_operation(case: Any) -> None:
        # What the document allows may still be no legal move, and so be refused: that is what 422 is for.
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    check_operation(request=request)
