"""Jobs whose process does not behave: gone before it reads its orders, deaf, or killed in the middle of a line."""

import threading
import time
from contextlib import suppress
from typing import Any

import httpx
import pytest

from sfumato_studio.errors import RefusedError
from sfumato_studio.jobs import FINAL, seconds_left
from sfumato_studio.limits import JOBS_RUNNING
from sfumato_studio.store import Store
from sfumato_studio.work import Work
from sfumato_studio.work.design_job import make_design

from .conftest import PATIENCE_S, TOKEN, Running, Visitor, optimized, soon, waited

DEAF = """
read orders
exec 0<&-
echo '{"event": "total", "done": 0, "total": 3}'
until [ -e "$0.ends" ]; do sleep 0.05; done
"""
"""It closes its end of the pipe, so that later messages fail; it ends once that file is there."""

GONE = "exit 1"
HALF = 'read orders; printf \'{"event": "tot\''
SILENT = "read orders"


def test_a_job_that_does_not_listen_ends_all_the_same(jobs, workspace, acts, tmp_path):
    acts(DEAF)
    row = jobs.start(workspace, "design", "A design", {}, unit="m")
    waited(jobs, workspace, row, lambda found: found["total"] == 3)
    jobs.cancel(workspace["id"], row["id"])
    jobs.cancel(workspace["id"], row["id"])  # impatient visitors
    (tmp_path / "actor.ends").touch()
    assert waited(jobs, workspace, row, lambda found: found["status"] in FINAL)["status"] == "cancelled"


def test_jobs_are_told_of_while_one_is_deleted(jobs, workspace, acts, monkeypatch):
    acts(GONE)
    row = jobs.start(workspace, "design", "A design", {}, unit="m")
    waited(jobs, workspace, row, lambda found: found["status"] in FINAL)
    listed = Store.jobs

    def deleted_at_once(store, identity):
        found = listed(store, identity)
        for each in found:
            store.delete_job(each["id"])
        return found

    monkeypatch.setattr(Store, "jobs", deleted_at_once)
    assert [each["id"] for each in jobs.of(workspace["id"])] == [row["id"]]


def test_an_answer_that_says_that_a_job_is_done_has_its_designs(visitor, monkeypatch):
    """The page asks no more once no job is open."""
    visitor.post("/example", {"example": "ages"})
    visitor.put("/site", {"kind": "values", "first": 18, "last": 22})
    visitor.levels()
    store = optimized(visitor, 1).studio.app.state.studio.store
    facts = store.designs(visitor.id)[0]["facts"]
    job = store.make_job(visitor.id, kind="levels", title="Levels", request={}, unit="")
    list_designs = Store.designs

    def ended_just_then(self, workspace):
        rows = list_designs(self, workspace)
        if store.job(visitor.id, job["id"])["status"] == "running":
            store.add_design(visitor.id, job["id"], "made", frontier=False, facts=facts)
            store.change_job(job["id"], status="done")
        return rows

    monkeypatch.setattr(Store, "designs", ended_just_then)

    def seen():
        answer = visitor.get("/levels")
        return answer["progress"]["status"], [each["level"] for each in answer["levels"]].count(None)

    assert seen() == ("running", 0)
    assert seen() == ("done", 1)


def line(seconds, gap):
    return {"seconds": seconds, "value": 3.0, "bound": 2.0, "gap": gap, "rows": 1, "step": 0}


def test_the_time_left_follows_the_pace_so_far():
    """A gap that halves each second needs five more to shrink by 32; levels take as long as those before."""
    design = {"kind": "design", "status": "running", "request": {"gap": 0.01}}
    lines = [line(float(k), 0.32 * 2.0**-k) for k in range(4)]
    assert seconds_left({**design, "progress": lines[:1]}) is None
    assert seconds_left({**design, "progress": lines}) == pytest.approx(2.0)
    assert seconds_left({**design, "progress": lines, "status": "done"}) is None
    assert seconds_left({**design, "progress": [line(0.0, 0.1), line(1.0, 0.1)]}) is None
    levels = {"kind": "levels", "status": "running", "request": {}, "done": 3, "total": 12}
    assert seconds_left({**levels, "progress": [line(2.0, 0.0), line(4.0, 0.0), line(6.0, 0.0)]}) == 18.0


def test_a_better_resumed_design_replaces_the_earlier_one(jobs, store, workspace, acts):
    folder = store.files(workspace["id"]) / "designs"

    def made(name, ending):
        news = f'{{"event": "design", "id": "{name}", "frontier": false, "facts": {{"epsilon": 1.0}}}}'
        result = f'{{"event": "result", "result": {{"design": "{name}"}}}}'
        acts(f"read orders\necho '{news}'\n{ending or f'echo {result!r}'}")
        (folder / f"{name}.sfm").touch()

    made("first", "exit 1")
    row = jobs.start(workspace, "design", "A design", {}, unit="m")
    stopped = waited(jobs, workspace, row, lambda found: found["status"] in FINAL)
    assert (stopped["status"], stopped["result"]) == ("interrupted", {"design": "first"})
    assert [each["id"] for each in store.designs(workspace["id"])] == ["first"]
    made("second", "")
    jobs.resume(workspace, row["id"])
    done = waited(jobs, workspace, row, lambda found: found["status"] in FINAL)
    assert (done["status"], done["result"]) == ("done", {"design": "second"})
    assert [each["id"] for each in store.designs(workspace["id"])] == ["second"]
    assert [path.name for path in folder.iterdir()] == ["second.sfm"]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("loss", "gap", "replaced"),
    [(0.1, 0.0, True), (0.0, 0.1, True), (0.0, None, True), (0.0, 0.0, False), (-0.1, 0.5, False)],
)
def test_a_resumed_design_is_kept_where_it_is_better(ages, loss, gap, replaced):
    store = ages.studio.app.state.studio.store
    workspace = store.workspace(ages.id)
    events: list[Any] = []
    orders = {
        "folder": str(store.files(ages.id)),
        "data": workspace["data"],
        "site": workspace["site"],
        "request": {"epsilon": 1.0, "gap": 5e-3},
    }
    first = make_design(Work(orders, events.append, lambda: False))["design"]
    facts = next(each["facts"] for each in events if each["event"] == "design")
    worse = facts["loss"][2] + loss
    before = {"loss": [None, worse, worse], "gap": None if gap is None else facts["gap"] + gap}
    events.clear()
    again = make_design(
        Work({**orders, "before": {"id": first, "facts": facts | before}}, events.append, lambda: False)
    )
    assert any(each["event"] == "design" for each in events) == replaced
    assert (again["design"] != first) == replaced


def test_a_studio_stops_soon_while_a_page_waits(acts, tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato_studio.state.READ_SECONDS", 900.0)
    acts("read orders\nexec sleep 900")
    studio = Running(tmp_path / "studio")
    visitor = Visitor(studio)
    visitor.post("/example", {"example": "ages"})
    visitor.put("/site", {"kind": "values"})
    job = visitor.post("/optimize", {}, 202)
    pages = [
        threading.Thread(target=listened, args=(studio, "PUT", f"{visitor.base}/file?name=a.csv")),
    ]
    for page in pages:
        page.start()
    running = studio.app.state.studio
    soon(lambda: running.apart and running.jobs.now(visitor.id, job["id"])["status"] == "running")
    processes = [*running.apart]
    began = time.monotonic()
    studio.close()
    assert time.monotonic() - began < PATIENCE_S
    for page in pages:
        page.join(PATIENCE_S)
        assert not page.is_alive()
    assert all(process.poll() is not None for process in processes)
    again = Store(tmp_path / "studio")
    assert again.job(visitor.id, job["id"])["status"] == "interrupted"
    again.close()


def listened(studio, method, path):
    """Read an answer to its end, which may be sudden."""
    with suppress(httpx.HTTPError), studio.bare(**{"X-Sfumato-Token": TOKEN}) as page:
        page.request(method, path, content=b"a\n1\n2\n" if method == "PUT" else None)


@pytest.mark.parametrize("text", [GONE, HALF, SILENT])
def test_a_job_whose_process_dies_is_interrupted_and_can_be_resumed(jobs, workspace, acts, text):
    acts(text)
    orders = {"long": "x" * 300_000}  # more than a pipe holds
    row = jobs.start(workspace, "design", "A design", orders, unit="m")
    assert waited(jobs, workspace, row, lambda found: found["status"] in FINAL)["status"] == "interrupted"
    again = jobs.resume(workspace, row["id"])
    assert waited(jobs, workspace, again, lambda found: found["status"] in FINAL)["status"] == "interrupted"


@pytest.mark.slow
def test_jobs_that_ended_are_removed_and_their_designs_stay_unless_they_are_to_go(ages, gate):
    job = ages.post("/designs", {"epsilon": 1.0}, 202)
    design = ages.ended(job)["result"]["design"]
    with gate.closed():
        levels = ages.post("/optimize", {}, 202)
        assert "belong to the places" in ages.studio.client.delete(f"{ages.base}/jobs/{levels['id']}").text
        ages.post(f"/jobs/{levels['id']}/cancel")
    ages.ended(levels)
    assert ages.studio.client.delete(f"{ages.base}/jobs/{job['id']}").status_code == 204
    ages.get(f"/jobs/{job['id']}", status=404)
    assert ages.get("/preview", design=design)["shown"]["design"] == design
    assert ages.studio.client.delete(f"{ages.base}/jobs/{job['id']}").status_code == 404


def test_a_job_that_runs_is_not_removed(jobs, workspace, acts):
    acts("read orders\nexec sleep 900")
    row = jobs.start(workspace, "design", "A design", {"epsilon": 1.0}, unit="m")
    with pytest.raises(RefusedError, match="running"):
        jobs.remove(workspace["id"], row["id"], designs=True)
    assert jobs.now(workspace["id"], row["id"])["status"] == "running"


def test_no_more_than_a_few_jobs_run(jobs, workspace, acts):
    acts("read orders\nexec sleep 900")
    for _ in range(JOBS_RUNNING):
        jobs.start(workspace, "design", "A design", {}, unit="m")
    with pytest.raises(RefusedError, match=f"{JOBS_RUNNING} jobs are running"):
        jobs.start(workspace, "design", "A design", {}, unit="m")
