"""Drafts: designs of a level that somebody only looks at. One is made at a time, and what it replaces is gone."""

import pytest

from sfumato_studio.limits import JOBS_RUNNING
from sfumato_studio.refusals import RefusedError
from sfumato_studio.running import FINAL
from sfumato_studio.store import Store

from .conftest import PATIENCE_S, soon

DRAFT = {"epsilon": 1.0, "draft": True}
SLOW = "read orders\nexec sleep 900"
FAILING = 'read orders; until [ -e "$0.fails" ]; do sleep 0.05; done'
"""It ends without a result once that file is there."""
MADE = """read orders
echo '{"event": "design", "id": "%(name)s", "frontier": false, "facts": {"epsilon": 1.0}}'
%(then)s"""
DONE = """echo '{"event": "result", "result": {"design": "%s"}}'"""


def started(jobs, workspace, request=DRAFT):
    return jobs.start(workspace, "design", "A design", request, unit="m")


def status(jobs, workspace, row):
    return next((each["status"] for each in jobs.of(workspace["id"]) if each["id"] == row["id"]), None)


def test_a_draft_replaces_the_earlier_one_at_once_with_what_it_made(jobs, store, workspace, acts):
    acts(MADE % {"name": "first", "then": "exec sleep 900"})
    first = started(jobs, workspace)
    soon(lambda: store.designs(workspace["id"]))
    process = jobs._running[first["id"]].process
    acts(MADE % {"name": "second", "then": DONE % "second"})
    second = started(jobs, workspace)
    soon(lambda: process.poll() is not None)
    assert status(jobs, workspace, first) is None
    soon(lambda: status(jobs, workspace, second) == "done")
    assert [each["id"] for each in store.designs(workspace["id"])] == ["second"]
    acts(SLOW)
    started(jobs, workspace)
    assert store.designs(workspace["id"]) == []
    assert len(jobs.of(workspace["id"])) == 1


def test_drafts_have_a_place_of_their_own_and_wait_for_each_other(jobs, store, acts):
    acts(SLOW)
    one, other = store.make_workspace(), store.make_workspace()
    ordinary = [started(jobs, one, {"epsilon": 1.0}) for _ in range(JOBS_RUNNING)]
    with pytest.raises(RefusedError, match=f"{JOBS_RUNNING} jobs are running"):
        started(jobs, one, {"epsilon": 1.0})
    first, second = started(jobs, one), started(jobs, other)
    assert (first["status"], second["status"]) == ("running", "queued")
    with pytest.raises(RefusedError, match=f"{JOBS_RUNNING} jobs are running"):
        started(jobs, one, {"epsilon": 1.0})
    assert jobs.version(second["id"]) == 0
    third = started(jobs, other)  # it takes the place of the one that waits
    assert status(jobs, other, second) is None
    assert third["status"] == "queued"
    assert jobs.cancel(one["id"], first["id"])["status"] == "cancelled"
    assert status(jobs, one, first) is None
    assert status(jobs, other, third) == "running"
    assert all(status(jobs, one, each) == "running" for each in ordinary)


@pytest.mark.parametrize("end", ["laid anew", "cancel", "remove"])
def test_a_draft_that_waits_can_go(jobs, store, acts, end):
    acts(SLOW)
    one, other = store.make_workspace(), store.make_workspace()
    first, waits = started(jobs, one), started(jobs, other)
    listener = jobs._running[first["id"]].thread
    if end == "laid anew":
        with jobs.without(other["id"]):
            store.start_over(other["id"])
    elif end == "cancel":
        jobs.cancel(other["id"], waits["id"])
    else:
        jobs.remove(other["id"], waits["id"], designs=False)
    jobs.remove(one["id"], first["id"], designs=True)
    listener.join(PATIENCE_S)  # its last act is to start the draft that waits
    assert not listener.is_alive()
    assert jobs.of(one["id"]) == jobs.of(other["id"]) == []


def test_the_next_draft_begins_when_one_fails(jobs, store, acts, tmp_path):
    one, other = store.make_workspace(), store.make_workspace()
    acts(FAILING)
    first, waits = started(jobs, one), started(jobs, other)
    assert waits["status"] == "queued"
    (tmp_path / "actor.fails").touch()
    soon(lambda: status(jobs, one, first) == "interrupted")
    soon(lambda: status(jobs, other, waits) in FINAL)
    with pytest.raises(RefusedError, match="draft is not resumed"):
        jobs.resume(other, waits["id"])


def test_a_studio_that_stops_begins_no_draft_that_waited(jobs, store, acts, tmp_path):
    acts(SLOW)
    one, other = store.make_workspace(), store.make_workspace()
    started(jobs, one)
    waits = started(jobs, other)
    jobs.close()
    assert status(jobs, other, waits) == "queued"
    store.close()
    again = Store(tmp_path / "studio")
    assert again.job(other["id"], waits["id"])["status"] == "interrupted"
    again.close()


@pytest.mark.slow
def test_jobs_that_ended_are_removed_and_their_designs_stay_unless_they_are_to_go(ages, gate):
    job = ages.post("/designs", {"epsilon": 1.0, "draft": True}, 202)
    design = ages.ended(job)["result"]["design"]
    with gate.closed():
        frontier = ages.post("/frontier", {}, 202)
        assert "belongs to the places" in ages.studio.client.delete(f"{ages.base}/jobs/{frontier['id']}").text
        ages.post(f"/jobs/{frontier['id']}/cancel")
    ages.ended(frontier)
    assert ages.studio.client.delete(f"{ages.base}/jobs/{job['id']}").status_code == 204
    ages.get(f"/jobs/{job['id']}", status=404)
    assert ages.get(f"/designs/{design}")["id"] == design
    assert ages.studio.client.delete(f"{ages.base}/jobs/{job['id']}").status_code == 404


def test_a_job_that_runs_is_not_removed(jobs, workspace, acts):
    acts(SLOW)
    row = started(jobs, workspace, {"epsilon": 1.0})
    with pytest.raises(RefusedError, match="running"):
        jobs.remove(workspace["id"], row["id"], designs=True)
    assert status(jobs, workspace, row) == "running"
