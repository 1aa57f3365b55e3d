"""Sparse vector: all outcomes of a small day against the bounds, draws against their law, silence at the end."""

import json
from collections import Counter
from dataclasses import asdict
from fractions import Fraction
from itertools import combinations, product
from math import exp, log
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.sampling import SeededWords
from sfumato.sequences import SparseVector, SparseVectorState, sparse_vector

PLANE = sf.geo.Projection(48.85, 2.35)
TICKS, SPAN = 4, 3


def vector(triggers, step="500 m", epsilons=("0.8/km", "0.5/km", "1.1/km")):
    report, threshold, test = epsilons
    noise = sf.mechanisms.planar.CoordinateNoise(report, step, PLANE, "30 km")
    return SparseVector(noise, "1 km", triggers, threshold, test)


def tail(k, rate):
    """P(noise >= k) of discrete Laplace noise."""
    upper = exp(-rate * abs(k)) / (1 + exp(-rate))
    return upper if k > 0 else 1 - upper * exp(-rate) if k < 0 else 1 / (1 + exp(-rate))


def outcomes(day, sparse, reports):
    """Probability of everything shown on a day of positions 0..SPAN, in steps; reports[x][z] as on a line."""
    threshold = round(Fraction(sparse.threshold_m) / sparse.noise.step_m)
    first, test = (float(1 / scale) for scale in (sparse.threshold_scale, sparse.test_scale))
    total: Counter[Any] = Counter()
    for rho in range(-200, 201):
        chance = np.tanh(first / 2) * exp(-first * abs(rho))
        states = {((z,), z, sparse.triggers): chance * reports[day[0]][z] for z in range(SPAN + 1)}
        for x in day[1:]:
            following: Counter[Any] = Counter()
            for (shown, z, left), p in states.items():
                trigger = tail(threshold + rho - abs(x - z), test) if left else 0.0
                following[(*shown, None), z, left] += p * (1 - trigger)
                for new in range(SPAN + 1) if left else ():
                    following[(*shown, new), new, left - 1] += p * trigger * reports[x][new]
            states = following
        for (shown, _, _), p in states.items():
            total[shown] += p
    return {shown: p for shown, p in total.items() if p}


@pytest.mark.parametrize("triggers", [1, 2])
def test_no_outcome_exceeds_the_bound_for_days_that_differ_at_few_or_all_ticks(triggers):
    sparse = vector(triggers)
    rate = float(sparse.noise.noise.rate)
    a = exp(-rate)
    reports = np.array([[a ** abs(x - z) for z in range(SPAN + 1)] for x in range(SPAN + 1)]) * (1 - a) / (1 + a)
    reports[:, 0], reports[:, -1] = reports[:, 0] / (1 - a), reports[:, -1] / (1 - a)
    days = [(0, 3, 0, 3), (1, 3, 0, 2), (0, 3, 1, 3), (0, 0, 0, 0), (1, 1, 1, 1), (1, 0, 0, 0), (0, 1, 0, 0)]
    laws = [outcomes(day, sparse, reports) for day in days]
    tests, largest = 1 / float(sparse.test_scale), 0.0
    for (day, p), (other, q) in product(zip(days, laws, strict=True), repeat=2):
        assert sum(p.values()) == pytest.approx(1)
        apart = np.abs(np.subtract(day, other))
        if not apart.any():
            continue
        ratio = max(log(p[shown] / q[shown]) for shown in p)
        ticks = np.count_nonzero(apart)
        whole = 1 / float(sparse.threshold_scale) + 2 * triggers * tests
        bound = apart.max() * (min(whole, ticks * tests) + min(triggers + 1, ticks) * rate)
        assert ratio <= bound + 1e-9
        largest = max(largest, ratio / bound)
    assert largest > 0.9


def test_draws_have_the_stated_law(monkeypatch):
    sparse = vector(2)
    words, position = SeededWords(5), (48.86, 2.36)
    monkeypatch.setattr(sparse_vector, "SystemWords", lambda: words)
    state = SparseVectorState(threshold=4, triggers=2, report=(48.85, 2.35))
    point = PLANE.forward(np.array([48.85, 48.86]), np.array([2.35, 2.36]))
    steps = int(np.hypot(*(point[1] - point[0])) // 500)
    drawn = [sparse.step(state, *position) for _ in range(3000)]
    share = tail(4 - steps, 1 / float(sparse.test_scale))
    assert np.mean([after is not state for after in drawn]) == pytest.approx(share, abs=4 * 0.5 / 3000**0.5)
    assert {after.triggers for after in drawn} == {1, 2}
    thresholds = np.array([sparse.start(*position).threshold for _ in range(3000)]) - 2
    rate = 1 / float(sparse.threshold_scale)
    assert np.mean(thresholds >= 2) == pytest.approx(tail(2, rate), abs=4 * 0.5 / 3000**0.5)


def test_after_the_last_trigger_nothing_is_drawn_and_states_pass_through_json(monkeypatch):
    sparse = vector(1)
    state = SparseVectorState(-(10**6), 1, (48.85, 2.35))
    stored = SparseVectorState(**json.loads(json.dumps(asdict(state))))
    last = sparse.step(stored, 48.9, 2.4)
    assert last.triggers == 0
    assert sparse.step(SparseVectorState(10**9, 1, (48.85, 2.35)), 60.0, 2.0).triggers == 1  # beyond the reach
    monkeypatch.delattr(sparse_vector, "SystemWords")
    assert sparse.step(last, 48.0, 2.0) is last


def test_rounded_distances_differ_by_at_most_the_distance_and_the_slack():
    sparse = vector(1, step="30 m")
    rng = np.random.default_rng(3)
    lat, lon = 48.85 + rng.uniform(-0.2, 0.2, 40), 2.35 + rng.uniform(-0.3, 0.3, 40)
    plane = PLANE.forward(lat, lon)
    for z in ((48.9, 2.2), (49.5, 3.0)):
        steps = [sparse._distance(z, *point) for point in zip(lat.tolist(), lon.tolist(), strict=True)]
        for i, j in combinations(range(40), 2):
            assert abs(steps[i] - steps[j]) * 30 <= np.hypot(*(plane[i] - plane[j])) + sparse.slack_m


def test_bounds_and_errors():
    sparse = vector(2)
    assert sparse.epsilon == pytest.approx(0.5 + 1.1 + 3 * 0.8)
    reach = 1 + sparse.slack_m / 1000
    assert sparse.exponent(1.0) == pytest.approx(4.0 * reach)
    assert sparse.exponent(1.0, 1) == pytest.approx((1.1 / 4 + 0.8) * reach)
    assert sparse.exponent(1.0, 0) == 0
    assert "silence and times included, is at most e^(4" in str(sparse)
    with pytest.raises(InputError):
        sparse.exponent(-1.0)
    with pytest.raises(InputError):
        vector(0)
    with pytest.raises(InputError):
        SparseVector(sf.mechanisms.planar.CoordinateNoise("1/km"), "1 km", 1, "1/km", "1/km")
    with pytest.raises(InputError):
        sparse.step(sparse.start(48.85, 2.35), 95.0, 2.35)
