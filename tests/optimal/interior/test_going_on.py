"""A solve that was stopped or killed goes on where it was; whatever is wrong with its file costs time alone."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import zipfile
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import FileError, SfumatoError
from sfumato.optimal import Auto, Progress, Status, Structured, design
from sfumato.optimal.interior.lapack import StoppedError

from .parts import newton
from .programs import KINDS, Case, check, drawn, grid, skewed

N = 16
D = grid(4, 4)
CASE = Case(skewed(N, seed=1, unvisited=2), D, D)
GAP = 1e-6


class Told(list[Progress]):
    """Lines of progress, with a stop after some of them."""

    def __init__(self, most=np.inf):
        super().__init__()
        self.most = most

    def stop(self):
        return len(self) > self.most


def solved(case, folder, most=np.inf, *, gap=GAP, **options):
    """Solve until some lines are told; return the result and the lines."""
    told = Told(most)
    return case.solve(gap=gap, stop=told.stop, progress=told.append, folder=folder, **options), told


def same(one, other):
    """Whether two results are the same, bit for bit."""
    return (
        np.array_equal(one.matrix, other.matrix)
        and (one.cost, one.lower_bound, one.status) == (other.cost, other.lower_bound, other.status)
        and np.array_equal(one.prices.local, other.prices.local)
        and [line_of(line) for line in one.log] == [line_of(line) for line in other.log]
    )


def line_of(line):
    return line.step, line.rows, line.value, line.bound, line.gap


@pytest.fixture(scope="module")
def whole():
    return CASE.solve(gap=GAP)


@pytest.fixture(scope="module")
def half_way(tmp_path_factory):
    """The file of a solve that was stopped half-way."""
    folder = tmp_path_factory.mktemp("half way")
    solved(CASE, folder, 8)
    (file,) = folder.iterdir()
    return file


@pytest.fixture
def stopped(half_way, tmp_path):
    """A copy of that file."""
    return shutil.copy(half_way, tmp_path / half_way.name)


@pytest.mark.slow
def test_on_a_larger_grid_nothing_tells_that_it_was_stopped(tmp_path):
    d = grid(9, 9)
    case = Case(skewed(81, seed=3), d, d)
    once = case.solve(gap=1e-4)
    early, first = solved(case, tmp_path, 9, gap=1e-4)
    late, then = solved(case, tmp_path, gap=1e-4)
    assert early.status is Status.INTERRUPTED
    assert same(late, once)
    assert [line.step for line in [*first, *then]] == list(range(len(once.log)))
    seconds = [line.seconds for line in late.log]
    assert seconds == sorted(seconds)


@pytest.mark.parametrize("after", [0, 1, 4, 9])
def test_at_any_iteration(whole, tmp_path, after):
    early, first = solved(CASE, tmp_path, after)
    late, then = solved(CASE, tmp_path)
    assert len(first) + len(then) == len(whole.log)
    assert early.iterations == after
    assert same(late, whole)
    again, nothing = solved(CASE, tmp_path)
    assert not nothing
    assert same(again, whole)


def test_again_and_again(whole, tmp_path):
    lines, found = [], None
    while found is None or found.status is not Status.OPTIMAL:
        found, told = solved(CASE, tmp_path, 2)
        assert len(told) <= 3
        lines += told
    assert same(found, whole)
    assert [line_of(line) for line in lines] == [line_of(line) for line in whole.log]


@pytest.mark.parametrize("blocks", [1, 40, 100])
def test_in_the_middle_of_an_iteration(whole, tmp_path, blocks):
    told: list[object] = []
    calls: list[int] = []

    def stop():
        if told:
            calls.append(1)
        return len(calls) > blocks

    early = CASE.solve(gap=GAP, stop=stop, progress=told.append, folder=tmp_path)
    assert early.status is Status.INTERRUPTED
    late, then = solved(CASE, tmp_path)
    assert len(told) + len(then) == len(whole.log)
    assert same(late, whole)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [1, 4, 8])
def test_every_kind_of_program(kind, after, tmp_path):
    for seed in range(2):
        case = drawn(seed, kind)
        once = case.solve(gap=GAP)
        folder = tmp_path / str(seed)
        folder.mkdir()
        with suppress(SfumatoError, StoppedError):  # the game has no mechanism yet: it goes on all the same
            solved(case, folder, after)
        late, then = solved(case, folder)
        assert same(late, once)
        assert len(then) <= max(0, len(once.log) - after)


def test_with_symmetry(tmp_path):
    case = Case(np.full(N, 1 / N), D, D)
    once = case.solve(gap=GAP)
    assert once.symmetry == 8
    solved(case, tmp_path, 5)
    assert same(solved(case, tmp_path)[0], once)


def test_another_number_of_threads_proves_the_same(whole, tmp_path):
    solved(CASE, tmp_path, 8, threads=1)
    late, told = solved(CASE, tmp_path, threads=3)
    assert len(told) < len(whole.log) - 5
    check(CASE, late, whole.cost, tolerance=1.1 * GAP)


def test_factors_near_the_diagonal_prove_the_same(whole, monkeypatch, tmp_path):
    """Their orders come from earlier iterations, and are made anew."""
    monkeypatch.setattr(newton, "BANDED_FROM", 1)
    early, first = solved(CASE, tmp_path, 8)
    late, then = solved(CASE, tmp_path)
    assert (len(first), early.status) == (9, Status.INTERRUPTED)
    assert len(then) <= len(whole.log) - 8
    assert late.status is Status.OPTIMAL
    assert late.log[: len(first)] == early.log
    check(CASE, late, whole.cost, tolerance=1.1 * GAP)


@pytest.mark.slow
def test_other_programs_have_files_of_their_own(whole, stopped):
    others = (
        Case(skewed(N, seed=2, unvisited=3), D, D),
        Case(CASE.prior, D, 1.1 * D),
        Case(CASE.prior, D**2, D),
        Case(CASE.prior, D, D, worst=True),
    )
    for other in others:
        assert same(solved(other, stopped.parent)[0], other.solve(gap=GAP))
    closer, told = solved(CASE, stopped.parent, gap=1e-8)
    assert len(told) == len(closer.log)
    assert len([*stopped.parent.iterdir()]) == 2 + len(others)
    assert same(solved(CASE, stopped.parent)[0], whole)


def test_a_state_of_another_program_is_not_taken_for_one(whole, stopped):
    other = Case(skewed(N, seed=2, unvisited=3), D, D)
    shutil.move(stopped, stopped.with_name("other"))
    solved(other, stopped.parent, 8)
    (wrong,) = stopped.parent.glob("*.npz")
    shutil.move(wrong, stopped)
    late, told = solved(CASE, stopped.parent)
    assert len(told) == len(whole.log)
    assert same(late, whole)


def test_states_are_written_every_few_seconds_and_at_the_end(tmp_path):
    seen: list[int] = []
    CASE.solve(gap=GAP, progress=lambda _: seen.append(len([*tmp_path.iterdir()])), folder=tmp_path)
    assert seen[-1] == 0  # it took less than that
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz"]


def test_a_folder_that_vanishes_is_no_reason_to_stop(whole, tmp_path):
    folder = tmp_path / "states"
    folder.mkdir()
    found = CASE.solve(gap=GAP, progress=lambda _: shutil.rmtree(folder, ignore_errors=True), folder=folder)
    assert same(found, whole)
    assert not folder.exists()


def _arrays(file):
    with np.load(file, allow_pickle=False) as found:
        return dict(found)


def _changed(name, change):
    def spoil(file):
        arrays = _arrays(file)
        arrays[name] = change(arrays[name])
        np.savez(file, **arrays)

    return spoil


def _at(place, value):
    def change(array):
        array = array.copy()
        array.reshape(-1)[place] = value
        return array

    return change


def _without(name):
    def spoil(file):
        arrays = _arrays(file)
        del arrays[name]
        np.savez(file, **arrays)

    return spoil


def _cut(share):
    def spoil(file):
        content = file.read_bytes()
        file.write_bytes(content[: int(share * len(content))])

    return spoil


def _flipped(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 0x40
    file.write_bytes(content)


def _pickled(file):
    arrays = _arrays(file)
    arrays["numbers"] = np.array([Evil()], dtype=object)
    np.savez(file, **arrays)


def _bomb(file):
    """A file of some kilobytes that is gigabytes long when it is unpacked."""
    arrays = _arrays(file)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as stream:
                if name == "u":
                    np.lib.format.write_array_header_1_0(
                        stream, {"descr": "<f8", "fortran_order": False, "shape": (N, N * 2**18)}
                    )
                    for _ in range(16):
                        stream.write(bytes(2**22))
                else:
                    np.lib.format.write_array(stream, array, version=(1, 0))


def _claiming(file):
    """An array that says it has 2**60 numbers."""
    arrays = _arrays(file)
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as stream:
                if name == "lam":
                    header = {"descr": "<f8", "fortran_order": False, "shape": (2**60,)}
                    np.lib.format.write_array_header_1_0(stream, header)
                    stream.write(bytes(800))
                else:
                    np.lib.format.write_array(stream, array, version=(1, 0))


def _too_long(file):
    with file.open("ab") as stream:
        stream.truncate(2**34)  # a sparse file of 16 GiB


def _folder(file):
    file.unlink()
    file.mkdir()


class Evil:
    """Runs when it is unpickled."""

    def __reduce__(self):
        return os.abort, ()


_NUMBERS = {"v": 0, "bound": 1, "theta": 2, "aim": 3, "short": 4}
_LOG = 6  # numbers of a line

FLOATS = ("u", "lam", "mu", "pairs")

SPOILT = {
    "nothing": lambda file: file.write_bytes(b""),
    "text": lambda file: file.write_text("a state"),
    "a pickle": lambda file: file.write_bytes(pickle.dumps(Evil())),
    "a pickle within": _pickled,
    "cut short": _cut(0.5),
    "a byte short": _cut(1 - 1e-9),
    "a bit flipped": _flipped,
    "a bomb": _bomb,
    "claims": _claiming,
    "too long": _too_long,
    "a folder": _folder,
    **{f"no {name}": _without(name) for name in ("problem", "keys", "u", "lam", "numbers", "log")},
    **{
        f"not a number in {name}": _changed(name, _at(0, np.nan))
        for name in ("u", "lam", "mu", "pairs", "numbers")
    },
    **{f"infinite {name}": _changed(name, _at(3, np.inf)) for name in FLOATS},
    **{
        f"{name} of another length": _changed(name, lambda array: array[:-1])
        for name in ("keys", "u", "lam", "mu")
    },
    **{
        f"{name} of another type": _changed(name, lambda array: array.astype("f4"))
        for name in ("keys", "u", "log")
    },
    "other columns": _changed("u", lambda array: array.T.copy(order="C")[:, :-1]),
    "by columns": _changed("u", np.asfortranarray),
    "a key that is not there": _changed("keys", _at(-1, N**3)),
    "a key below none": _changed("keys", _at(0, -1)),
    "a key of one secret": _changed("keys", _at(0, 0)),
    "keys twice": _changed("keys", lambda array: np.sort(_at(1, array[0])(array))),
    "not private": _changed("u", _at(5, 0.9)),
    "no probability": _changed("u", _at(5, -1e-3)),
    "half the probability": _changed("u", lambda array: array / 2),
    "one step out": _changed("u", lambda array: array + 1e-3),
    "a negative multiplier": _changed("lam", _at(5, -1.0)),
    "a negative price": _changed("pairs", _at(5, -1.0)),
    "a bound too good": _changed("numbers", lambda array: _at(1, array[1] + 1e-3)(array)),
    "a bound from no prices": _changed("pairs", np.zeros_like),
    "an aim beyond": _changed("numbers", _at(_NUMBERS["aim"], 1.5)),
    "no patience": _changed("numbers", _at(_NUMBERS["short"], 1e6)),
    "another theta": _changed("numbers", _at(_NUMBERS["theta"], -1.0)),
    "no lines": _changed("log", lambda array: array[:0]),
    "a line too few": _changed("log", lambda array: array[1:]),
    "another value": _changed("log", _at(-_LOG + 2, 0.1)),
    "seconds below none": _changed("log", _at(_LOG - 1, -1.0)),
    "a clock that stands": _changed("log", _at(_LOG - 1, 1e300)),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_state_is_no_state(whole, stopped, how):
    SPOILT[how](stopped)
    late, told = solved(CASE, stopped.parent)
    assert len(told) == len(whole.log)
    assert same(late, whole)


@pytest.mark.parametrize("scale", [1e250, 1e-250])
def test_a_state_that_leads_nowhere_costs_time_alone(whole, stopped, scale):
    rng = np.random.default_rng(4)
    _changed("lam", lambda array: array * scale ** rng.random(len(array)))(stopped)
    late, _ = solved(CASE, stopped.parent)
    assert late.status is Status.OPTIMAL
    check(CASE, late, whole.cost, tolerance=1.1 * GAP)


KILLED = """
import itertools, os, signal, sys
import numpy as np
import sfumato as sf
from sfumato.optimal import Auto
from sfumato.optimal.interior import checkpoints
checkpoints.EVERY_S, checkpoints.SHARE = 0.0, 1e9
lines = itertools.count()
def tell(step):
    if next(lines) == 7:
        os.kill(os.getpid(), signal.SIGKILL)
place = np.array([(k // 6, k % 6) for k in range(36)])
metric = sf.Metric(np.hypot(*(place[:, None] - place).T), "km")
prior = sf.Prior(sf.Space(range(36)), np.arange(1, 37) / 666)
promise = sf.MetricPrivacy(1.1, metric)
sf.design(prior, loss=metric, guarantees=promise, solver=Auto(folder=sys.argv[1]), tie_break=False, progress=tell)
"""


@pytest.mark.slow
def test_a_design_whose_process_was_killed(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    place = np.array([(k // 6, k % 6) for k in range(36)])
    metric = sf.Metric(np.hypot(*(place[:, None] - place).T), "km")
    prior = sf.Prior(sf.Space(range(36)), np.arange(1, 37) / 666)

    def designed(solver, progress):
        promise = sf.MetricPrivacy(1.1, metric)
        return design(prior, loss=metric, guarantees=promise, solver=solver, tie_break=False, progress=progress)

    told: list[object] = []
    once, late = designed(None, None), designed(Auto(folder=tmp_path), told.append)
    assert len(told) <= len(once.log) - 6
    np.testing.assert_array_equal(late.mechanism.matrix, once.mechanism.matrix)
    assert late.certificate == once.certificate
    assert len(late.log) == len(once.log)


def test_a_folder_that_cannot_be_used(tmp_path):
    (tmp_path / "file").touch()
    line = sf.Space.numbers(range(5), unit="km")
    metric = line.metric("absolute")
    folders: tuple[Any, ...] = (tmp_path / "file", tmp_path / "file" / "below", "null\0", 7)
    for folder in folders:
        with pytest.raises(FileError, match="cannot be used") as caught:
            design(
                sf.Prior(line, [0.1, 0.3, 0.2, 0.2, 0.2]),
                loss=metric,
                guarantees=sf.MetricPrivacy(1.0, metric),
                solver=Structured(folder=folder),
            )
        assert caught.value.hint
