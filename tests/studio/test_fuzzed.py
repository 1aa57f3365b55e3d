"""Requests by schemathesis: what the description allows is answered as it says, and nothing breaks the studio."""

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from .conftest import DESIGNS, PATIENCE_S, TOKEN, Running, Visitor, optimized
from .fitted import Fitted

DESCRIBED = json.loads((Path(__file__).parents[2] / "studio" / "web" / "openapi.json").read_text(encoding="utf-8"))
PROCESSES = re.compile(r"/(file|optimize|compare|designs|resume|report\.html|report\.json)$")
"""Routes that start a process."""
JUDGED = re.compile(r"/(outline|file|world)$")
"""Routes with a file as body, or a box: no schema says which files can be read, or orders the sides of a box."""

ROUTES = [(method, path) for path, methods in DESCRIBED["paths"].items() for method in methods]
QUICK = [
    (method, path)
    for method, path in ROUTES
    if not PROCESSES.search(path) or (method == "get" and "/report." not in path)
]
NAMED = {"preview", "notions", "takeaway", "mechanism.sfm", "script.py", "report.html", "report.json"}
"""Routes with the mechanism in their query."""
QUIET: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.explicit, Phase.generate],
}


@functools.cache
def schema():
    """Return the description as schemathesis reads it, which takes a second."""
    import schemathesis

    return schemathesis.openapi.from_dict(DESCRIBED)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    running = Running(tmp_path_factory.mktemp("studio"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def made(studio):
    """Return a function that makes a workspace of ages and designs."""

    def one():
        visitor = Visitor(studio)
        visitor.post("/example", {"example": "ages"})
        visitor.put("/site", {"kind": "values", "first": 18, "last": 27})
        return optimized(visitor, DESIGNS)

    return one


@pytest.fixture(scope="module")
def kept(made):
    """The workspace whose id many requests have, until one of them starts it over."""
    return [made()]


@pytest.fixture
def target(kept, made):
    """A workspace with all its designs, made again if requests changed the last one."""
    if kept[0].get()["site"] is None or kept[0].get()["site"]["n"] != 10:
        kept[0] = made()
    return kept[0]


def tried(route, target, examples):
    """Send requests that the description allows, and others that it does not."""
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    method, path = route
    operation = schema()[path][method]
    always = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
        checks.negative_data_rejection,
    ]
    designs = [each["design"] for each in target.levels()["levels"]]
    fitted = Fitted(target)

    def send(case):
        inside = case.path_parameters or {}
        if case.meta is None or case.meta.generation.mode is GenerationMode.POSITIVE:
            if "workspace" in inside and method != "delete":
                inside["workspace"] = target.id
            if "design" in inside and designs and method != "delete":
                inside["design"] = designs[0]
            if isinstance(case.body, dict):
                case.body = fitted.fit(path, case.body)
            elif path.rpartition("/")[2] in NAMED:
                case.query = fitted.fit(path, case.query or {})
        answer = case.call(base_url=target.studio.url, headers={"X-Sfumato-Token": TOKEN}, timeout=PATIENCE_S)
        # A request may have started the workspace over, and a job that another began may still end.
        judged = JUDGED.search(path) or answer.status_code in (409, 429)
        case.validate_response(answer, checks=always if judged else [*always, checks.positive_data_acceptance])
        for job in target.get()["jobs"]:
            if job["status"] == "running":
                target.studio.client.post(f"{target.base}/jobs/{job['id']}/cancel")

    # Without a part of the path to choose, there is nothing to send wrong.
    for mode in GenerationMode if "{" in path else [GenerationMode.POSITIVE]:
        settings(max_examples=examples, **QUIET)(given(operation.as_strategy(mode))(send))()


@pytest.mark.thinned(3)
@pytest.mark.parametrize("route", QUICK, ids=" ".join)
def test_what_is_described_is_what_happens(route, target):
    tried(route, target, 2)


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_what_is_described_is_what_happens_for_longer(route, target):
    tried(route, target, 12)
