"""Requests that were read before the places of their workspace changed: nothing old enters what is new."""

import secrets

import pytest

from sfumato_studio.state import Studio

from .conftest import optimized

FIRST = {"kind": "values", "first": 18, "last": 29}
SECOND = {"kind": "values", "first": 18, "last": 24}


@pytest.fixture
def mine(cities):
    found = cities()
    found.post("/example", {"example": "ages"})
    found.put("/site", FIRST)
    return found


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("path", "body"), [("/designs", {"epsilon": 0.5}), ("/compare", {"level": 5}), ("/optimize", {})]
)
def test_no_job_starts_for_places_that_are_gone(mine, monkeypatch, path, body):
    mine.levels()
    true_domain = Studio.domain
    changed: list[bool] = []

    def slow(studio, workspace):
        domain = true_domain(studio, workspace)
        if not changed:  # while the request waits for its domain
            changed.append(True)
            mine.put("/site", SECOND)
        return domain

    monkeypatch.setattr(Studio, "domain", slow)
    error = mine.post(path, body, 409)
    assert "changed at this moment" in error["message"]
    now = mine.get()
    assert now["jobs"] == []
    assert now["site"]["n"] == 7


def test_a_design_for_other_places_is_refused_in_plain_words(mine):
    optimized(mine, 1)
    design = mine.levels()["levels"][0]
    store = mine.studio.app.state.studio.store
    facts = store.design(mine.id, design["design"])["facts"]
    other = secrets.token_hex(8)
    store.add_design(mine.id, "0" * 16, other, frontier=False, facts={**facts, "n": facts["n"] + 1})
    (store.files(mine.id) / "designs" / f"{other}.sfm").write_bytes(b"")
    error = mine.get("/preview", 409, design=other, at=1)
    assert "other places or values" in error["message"]
    error = mine.post("/share", {"design": other, "at": 1, "times": 1}, 409)
    assert "other places or values" in error["message"]
