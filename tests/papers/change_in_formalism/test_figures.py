"""Figures 2.1, 2.2 and 2.8 drawn again: their lines go through the published curves."""

import dataclasses
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sfumato.privacy import Band
from sfumato_papers.change_in_formalism.claims import _figures
from sfumato_papers.change_in_formalism.thesis_values import (
    BAND_EPSILONS,
    EDGE_PRIOR,
    PANELS,
    PRIORS,
    READ,
    band_edges,
    band_values,
    bands_figure,
    corner_rows,
    edge_values,
    posterior_rows,
    published_figure,
    regions_figure,
)
from sfumato_papers.reproduction import Judgement

PAGE = (Path(__file__).parents[3] / "papers" / "docs" / "change-in-formalism.md").read_text(encoding="utf-8")


def test_every_value_is_that_of_the_published_curves():
    found = band_values()
    assert len(found) == 4 * 2 * 5
    for row in found:
        assert row.computed == pytest.approx(row.published, abs=READ), row


def test_the_edges_of_figure_2_2_are_half_an_epsilon_apart():
    """The published edges multiply the odds by e**(k / 2) and e**(-k / 2), for k from 1 to 14."""
    found = edge_values()
    assert len(found) == 2 * 14
    odds = EDGE_PRIOR / (1 - EDGE_PRIOR)
    for k in range(1, 15):
        lower, upper = found[2 * k - 2 : 2 * k]
        assert lower.panel == upper.panel == f"epsilon {k / 2:g}"
        for row, sign in ((lower, -1), (upper, 1)):
            by_odds = 1 / (1 + 1 / (odds * math.exp(sign * k / 2)))
            assert row.computed == pytest.approx(by_odds, rel=1e-9)
            assert row.published == pytest.approx(by_odds, abs=READ)


def test_figure_2_2_is_judged_by_its_drawing():
    bands, edges, values = posterior_rows(), edge_values(), band_values()
    figures = {claim.where: claim for claim in _figures(bands, edges, values)}
    assert figures["Figure 2.2"].verdict is Judgement.CONFIRMED
    assert (
        f"The largest of their differences is {max(abs(row.computed - row.published) for row in edges):.5f}."
        in PAGE
    )
    moved = [dataclasses.replace(edges[0], published=edges[0].published + 3 * READ), *edges[1:]]
    figures = {claim.where: claim for claim in _figures(bands, moved, values)}
    assert figures["Figure 2.2"].verdict is Judgement.UNCONFIRMED
    assert figures["Figure 2.8"].verdict is Judgement.CONFIRMED


def test_figure_2_2_is_judged_by_its_formula_at_every_prior_probability():
    bands, edges, values = posterior_rows(), edge_values(), band_values()
    bands[-50] = dataclasses.replace(bands[-50], upper=bands[-50].upper + 1e-9)
    figures = {claim.where: claim for claim in _figures(bands, edges, values)}
    assert figures["Figure 2.2"].verdict is Judgement.UNCONFIRMED


def test_the_formula_is_bayes_rule_for_randomised_response_at_every_prior_and_epsilon():
    """Both are quotients of polynomials of degree 1 in p and 2 in e^epsilon: a grid of 4 by 4 decides exactly."""
    for factor, p in product(map(Fraction, (2, 3, 5, 7)), (Fraction(k, 5) for k in range(1, 5))):
        truth, lie = factor / (1 + factor), 1 / (1 + factor)
        yes, no = (p * a / (p * a + (1 - p) * b) for a, b in ((truth, lie), (lie, truth)))
        assert band_edges(factor, p) == (no, yes)
        odds = p / (1 - p)
        assert [edge / (1 - edge) for edge in (no, yes)] == [odds / factor, odds * factor]


def test_another_epsilon_or_notion_would_not_fit():
    """The tolerance is small enough to tell: 1 % of epsilon, or the factors of ANPr for the ratios of DP."""
    for panel in PANELS:
        own = panel.band
        more = Band(
            "more", 1.01 * own.low, 1.01 * own.high, 1.01 * own.fall, 1.01 * own.rise, 1.01 * own.slope, own.delta
        )
        upper = more.upper(PRIORS)
        assert np.abs(upper - panel.upper).max() > 10 * READ
    ratios, factors = PANELS[0], PANELS[3]
    assert np.abs(ratios.band.upper(PRIORS) - factors.upper).max() > 0.05


def test_the_lines_that_are_drawn_are_the_bands():
    figure = published_figure(band_values())
    assert len(figure.axes) == 4
    for ax, panel in zip(figure.axes, PANELS, strict=True):
        upper, lower, _, points = ax.lines
        x, y = (np.asarray(values, dtype=float) for values in upper.get_data())
        assert np.interp(0.3, x, y) == pytest.approx(float(panel.band.upper(0.3)), abs=1e-6)
        below = np.interp(0.3, x, np.asarray(lower.get_ydata(), dtype=float))
        assert below == pytest.approx(float(panel.band.lower(0.3)), abs=1e-6)
        assert np.asarray(points.get_ydata()).tolist() == [*panel.lower, *panel.upper]
        assert panel.name in ax.get_title()


def test_bands_of_differential_privacy_are_those_of_the_odds():
    """Odds are multiplied by e**epsilon or e**-epsilon, and randomised response attains both."""
    rows = posterior_rows()
    assert {row.epsilon for row in rows} == set(BAND_EPSILONS)
    for row in rows:
        if not 0 < row.prior < 1:
            assert row.lower == row.upper == row.prior
            continue
        odds = row.prior / (1 - row.prior)
        lower, upper = (
            (row.lower, row.band_lower, row.answered_no),
            (row.upper, row.band_upper, row.answered_yes),
        )
        for found, sign in [*((edge, -1) for edge in lower), *((edge, 1) for edge in upper)]:
            assert found / (1 - found) == pytest.approx(odds * math.exp(sign * row.epsilon), rel=1e-9)
    (half,) = (row for row in rows if (row.epsilon, row.prior) == (BAND_EPSILONS[0], 0.5))
    assert half.lower == pytest.approx(0.25)
    assert half.upper == pytest.approx(0.75)


def test_the_figures_of_bands_and_regions_are_those_rows():
    one, several = bands_figure(posterior_rows()).axes
    assert len(several.lines) == 2 * (len(BAND_EPSILONS) - 1) + 1
    x, y = (np.asarray(values, dtype=float) for values in one.lines[1].get_data())
    assert np.interp(0.5, x, y) == pytest.approx(0.75)
    corners = corner_rows()
    whole, enlarged = regions_figure(corners).axes
    assert len(whole.lines) == len(enlarged.lines) == len({row.region for row in corners}) + 1
