"""Figure 2.8 drawn again: its lines go through the published curves."""

import numpy as np
import pytest

from sfumato.privacy import Band
from sfumato.studies import change_in_formalism
from sfumato.studies.change_in_formalism import PANELS, PRIORS, READ


def test_every_value_is_that_of_the_published_curves():
    found = change_in_formalism.study()
    assert len(found.values) == 4 * 2 * 5
    assert found.largest_difference == max(abs(row.computed - row.published) for row in found.values)
    for row in found.values:
        assert row.computed == pytest.approx(row.published, abs=READ), row


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
    figure = change_in_formalism.figures(change_in_formalism.study())["change-in-formalism"]
    assert len(figure.axes) == 4
    for ax, panel in zip(figure.axes, PANELS, strict=True):
        upper, lower, _, points = ax.lines
        x, y = (np.asarray(values, dtype=float) for values in upper.get_data())
        assert np.interp(0.3, x, y) == pytest.approx(float(panel.band.upper(0.3)), abs=1e-6)
        below = np.interp(0.3, x, np.asarray(lower.get_ydata(), dtype=float))
        assert below == pytest.approx(float(panel.band.lower(0.3)), abs=1e-6)
        assert np.asarray(points.get_ydata()).tolist() == [*panel.lower, *panel.upper]
        assert panel.name in ax.get_title()


def test_example(load_example, tmp_path, capsys):
    load_example("change_in_formalism").main(["--out", str(tmp_path)])
    text = capsys.readouterr().out
    assert text.count("Adversarial privacy (AdvPr)") == 10
    assert "The largest difference is" in text
    assert (tmp_path / "change-in-formalism.png").stat().st_size > 50_000
