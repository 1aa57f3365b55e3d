"""Designs for many: each is what a single design is, and a crash, a second run or a stop loses none."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import FileError, InputError, SolverError
from sfumato.files.many import DesignNews, design_many, read_designs
from sfumato.files.many.folder import name_of, stem_of

SPACE = sf.Space([f"p{k}" for k in range(6)], [(k % 3, k // 3) for k in range(6)], "km")
METRIC = SPACE.metric()
PROMISE = sf.MetricPrivacy(1.0, METRIC)


def people(count):
    random = np.random.default_rng(4)
    return {f"user {k}": sf.Prior(SPACE, random.dirichlet(np.ones(6))) for k in range(count)}


def many(folder, count=3, **options):
    return design_many(people(count), folder, loss=METRIC, guarantees=PROMISE, tie_break=False, **options)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("how", ["alone", "processes", "threads"])
def test_each_is_what_a_single_design_is(tmp_path, how):
    if how == "threads":
        with ThreadPoolExecutor(2) as pool:
            found = many(tmp_path, executor=pool, in_flight=2)
    else:
        found = many(tmp_path, processes=2 if how == "processes" else 1)
    assert found.is_finished
    assert found.additions == 3
    assert list(found.rows) == list(people(3))
    for name, prior in people(3).items():
        held = sf.read_mechanism_file(tmp_path / f"{name}.sfm")
        single = sf.design(prior, loss=METRIC, guarantees=PROMISE, tie_break=False)
        assert held.report_channel.expected_loss(prior, METRIC) == pytest.approx(single.certificate.loss, rel=1e-5)
        assert found.rows[name].loss >= held.report_channel.expected_loss(prior, METRIC) * (1 - 1e-12)
        assert held.prior == prior or np.array_equal(held.prior.probabilities, prior.probabilities)  # type: ignore[union-attr]


def test_a_second_run_makes_what_is_missing_and_nothing_else(tmp_path):
    many(tmp_path, 2)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.sfm")}
    found = many(tmp_path, 4)
    assert found.additions == 2
    assert len(found.rows) == 4
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in before} == before
    assert many(tmp_path, 4).additions == 0


def test_a_file_that_is_damaged_or_not_in_the_index_is_made_again(tmp_path):
    many(tmp_path, 3)
    (tmp_path / "user 0.sfm").write_bytes(b"x")
    lines = (tmp_path / "index.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "index.jsonl").write_bytes(lines[0] + lines[1] + lines[2][:20])  # cut off by a crash
    found = many(tmp_path, 3)
    assert found.additions == 2
    assert many(tmp_path, 3).additions == 0
    for name in people(3):
        sf.load(tmp_path / f"{name}.sfm")


def test_other_arguments_are_refused(tmp_path):
    many(tmp_path, 1)
    for change in ({"gap": 1e-3}, {"guarantees": sf.MetricPrivacy(2.0, METRIC)}, {"loss": sf.hamming(SPACE)}):
        options: dict[str, Any] = {"loss": METRIC, "guarantees": PROMISE, "tie_break": False, **change}
        with pytest.raises(InputError, match="from other data or options"):
            design_many(people(1), tmp_path, **options)


def test_what_is_impossible_is_reported_and_the_others_go_on(tmp_path):
    sure = sf.Prior(SPACE, [1, 0, 0, 0, 0, 0])
    told: list[DesignNews] = []
    found = design_many(
        {"sure": sure, **people(1)},
        tmp_path,
        loss=METRIC,
        guarantees=[sf.DistortionPrivacy(0.1, METRIC)],
        progress=told.append,
    )
    assert set(found.failed) == {"sure"}
    assert set(found.rows) == {"user 0"}
    assert not found.is_finished
    assert [news.name for news in told if news.row is None] == ["sure"]
    assert not (tmp_path / "sure.sfm").exists()


def test_a_stop_leaves_the_rest_for_the_next_run(tmp_path):
    count = iter(range(100))
    found = many(tmp_path, 4, stop=lambda: next(count) >= 2)
    assert (found.additions, found.waiting) == (2, 2)
    assert many(tmp_path, 4).additions == 2


class Breaking(ThreadPoolExecutor):
    """An executor whose workers are lost after the first design."""

    given = 0

    def submit(self, *arguments: Any, **named: Any) -> Future[Any]:
        from concurrent.futures.process import BrokenProcessPool

        self.given += 1
        if self.given > 1:
            lost: Future[Any] = Future()
            lost.set_exception(BrokenProcessPool("lost"))
            return lost
        return super().submit(*arguments, **named)


def test_lost_workers_lose_only_what_was_in_flight(tmp_path):
    with Breaking(1) as pool, pytest.raises(SolverError, match="workers ended"):
        many(tmp_path, 3, executor=pool, in_flight=1)
    assert many(tmp_path, 3).additions == 2


@pytest.mark.parametrize("name", ["", "\ud800", 7])
def test_what_is_no_name(tmp_path, name):
    with pytest.raises(InputError, match="name"):
        design_many({name: sf.Prior.uniform(SPACE)}, tmp_path, loss=METRIC, guarantees=PROMISE)


HARD = [
    "a/b",
    "..",
    ".",
    " ",
    ".hidden",
    "a\0b",
    "a:b",
    "a.",
    "con",
    "CON.txt",
    "Ada",
    "ada",
    "a%41",
    "%",
    "%%",
    "é",
    "e\u0301",
]
HARD += [
    "x" * 500,
    "x" * 501,
    "%%" + "0" * 64,
    "ada@example.org",
    "../../etc/passwd",
    "\u202e",
    "1.0",
    "index.jsonl",
]


def test_any_name_has_a_file_of_its_own_and_is_read_back(tmp_path):
    priors = {name: sf.Prior(SPACE, np.eye(6)[k % 6] * 0.5 + 1 / 12) for k, name in enumerate(HARD)}
    found = design_many(priors, tmp_path, loss=METRIC, guarantees=PROMISE, tie_break=False)
    assert found.is_finished
    files = [row.file for row in found.rows.values()]
    assert len({file.casefold() for file in files}) == len(HARD)
    assert sorted(files) == sorted(path.name for path in tmp_path.glob("*.sfm"))
    read = read_designs(tmp_path)
    assert set(read) == set(HARD)
    for name, prior in priors.items():
        assert read[name] == sf.load(tmp_path / found.rows[name].file)
        held = sf.read_mechanism_file(tmp_path / found.rows[name].file)
        assert np.array_equal(held.prior.probabilities, prior.probabilities)  # type: ignore[union-attr]
    assert design_many(priors, tmp_path, loss=METRIC, guarantees=PROMISE, tie_break=False).additions == 0


@given(st.lists(st.text(min_size=1), min_size=1, unique=True))
def test_stems_are_plain_and_stand_for_one_name_each(names):
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            return
    stems = [stem_of(name) for name in names]
    assert len({stem.casefold() for stem in stems}) == len(names)
    for name, stem in zip(names, stems, strict=True):
        assert name_of(stem) == name or stem.startswith("%%")
        assert len(stem) <= 200
        assert set(stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_@+,= .%")
        assert stem == stem.strip(" .")


def test_files_of_ones_own_keep_their_names(tmp_path):
    mechanism = sf.Mechanism(np.eye(6), SPACE, SPACE)
    for name in ("Ada", "Zoë", "50%", "%zz", "b%6"):
        sf.save(mechanism, tmp_path / f"{name}.sfm")
    assert set(read_designs(tmp_path)) == {"Ada", "Zoë", "50%", "%zz", "b%6"}
    sf.save(mechanism, tmp_path / "%41da.sfm")
    with pytest.raises(InputError, match="two files"):
        read_designs(tmp_path)


def test_folders_that_are_none(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(FileError, match="folder"):
            read_designs(folder)
    (tmp_path / "bad.sfm").write_bytes(b"PK")
    with pytest.raises(FileError, match=r"bad\.sfm"):
        read_designs(tmp_path)


def test_arguments_that_make_no_sense(tmp_path):
    with pytest.raises(InputError, match="no prior"):
        design_many({}, tmp_path, loss=METRIC, guarantees=PROMISE)
    with pytest.raises(InputError, match="solver"):
        many(tmp_path, 1, solver="highs")
    with pytest.raises(InputError, match="in flight"):
        many(tmp_path, 1, processes=0)
    with pytest.raises(InputError, match="loss of 'user 0' is missing"):
        design_many(people(1), tmp_path, loss={"ada": METRIC}, guarantees=PROMISE)
