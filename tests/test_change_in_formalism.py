"""The example that draws figure 2.8 again: its lines go through the published curves."""

import numpy as np
import pytest

from sfumato.privacy import Band


@pytest.fixture(scope="module")
def example(load_example):
    return load_example("change_in_formalism")


def test_every_value_is_that_of_the_published_curves(example):
    found = example.rows()
    assert len(found) == 4 * 2 * 5
    for row in found:
        assert row.computed == pytest.approx(row.published, abs=example.READ), row


def test_another_epsilon_or_notion_would_not_fit(example):
    """The tolerance is small enough to tell: 1 % of epsilon, or the factors of ANPr for the ratios of DP."""
    for panel in example.PANELS:
        own = panel.band
        more = Band(
            "more", 1.01 * own.low, 1.01 * own.high, 1.01 * own.fall, 1.01 * own.rise, 1.01 * own.slope, own.delta
        )
        upper = more.upper(example.PRIORS)
        assert np.abs(upper - panel.upper).max() > 10 * example.READ
    ratios, factors = example.PANELS[0], example.PANELS[3]
    assert np.abs(ratios.band.upper(example.PRIORS) - factors.upper).max() > 0.05


def test_the_lines_that_are_drawn_are_the_bands(example):
    figure = example.draw()
    assert len(figure.axes) == 4
    for ax, panel in zip(figure.axes, example.PANELS, strict=True):
        upper, lower, _, points = ax.lines
        x, y = upper.get_data()
        assert np.interp(0.3, x, y) == pytest.approx(float(panel.band.upper(0.3)), abs=1e-6)
        assert np.interp(0.3, *lower.get_data()) == pytest.approx(float(panel.band.lower(0.3)), abs=1e-6)
        assert points.get_ydata().tolist() == [*panel.lower, *panel.upper]
        assert panel.name in ax.get_title()


def test_table_and_figure(example, tmp_path, capsys):
    example.main(["--out", str(tmp_path)])
    text = capsys.readouterr().out
    assert text.count("Adversarial privacy (AdvPr)") == 10
    assert "The largest difference is" in text
    assert (tmp_path / "change-in-formalism.png").stat().st_size > 50_000
