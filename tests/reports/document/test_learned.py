"""A learned mechanism and the certified optimum: when `learn` offers the optimum, and says NOT FINISHED."""

import re
from dataclasses import replace

import numpy as np
import pytest

import sfumato as sf
from sfumato.learning import Pairs, nearest
from sfumato.optimal import INFORMATION, VULNERABILITY, Status, least_leak_on_plane
from sfumato.reports.document import LearningResult, learn_page
from sfumato.rounding import amount_at_most, percent_at_most

CELLS = sf.Grid.covering("3 km x 3 km around 48.85,2.35", "1 km")
MAX_LOSS_M = 700.0


def visits(seed, count=600):
    """Visits of two groups whose homes are 1.2 km apart."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    points = np.column_stack([1200 * labels - 600, np.zeros(count)]) + 350 * rng.standard_normal((count, 2))
    return Pairs(["west" if label == 0 else "east" for label in labels], np.clip(points, -1490, 1490), "m")


def compared(mechanism, *, objective=VULNERABILITY, judging=None, **options):
    learning = visits(0)
    optimum = least_leak_on_plane(
        learning.joint(CELLS),
        CELLS,
        learning.points,
        nearest(learning.points, CELLS),
        MAX_LOSS_M,
        objective=objective,
        gap=0.05,
        **options,
    )
    return LearningResult(mechanism, optimum, learning, judging or visits(1), CELLS, MAX_LOSS_M)


def truth():
    return sf.Mechanism(np.eye(len(CELLS)), CELLS, CELLS)


@pytest.mark.parametrize("objective", [VULNERABILITY, INFORMATION])
def test_an_optimum_that_hides_more_is_offered_with_its_figures_on_held_out_visits(objective):
    result = compared(truth(), objective=objective)
    assert result.is_worse
    offer = next(line for line in result.sentences if "hides more than the learned" in line)
    # The best guess of one who sees the report of a held-out visit, visit by visit.
    cell_of, labels = nearest(result.judging.points, CELLS), result.judging.classes
    figures, losses = [], []
    for channel in (result.optimum.mechanism, truth()):
        shares = np.zeros((2, channel.shape[1]))
        for label, cell in zip(labels, cell_of, strict=True):
            shares[label] += channel.matrix[cell] / len(labels)
        reports = CELLS.on_plane(channel.observables)
        away = np.hypot(*(result.judging.points[:, None] - reports[None]).transpose(2, 0, 1))
        losses.append(amount_at_most((channel.matrix[cell_of] * away).sum(axis=1).mean(), "m"))
        if objective == VULNERABILITY:
            figures.append(percent_at_most(shares.max(axis=0).sum()))
        else:
            even = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
            some = shares > 0
            figures.append((shares[some] * np.log2(shares[some] / even[some])).sum())
    if objective == VULNERABILITY:
        assert f"at most {figures[0]} of the time, instead of {figures[1]}. " in offer
    else:
        texts = [float(text) for text in re.findall(r"most ([\d.]+) bits, instead of ([\d.]+)\. ", offer)[0]]
        assert texts == pytest.approx(figures, rel=1e-2)
    assert offer.endswith(f"Its reports are off by at most {losses[0]} on average, instead of {losses[1]}.")


def test_it_is_not_offered_where_it_hides_no_more_or_promises_less():
    base = compared(truth())
    assert base.is_worse
    silent = np.zeros((len(CELLS), len(CELLS)))
    silent[:, 4] = 1.0
    mechanisms = {
        "as good": base.optimum.mechanism,
        "hides all, at more loss": sf.Mechanism(silent, CELLS, CELLS),
        "promises": truth().promising(sf.MetricPrivacy(1e3, CELLS.metric("euclidean", unit="m"))),
    }
    for name, mechanism in mechanisms.items():
        result = replace(base, mechanism=mechanism)
        assert not result.is_worse, name
        assert not any("hides more than the learned" in line for line in result.sentences)
    alone = replace(base, judging=visits(2).take(np.flatnonzero(visits(2).classes == 0)))
    assert not alone.is_worse  # with one value there is nothing to guess


def test_an_optimum_that_is_not_within_its_gap_is_a_warning_on_the_page():
    whole = compared(truth())
    assert whole.warnings == ()
    stopped = compared(truth(), stop=lambda: True)
    assert stopped.optimum.status is Status.INTERRUPTED
    (warning,) = stopped.warnings
    assert warning.startswith("The certified optimum is NOT FINISHED: stopped on request")
    assert warning in stopped.sentences
    for result in (whole, stopped):
        page = learn_page(result, is_finished=True)
        assert page.warning == (result is stopped)


def test_the_gap_of_a_small_leak_is_stated_relative_to_that_leak():
    whole = compared(truth(), objective=INFORMATION)
    optimum = replace(whole.optimum, value=2**-11, information_bits=2**-11, lower_bound=0.75 * 2**-11)
    assert optimum.gap < 0.2  # relative to what counts as nothing
    assert "by 25 % of its value" in " ".join(replace(whole, optimum=optimum).sentences)
