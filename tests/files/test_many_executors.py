"""Any executor makes the same designs: processes, threads, a cluster of Dask, and jobs sent by cloudpickle."""

import multiprocessing
import os
import pickle
import signal
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import SolverError
from sfumato.files.many import design_each_user
from sfumato.files.many import job as handing
from sfumato_papers.invented_city import invented_city
from tests.files.test_many import METRIC, PROMISE, SPACE, many, people

CITY = invented_city(users=4, days=8)


@contextmanager
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@contextmanager
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@contextmanager
def dask() -> Iterator[Executor]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import dask.config
        import distributed

        with dask.config.set({"distributed.comm.timeouts.connect": "300s"}):  # a busy machine begins late
            cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
            with cluster, distributed.Client(cluster) as client:
                yield client.get_executor()


class Carried(Executor):
    """An executor that sends all by cloudpickle, as clusters do, and brings it back by pickle."""

    def submit(self, function: Any, /, *given: Any, **named: Any) -> Future[Any]:
        import cloudpickle

        sent = cloudpickle.dumps((function, given, named))
        there, arguments, others = pickle.loads(sent)
        future: Future[Any] = Future()
        future.set_result(pickle.loads(cloudpickle.dumps(there(*arguments, **others))))
        return future


@contextmanager
def carried() -> Iterator[Executor]:

    yield Carried()


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(processes, marks=pytest.mark.slow),
        threads,
        pytest.param(dask, marks=pytest.mark.slow),
        carried,
    ],
)
def test_any_executor_makes_the_same_designs(tmp_path, kind):
    alone = many(tmp_path / "alone", 4)
    with kind() as pool:
        found = many(tmp_path / "with", 4, executor=pool, in_flight=3)
        users = design_each_user(
            CITY, tmp_path / "users", epsilon="1/km", spacing="4 km", least_visits=5, executor=pool, time_limit=600
        )
    assert found.is_finished
    assert found.additions == 4
    for name, row in found.rows.items():
        assert row.loss == pytest.approx(alone.rows[name].loss, rel=1e-4)
        assert row.request == alone.rows[name].request
        sf.load(tmp_path / "with" / row.file)
    assert users.is_finished
    assert users.rows


class Failing(ThreadPoolExecutor):
    """An executor that loses a worker now and then in a way of its own, as clusters do."""

    given = 0

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        self.given += 1
        if self.given == 2:
            return super().submit(_killed)
        return super().submit(function, *arguments, **named)


def _killed() -> None:
    raise ConnectionError("the worker 10.0.0.7 went away")


def test_what_a_cluster_loses_is_reported_and_made_by_the_next_call(tmp_path):
    with Failing(1) as pool:
        found = many(tmp_path, 3, executor=pool)
    assert found.additions == 2
    (reason,) = found.failed.values()
    assert "10.0.0.7" in reason
    assert many(tmp_path, 3).additions == 1


def test_an_error_inside_loses_only_its_own_design(tmp_path, monkeypatch):
    real = sf.optimal.design

    def broken(prior: Any, **given: Any) -> Any:
        if prior.probabilities[0] == people(3)["user 1"].probabilities[0]:
            raise ZeroDivisionError("oh")
        return real(prior, **given)

    monkeypatch.setattr(sf.files.many.job, "design", broken)
    found = many(tmp_path, 3)
    assert found.additions == 2
    assert "ZeroDivisionError: oh" in found.failed["user 1"]


class Deadly:
    """A job that ends its worker as a lack of memory does; with ``everybody`` each job does so."""

    def __init__(self, name: str, *, deadly: bool) -> None:
        self.name, self.deadly = name, deadly
        self.request = "asked"

    def prepare(self) -> Any:
        if self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        prior = sf.Prior.uniform(SPACE)
        return sf.files.many.job.DesignJob(self.name, prior, sf.Loss(METRIC.array, "km"), (PROMISE,), None, {}, 1)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_design_that_ends_its_worker_is_given_up_and_the_others_go_on():
    jobs = [Deadly(f"{k}", deadly=k == 1) for k in range(5)]
    found = dict(handing.DesignWorkers(2).results(jobs))
    assert set(found) == {"0", "1", "2", "3", "4"}
    assert [name for name, made in found.items() if made.row is None] == ["1"]
    assert "worker was ended" in found["1"].reason


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_workers_that_cannot_work_at_all_are_an_error():
    jobs = [Deadly(f"{k}", deadly=True) for k in range(3)]
    with pytest.raises(SolverError, match="workers ended"):
        list(handing.DesignWorkers(2).results(jobs))


def test_a_stop_takes_back_what_was_not_begun():
    class Held(Executor):
        def submit(self, function: Any, /, *given: Any, **named: Any) -> Future[Any]:
            return Future()

    asked = iter([False, True, True])
    jobs = [Deadly(f"{k}", deadly=False) for k in range(9)]
    assert list(handing.DesignWorkers(1, Held(), 4, lambda: next(asked)).results(jobs)) == []


def test_jobs_are_small(tmp_path):
    lat, lon = np.random.default_rng(1).uniform([40, -74], [40.1, -73.9], (50, 2)).T
    visits = sf.Visits(lat, lon, ["ada"] * 50)
    sent: list[int] = []

    class Counting(Carried):
        def submit(self, function: Any, /, *given: Any, **named: Any) -> Future[Any]:
            sent.append(len(pickle.dumps((function, given, named))))
            return super().submit(function, *given, **named)

    design_each_user(visits, tmp_path, epsilon="1/km", spacing="5 km", executor=Counting(), time_limit=600)
    assert sent[0] < 10_000
