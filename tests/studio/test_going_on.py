"""Designs that go on where they were: after a cancel, a kill and a restart of the studio."""

import json
from typing import Any

import pytest

from sfumato_studio.jobs import FINAL
from sfumato_studio.limits import STATES_KEPT
from sfumato_studio.processes import start_worker
from sfumato_studio.work import Work
from sfumato_studio.work.design_job import make_design

from .conftest import Running, Visitor, soon, waited

LINE = {"event": "progress", "seconds": 1.0, "value": 9.0, "bound": 1.0, "gap": 0.5, "rows": 30, "step": 0}


@pytest.fixture
def own(cities):
    """A visitor with places and no design."""
    found = cities()
    found.post("/example", {"example": "city"})
    found.put("/site", {"kind": "places", "detail": 30})
    return found


def orders_of(visitor, folder, request, **more):
    workspace = visitor.studio.app.state.studio.store.workspace(visitor.id)
    return {
        "folder": str(visitor.studio.app.state.studio.store.files(visitor.id)),
        "data": workspace["data"],
        "site": workspace["site"],
        "request": request,
        "states": str(folder),
        **more,
    }


def made(orders, most=10**6):
    """Make a design in this process; return it, its lines of progress and the epsilons that were tried."""
    events: list[Any] = []
    lines: list[Any] = []

    def send(news):
        (lines if news["event"] == "progress" else events).append(news)

    make_design(Work(orders, send, lambda: len(lines) + len(events) >= most))
    design = [news for news in events if news["event"] == "design"]
    trials = [news["epsilon"] for news in events if news["event"] == "trial"]
    return (design[-1]["facts"] if design else None), lines, trials


def numbers(facts):
    return {name: facts[name] for name in ("epsilon", "proved", "gap", "loss", "error", "found", "finished")}


def content_of(lines):
    return [[line[name] for name in ("step", "rows", "value", "bound", "gap")] for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 4, 8])
def test_a_design_makes_the_iterations_that_are_left(own, tmp_path, after):
    request = {"epsilon": 1.5, "gap": 1e-4}
    once, whole, _ = made(orders_of(own, tmp_path / "once", request))
    early, first, _ = made(orders_of(own, tmp_path / "twice", request), after)
    late, then, _ = made(orders_of(own, tmp_path / "twice", request, seconds=first[-1]["seconds"]))
    assert len(first) == after
    assert not early["finished"]
    assert late["finished"]
    assert numbers(late) == numbers(once)
    assert content_of(first + then) == content_of(whole)
    seconds = [line["seconds"] for line in first + then]
    assert seconds == sorted(seconds)


@pytest.mark.slow
def test_an_attackers_error_is_gone_on_with(own, tmp_path):
    plain, _, _ = made(orders_of(own, tmp_path / "plain", {"epsilon": 1.5, "gap": 5e-3}))
    request = {"epsilon": 1.5, "gap": 5e-3, "distortion": 1.05 * plain["error"][2]}
    once, whole, _ = made(orders_of(own, tmp_path / "once", request))
    rounds = [k for k, line in enumerate(whole) if line["step"] == 0]
    _, first, _ = made(orders_of(own, tmp_path / "twice", request), rounds[-1] + 3)
    late, then, _ = made(orders_of(own, tmp_path / "twice", request))
    assert numbers(late) == numbers(once)
    assert content_of(first + then) == content_of(whole)


@pytest.mark.slow
def test_a_search_for_an_outcome_does_not_try_again(own, tmp_path):
    request = {"loss_at_most": 1300.0, "gap": 5e-3}
    once, _, epsilons = made(orders_of(own, tmp_path / "once", request))
    assert len(epsilons) > 2
    _, _, first = made(orders_of(own, tmp_path / "twice", request), 2)
    late, _, then = made(orders_of(own, tmp_path / "twice", request))
    assert first == epsilons[: len(first)]
    assert then == epsilons
    assert numbers(late) == numbers(once)


def actor(*news):
    """Return a script that notes its orders, keeps a state, sends news and ends."""
    lines = "\n".join(f"echo '{json.dumps(each)}'" for each in news)
    states = '"$(echo "$orders" | sed \'s/.*"states": "\\([^"]*\\)".*/\\1/\')"'
    kept = f'read -r orders\nprintf %s "$orders" > "$0.orders"\nmkdir -p {states}\n: > {states}/a.npz'
    return f"{kept}\n{lines}"


RESULT = {"event": "result", "result": {"design": "first"}}


def orders_in(tmp_path):
    return json.loads((tmp_path / "actor.orders").read_text())


def test_a_resumed_job_tells_no_line_twice_and_counts_on(jobs, store, workspace, acts, tmp_path):
    second = {**LINE, "step": 1, "value": 8.0, "seconds": 2.5}
    acts(actor(LINE, second))
    row = jobs.start(workspace, "design", "A design", {}, unit="m")
    found = waited(jobs, workspace, row, lambda found: found["status"] in FINAL)
    assert (found["status"], len(found["progress"])) == ("interrupted", 2)
    assert orders_in(tmp_path)["seconds"] == 0.0
    states = store.states(workspace["id"], row["id"])
    assert [path.name for path in states.iterdir()] == ["a.npz"]
    third = {**LINE, "step": 2, "value": 7.0, "seconds": 4.0}
    acts(actor({**second, "seconds": 3.0}, third, RESULT))
    jobs.resume(workspace, row["id"])
    found = waited(jobs, workspace, row, lambda found: found["status"] in FINAL)
    assert orders_in(tmp_path)["seconds"] == 2.5
    assert orders_in(tmp_path)["states"] == str(states)
    assert [(line["step"], line["seconds"]) for line in found["progress"]] == [(0, 1.0), (1, 2.5), (2, 4.0)]
    assert found["status"] == "done"
    assert not states.exists()


def test_trials_of_a_resumed_search_are_counted_once(jobs, workspace, acts):
    trial = {"event": "trial", "epsilon": 1.0}
    acts(actor(trial, trial))
    row = jobs.start(workspace, "design", "A design", {}, unit="m")
    assert waited(jobs, workspace, row, lambda found: found["status"] in FINAL)["done"] == 2
    acts(actor(trial, trial, trial))
    jobs.resume(workspace, row["id"])
    assert waited(jobs, workspace, row, lambda found: found["status"] in FINAL)["done"] == 3


def test_only_the_last_designs_that_were_stopped_can_be_gone_on_with(jobs, store, workspace, acts):
    acts(actor())
    rows = []
    for _ in range(STATES_KEPT + 3):
        row = jobs.start(workspace, "design", "A design", {}, unit="m")
        rows.append(waited(jobs, workspace, row, lambda found: found["status"] in FINAL))
    there = [store.states(workspace["id"], row["id"]).is_dir() for row in rows]
    assert there == [False] * 2 + [True] * (
        STATES_KEPT + 1
    )  # the last one was not there when the others were looked at


def test_what_a_design_goes_on_from_is_deleted_with_it(own, acts):
    studio = own.studio.app.state.studio
    news = {"event": "design", "id": "f" * 16, "frontier": False, "facts": {"epsilon": 1.0}}
    acts(actor(news))

    def stopped():
        row = studio.jobs.start(studio.store.workspace(own.id), "design", "A design", {}, unit="m")
        waited(studio.jobs, {"id": own.id}, row, lambda found: found["status"] == "interrupted")
        states = studio.store.states(own.id, row["id"])
        assert states.is_dir()
        return states

    states = stopped()
    studio.store.delete_design(own.id, "none")
    assert states.is_dir()
    assert own.studio.client.delete(f"{own.base}/designs/{'f' * 16}").status_code == 204
    assert not states.exists()
    states = stopped()
    own.put("/site", {"kind": "places", "detail": 31})
    assert not states.exists()
    states = stopped()
    own.post("/example", {"example": "ages"})
    assert not states.exists()
    states = stopped()
    assert own.studio.client.delete(own.base).status_code == 204
    assert not states.exists()


@pytest.mark.slow
def test_a_design_survives_a_cancel_a_kill_and_a_restart(monkeypatch, request, tmp_path, gate):
    processes = []

    def noted(orders):
        processes.append(start_worker(orders))
        return processes[-1]

    monkeypatch.setattr("sfumato_studio.jobs.start_worker", noted)
    studio = Running(tmp_path / "studio")
    visitor = Visitor(studio)
    request.addfinalizer(lambda: visitor.studio.close())
    visitor.post("/example", {"example": "city"})
    visitor.put("/site", {"kind": "places", "detail": 180})
    with gate.closed("progress", 3):
        job = visitor.post("/designs", {"epsilon": 1.5, "thorough": True}, 202)
        here = f"/jobs/{job['id']}"

        def lines(least):
            return soon(lambda: len(found := visitor.get(here)["progress"]) >= least and found)

        lines(3)
        visitor.post(f"{here}/cancel")
    cancelled = visitor.ended(job)
    assert cancelled["status"] == "cancelled"
    states = studio.app.state.studio.store.states(visitor.id, job["id"])
    with gate.closed("progress", 20):  # many of which were events before, in search of the best so far
        visitor.post(f"{here}/resume")
        killed = lines(len(cancelled["progress"]) + 5)
        processes[-1].kill()
    assert visitor.ended(job)["status"] == "interrupted"
    assert content_of(killed[: len(cancelled["progress"])]) == content_of(cancelled["progress"])
    with gate.closed("progress", 4):
        visitor.post(f"{here}/resume")
        before = lines(len(killed) + 2)
        studio.close()
    visitor.studio = Running(tmp_path / "studio")
    stopped = visitor.get(here)
    assert stopped["status"] == "interrupted"
    assert len(stopped["progress"]) >= len(before) - 1
    visitor.post(f"{here}/resume")
    done = visitor.ended(job)
    assert done["status"] == "done"
    events = done["progress"]
    assert content_of(events[: len(stopped["progress"])]) == content_of(stopped["progress"])
    steps = [line["step"] for line in events]  # of smaller problems first, then of all of it
    steps = steps[len(steps) - steps[::-1].index(0) - 1 :]
    assert steps == list(range(steps[-1] + 1))
    assert steps[-1] > 10
    for name in ("seconds", "bound"):
        assert (row := [line[name] for line in events if line[name] is not None]) == sorted(row), name
    assert events[-1]["gap"] <= 1e-4
    assert not states.exists()
