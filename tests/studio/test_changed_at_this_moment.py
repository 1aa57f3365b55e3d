"""Requests that were read before the places of their workspace changed: nothing old enters what is new."""

import secrets

import pytest

from sfumato_studio.state import Studio

from .conftest import designed

FIRST = {"kind": "values", "first": 18, "last": 29}
SECOND = {"kind": "values", "first": 18, "last": 24}


@pytest.fixture
def mine(cities):
    found = cities()
    found.post("/example", {"example": "ages"})
    found.put("/site", FIRST)
    return found


@pytest.mark.parametrize(
    ("path", "body"), [("/designs", {"epsilon": 0.5}), ("/compare", {"epsilon": 0.5}), ("/frontier", {})]
)
def test_no_job_starts_for_places_that_are_gone(mine, monkeypatch, path, body):
    true_ground = Studio.ground
    changed: list[bool] = []

    def slow(studio, workspace):
        found = true_ground(studio, workspace)
        if not changed:  # while the request waits for its ground
            changed.append(True)
            mine.put("/site", SECOND)
        return found

    monkeypatch.setattr(Studio, "ground", slow)
    error = mine.post(path, body, 409)
    assert "changed at this moment" in error["message"]
    now = mine.get()
    assert now["jobs"] == []
    assert now["site"]["n"] == 7


def test_a_design_for_other_places_is_refused_in_plain_words(mine):
    designed(mine, 1)
    (design,) = mine.get()["designs"]
    store = mine.studio.app.state.studio.store
    facts = store.design(mine.id, design["id"])["facts"]
    other = secrets.token_hex(8)
    store.add_design(mine.id, "0" * 16, other, frontier=False, facts={**facts, "n": facts["n"] + 1})
    (store.files(mine.id) / "designs" / f"{other}.npy").write_bytes(b"")
    error = mine.get("/preview", 409, design=other, at=1)
    assert "other places or values" in error["message"]
    error = mine.post("/share", {"design": other, "at": 1, "times": 1}, 409)
    assert "other places or values" in error["message"]
