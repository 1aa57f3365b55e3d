"""States of the loop on disk, checked when they are read, so that a stopped program resumes."""

from __future__ import annotations

import hashlib
import io
import os
import struct
import time
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...errors import FileError
from ..solver import Progress
from .block_form import Form, Iterate, Rows
from .lapack import Workers
from .pair_rows import Ints, search
from .tail_repair import Tails

EVERY_S = 5.0  # a state is written no more often
SHARE = 0.05  # of the time, at most, is spent on writing
_FORMAT = b"sfumato: state of the interior-point method, 1"
_ROWS = 24  # bytes of a row: key, multiplier, multiplier of the proof
_HEADERS = 1 << 16
_MOST_LINES = 100_000
_TYPES = {"problem": "|u1", "keys": "<i8"}
_AXES = {"u": 2, "guesses": 2, "log": 2}
_UNREADABLE = (  # errors that reading a missing, damaged or foreign file raises
    *(OSError, EOFError, ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, MemoryError),
    *(SyntaxError, struct.error, zipfile.BadZipFile, zlib.error),
)
_NAMES = ("problem", "keys", "u", "w", "lam", "mu", "pairs", "eta", "guesses", "numbers", "log")
_ROUNDING = 1e-9  # relative: of sums that another machine adds up in another order
_FEASIBLE = 1e-6  # of the coupling rows
_LONGEST_S = 1e9


class StateFile:
    """The state of one program that is solved to a gap; for ``below`` see `loop.follow`."""

    def __init__(self, folder: Path, form: Form, gap: float, below: float | None) -> None:
        self._form, self._signs = form, None if below is not None else (form.columns.sign, form.columns.sign)
        self._problem = _hash(form, gap, below)
        self._path = folder / f"{self._problem.hex()[:32]}.npz"
        self._due, self._steps = time.monotonic() + EVERY_S, 0
        self.used = False

    def read(self, patience: int, workers: Workers) -> State | None:
        """Return the stored state; None where there is none to resume from."""
        try:
            state = check_state(_state(self._arrays()), self._form, patience, self._signs, workers)
        except _UNREADABLE:  # the program starts again
            return None
        self.used, self._steps = True, len(state.log)
        return state

    def offer(self, state: State) -> None:
        """Write a state where the last one is old enough."""
        if time.monotonic() >= self._due:
            self.keep(state)

    def keep(self, state: State) -> None:
        """Write a state unless it is stored already; on a full disk the earlier one stays."""
        if self._steps == len(state.log):
            return
        begin = time.monotonic()
        part = self._path.with_suffix(".part")
        try:
            with part.open("wb") as stream:
                np.savez(stream, problem=np.frombuffer(self._problem, np.uint8), **_flat(state))
            os.replace(part, self._path)
            self._steps = len(state.log)
        except OSError:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        now = time.monotonic()
        self._due = now + max(EVERY_S, (now - begin) / SHARE)

    def drop(self) -> None:
        """Remove the state."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        self.used, self._steps = False, 0

    def _arrays(self) -> Mapping[str, NDArray[Any]]:
        form = self._form
        most = _ROWS * form.blocks * form.secrets**2 + 8 * (4 * form.blocks * form.size + 8 * len(form.target))
        if form.dense is not None:
            most += 16 * form.dense.count
        if self._path.stat().st_size > most + 48 * _MOST_LINES + _HEADERS:
            raise ValueError("the file is too large")
        with zipfile.ZipFile(self._path) as archive:
            problem = {"problem": _read(archive, "problem")}
            if problem["problem"].tobytes() != self._problem:
                raise ValueError("the state is that of another program")
            return problem | {name: _read(archive, name) for name in _NAMES[1:]}


def state_folder(path: str | os.PathLike[str]) -> Path:
    """Return the folder of states, created where it is missing; raise `FileError` if that fails."""
    try:
        folder = Path(path)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, TypeError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise FileError(
            f"the folder {str(path)!r} cannot be used ({reason}).", "name one where you may write."
        ) from None
    return folder


def _hash(form: Form, gap: float, below: float | None) -> bytes:
    columns, group = form.columns, form.symmetry
    digest = hashlib.sha256(_FORMAT)
    numbers = (gap, below, columns.minimum, columns.max_loss)
    digest.update(" ".join("-" if number is None else float(number).hex() for number in numbers).encode())
    of_columns = ("prior", "expected", "ratio", "capped", "members", "weighted", "secret_loss", "edges")
    arrays = [*(getattr(columns, name) for name in of_columns), group.secrets, group.representatives]
    for array in arrays:
        digest.update(b"-" if array is None else f"{array.dtype.str}{array.shape}".encode())
        if array is not None:
            digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


def _flat(state: State) -> dict[str, Any]:
    point, proof = state.point, state.proof
    numbers = np.array([point.v, proof.bound, proof.theta, state.aim, state.short])
    lines = np.array([(e.step, e.rows, e.value, e.bound, e.gap, e.seconds) for e in state.log])
    guesses = np.empty((0, 0)) if proof.guesses is None else proof.guesses
    arrays = (state.keys, point.u, point.w, point.lam, point.mu, proof.pairs, proof.eta, guesses, numbers, lines)
    return dict(zip(_NAMES[1:], arrays, strict=True))


def _state(arrays: Mapping[str, NDArray[Any]]) -> State:
    v, bound, theta, aim, short = (float(number) for number in arrays["numbers"])
    guesses = arrays["guesses"] if arrays["guesses"].size else None
    point = Iterate(arrays["u"], arrays["w"], v, arrays["lam"], arrays["mu"])
    proof = Proof(bound, np.empty(0), theta, arrays["eta"], arrays["pairs"], guesses)
    lines = (Progress(int(step), int(rows), *rest) for step, rows, *rest in arrays["log"].tolist())
    return State(arrays["keys"], point, proof, aim, int(short), tuple(lines))


def _read(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return one array; unpacking takes no more memory than the length of the file."""
    entry = archive.getinfo(f"{name}.npy")
    if entry.compress_type != zipfile.ZIP_STORED:
        raise ValueError("an array is compressed")
    stream = io.BytesIO(archive.read(entry))
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array is of another version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream)
    if by_columns or dtype.str != _TYPES.get(name, "<f8") or len(shape) != _AXES.get(name, 1):
        raise ValueError("an array is of another type")
    return np.frombuffer(bytearray(stream.read()), dtype).reshape(shape)


@dataclass(frozen=True, slots=True)
class Proof:
    """A feasible dual point."""

    bound: float  # lower bound of the minimised value, up to float rounding
    mu: Floats  # array (n,), multipliers of the row sums
    theta: float  # multiplier of the distortion
    eta: Floats  # array (loss rows,), multipliers of the loss rows
    pairs: Floats  # array (pair rows,), multipliers of the scaled pair rows, zero where capped
    guesses: Floats | None  # array (blocks, guesses), or None
    families: Floats | None = None  # array (blocks, pairs of distributions), or None


def prove(rows: Rows, point: Iterate, tails: Tails | None = None) -> Proof:
    """Return the bound that a point's multipliers lam, not negative, and mu prove, with those that prove it.

    For any lam the best mu is mu_s = min_o (c_o + D_o' eta - G_o' lam - A' nu)[s], with the weights nu_o of
    guesses scaled to the sum theta. Rows at the cap stand for x >= 0, so their multipliers are omitted. ``tails``
    carries costs inward first.
    """
    form, columns = rows.form, rows.form.columns
    n = form.secrets
    pairs = rows.pairs
    lam = point.lam[: pairs.count]
    if columns.capped.any():
        _, upper, lower = pairs.triples()
        lam = np.where(columns.capped[upper, lower], 0.0, lam)
    eta = np.maximum(0.0, -point.mu[form.size :])
    if form.free is not None and not columns.game:
        total = float(eta.sum())
        eta = eta / total if total > 0 else np.full(len(eta), 1 / len(eta))
    costs = form.objective[:, :n] - pairs.adjoint(lam)[:, :n]
    if form.losses is not None:
        costs = costs + form.losses.adjoint(eta)[:, :n]
    theta, guesses = 0.0, None
    dense = point.lam[pairs.count : rows.slack_start].reshape(form.blocks, -1)
    families = None
    if columns.families is not None:
        begin = 0 if columns.weighted is None else len(columns.weighted)
        families = dense[:, begin : begin + len(columns.families.deltas)]
        costs = costs - families @ columns.families.rows
    if columns.weighted is not None:
        theta = 1.0 if columns.game else max(0.0, float(point.mu[n]))
        guesses = dense[:, : len(columns.weighted)]
        sums = guesses.sum(axis=1, keepdims=True)
        guesses = guesses * (theta / np.where(sums > 0, sums, 1.0))
        costs = costs - guesses @ columns.weighted
    if tails is not None:
        lam, costs = tails.carry(lam, costs, point.mu[:n])
    mu = costs.min(axis=0)[form.symmetry.secrets].min(axis=0)
    bound = float(mu.sum())
    if columns.minimum is not None:
        bound += theta * columns.minimum
    if columns.max_loss is not None:
        bound -= float(eta.sum()) * columns.max_loss
    if columns.families is not None and families is not None:
        bound -= float(columns.families.deltas @ families.max(axis=0))
    return Proof(bound, mu, theta, eta, lam, guesses, families)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The loop between two iterations."""

    keys: Ints  # sorted keys of the pair rows that are present
    point: Iterate  # the iterate
    proof: Proof  # the best bound so far
    aim: float  # the share of the present mean that the next step aims at, at most
    short: int  # how many steps before were next to nothing
    log: tuple[Progress, ...]  # the lines so far, including this iterate's


def check_state(
    state: State, form: Form, patience: int, signs: tuple[float, float] | None, workers: Workers
) -> State:
    """Return a state that was read, or raise a `ValueError` where it cannot be one of this problem.

    ``signs`` are the signs of value and bound in the last line; None where it has neither.
    """
    _check_keys(state.keys, form)
    rows, point, proof = Rows.of(form, state.keys), state.point, state.proof
    coupled = len(form.target)
    shapes: list[tuple[Floats, tuple[int, ...]]] = [
        (point.u, (form.blocks, form.size)),
        (point.w, (form.slack_rows,)),
        (point.lam, (rows.count,)),
        (point.mu, (coupled,)),
        (proof.pairs, (rows.pairs.count,)),
        (proof.eta, (form.slack_rows,)),
    ]
    _demand((form.dense is None) == (proof.guesses is None))
    if form.dense is not None and proof.guesses is not None:
        shapes.append((proof.guesses, (form.blocks, form.dense.count // form.blocks)))
    for array, shape in shapes:
        _demand(array.shape == shape and bool(np.isfinite(array).all()))
    _demand(bool(np.isfinite([point.v, proof.bound, proof.theta, state.aim]).all()))
    _demand(0 < state.aim < 1 and 0 <= state.short < patience and proof.theta >= 0)
    _demand(all(bool((array >= 0).all()) for array, _ in shapes[4:]))
    _check_inside(rows, point, workers)
    mu = np.zeros(coupled)
    mu[form.size :] = -proof.eta
    weights = [proof.pairs, np.zeros(form.slack_rows)]
    if proof.guesses is not None:
        mu[form.secrets] = proof.theta
        weights.insert(1, proof.guesses.ravel())
    again = prove(rows, Iterate(point.u, point.w, point.v, np.concatenate(weights), mu))
    value = form.value(point.u)
    near = _ROUNDING * max(abs(value), abs(proof.bound), 1e-300)
    _demand(again.bound >= proof.bound - near)
    log, seconds = state.log, np.array([line.seconds for line in state.log])
    _demand(len(log) > 0 and log[-1].rows <= rows.pairs.count)
    _demand(bool((seconds >= 0).all() and (np.diff(seconds) >= 0).all() and (seconds <= _LONGEST_S).all()))
    _demand([line.step for line in log] == list(range(len(log))))
    _demand(not np.isnan([(line.value, line.bound, line.gap) for line in log]).any())
    if signs is not None:
        last = state.log[-1]
        _demand(abs(signs[0] * last.value - value) <= near and abs(signs[1] * last.bound - proof.bound) <= near)
    return replace(state, proof=replace(proof, mu=again.mu))


def _demand(true: bool) -> None:
    if not true:
        raise ValueError("the state does not fit")


def _check_keys(keys: Ints, form: Form) -> None:
    n = form.secrets
    _demand(len(keys) > 0 and int(keys[0]) >= 0 and int(keys[-1]) < form.blocks * n * n)
    _demand(bool((np.diff(keys) > 0).all()))
    rest = keys % (n * n)
    _demand(bool((rest // n != rest % n).all()))
    if form.columns.edges is not None:
        edges = np.sort(form.columns.edges[:, 0].astype(np.int64) * n + form.columns.edges[:, 1])
        blocks = np.arange(form.blocks, dtype=np.int64)[:, None] * (n * n)
        _demand(np.array_equal(keys, (blocks + edges).reshape(-1)))


def _check_inside(rows: Rows, point: Iterate, workers: Workers) -> None:
    """Raise `ValueError` for an iterate that breaks a row, present or not."""
    form = rows.form
    x = point.u[:, : form.secrets]
    _demand(bool((x > 0).all() and (point.lam > 0).all()))
    _demand(bool((rows.slack(point.u, point.w) > 0).all()))
    residual = form.target - form.total(point.u)
    residual[form.size :] -= point.w
    if form.free is not None:
        residual -= form.free * point.v
    _demand(float(np.abs(residual).max()) <= _FEASIBLE * max(1.0, float(np.abs(form.target).max())))
    if form.columns.edges is not None:
        return  # their rows, which imply all others, are all present
    bound = np.exp(form.columns.ratio)
    np.fill_diagonal(bound, np.inf)
    _demand(len(search(x, bound, np.empty(0, dtype=np.int64), workers)) == 0)
