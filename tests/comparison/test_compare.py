"""Comparisons are fair: equal in what they say is equal, and never better than the certified optimum."""

import csv
import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.comparison import ParametricFamily, calibrate, compare, priors
from sfumato.comparison.priors import optimum_row, row_of_tuples, with_dummies
from sfumato.errors import InputError, SolverError
from sfumato_papers.invented_city import invented_city

GRID = sf.Grid.covering("2 km x 1500 m around 48.85,2.35", cell="500 m")
KM = GRID.metric("euclidean", unit="km")
BELIEF = sf.Prior(GRID, np.arange(12.0) / 66)  # one place is never visited


@pytest.fixture(scope="module")
def at_epsilon():
    return compare(BELIEF, KM, epsilon="1/km")


@pytest.fixture(scope="module")
def at_loss():
    return compare(BELIEF, KM, max_loss="300 m", remap=False)


def test_at_equal_epsilon_nobody_promises_less_or_loses_less_than_the_optimum(at_epsilon):
    assert at_epsilon.equal == "epsilon"
    optimum = at_epsilon.row("optimum")
    assert optimum.loss_lower_bound is not None
    for row in at_epsilon.rows:
        if row.problem:  # in the plane tight constraints need not exist
            assert row.name.startswith("tight constraints")
            continue
        assert row.epsilon_upper <= 1
        assert row.loss >= optimum.loss_lower_bound
        assert row.attacker_error <= min(row.loss, at_epsilon.blind_error) + 1e-9
        assert row.information_bits + row.entropy_bits == pytest.approx(BELIEF.entropy_bits)
    assert at_epsilon.row("planar geometric + remap").loss <= at_epsilon.row("planar geometric").loss + 1e-12
    assert at_epsilon.row("exponential").epsilon_upper > 0.999


@pytest.mark.slow
def test_at_equal_loss_the_optimum_needs_the_least_epsilon(at_loss):
    assert at_loss.values == pytest.approx((0.3,))
    best = at_loss.row("optimum")
    assert best.loss <= 0.3
    for row in at_loss.rows:
        if row.problem:
            assert row.loss == math.inf
            continue
        assert row.loss == pytest.approx(0.3, rel=2e-3)
        assert row.epsilon_upper >= best.epsilon_upper * (1 - 2e-3)
    assert at_loss.row("coin").epsilon_upper == math.inf
    least = at_loss.row("least information").information_bits
    assert all(row.information_bits >= least - 1e-3 for row in at_loss.rows if not row.problem)


def test_values_on_a_line_have_their_own_families():
    ages = sf.Space.numbers(range(20, 26), unit="year")
    found = compare(sf.Prior.uniform(ages), ages.metric("absolute"), epsilon="0.5/year", remap=True)
    assert found.row("geometric + remap").loss == pytest.approx(found.row("optimum").loss, rel=2e-4)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("limit", [{"epsilon": 1.22}, {"max_loss": "0.98 year"}, {"max_loss": "0.3 year"}])
def test_epsilon_may_count_by_another_metric_than_losses(limit):
    ages = sf.Space.numbers(range(20, 26), unit="year")
    prior, years, any_two = sf.Prior(ages, [0.3, 0.3, 0.2, 0.1, 0.1, 0]), ages.metric("absolute"), sf.hamming(ages)
    found = compare(prior, any_two, loss=years, **limit)
    assert (found.unit, found.metric_unit) == ("year", "")
    best = found.row("optimum")
    for row in found.rows:
        if row.epsilon_upper <= best.epsilon_upper:
            assert row.loss >= best.loss * (1 - 1e-3)
    designs = [
        sf.design(prior, loss=years, guarantees=sf.MetricPrivacy(share * best.epsilon_upper, any_two))
        for share in (1, 0.99)
    ]
    assert designs[0].certificate.loss == pytest.approx(best.loss, rel=2e-3)
    assert designs[1].certificate.bound > best.loss
    for text in found.sentences()[:1]:
        assert "/year" not in text
        assert " year on average" in text


def test_a_family_that_keeps_more_than_it_promises_is_loosened():
    halved = ParametricFamily(
        "halved", lambda e: sf.mechanisms.planar_geometric(GRID, f"{e / 2}/km"), promises=True
    )
    parameter, mechanism = calibrate(halved, KM, 1.0)
    assert parameter == pytest.approx(2.0, rel=1e-3)
    assert sf.proofs.prove_metric_privacy(mechanism, sf.MetricPrivacy(1.0, KM)).holds


@pytest.mark.slow
def test_table_and_figure(at_epsilon, at_loss, tmp_path):
    at_epsilon.save(tmp_path / "table.csv")
    with open(tmp_path / "table.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [row.name for row in at_epsilon.rows]
    assert float(rows[0]["loss"]) == at_epsilon.rows[0].loss
    for found in (at_epsilon, at_loss):
        narrow = found.figure(narrow=True)
        narrow.canvas.draw()
        assert narrow.get_figwidth() < 5
        assert len({round(ax.get_position().x0, 3) for ax in narrow.axes}) == 1
        figure = found.figure()
        assert [ax.get_xlabel() for ax in narrow.axes] == [ax.get_xlabel() for ax in figure.axes]
        present = [row for row in found.rows if not row.problem]
        measures = (
            ("expected loss (km)", [row.loss for row in present])
            if found is at_epsilon
            else ("proved epsilon (per km)", [row.epsilon_upper for row in present]),
            ("error of the best attack (km)", [row.attacker_error for row in present]),
            ("the secret is found (%)", [100 * row.hit_rate for row in present]),
            ("mutual information (bits)", [row.information_bits for row in present]),
        )
        panels = {ax.get_xlabel(): ax for ax in figure.axes}
        assert figure.axes[0].get_xlabel() == measures[0][0]
        best = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        assert best[0] == "optimum"
        for label, values in measures:
            if label not in panels:
                known = sorted(filter(math.isfinite, values))
                blind = found.blind_error if "error" in label else 100 * found.blind_hit_rate
                assert known[-1] - known[0] <= 0.1 * max(known[-1], blind)
                assert f"{label}: {sf.rounding.about(known[0], 3)}" in " ".join(figure.get_suptitle().split())
                continue
            ax = panels[label]
            marks = [
                tuple(np.asarray(line.get_xydata())[0])
                for line in ax.lines
                if line.get_marker() in ("*", "o", "s")
            ]
            assert [x for x, _ in marks] == [value for value in values if math.isfinite(value)]
            assert len(set(marks)) == len(marks)
            # No two marks of a panel lie at one height, so that none covers another.
            assert len({y for _, y in marks}) == len(marks)


@pytest.mark.parametrize("wanted", [{}, {"epsilon": 1.0, "max_loss": 1.0}, {"max_loss": 0.0, "families": []}])
def test_requests_that_mean_nothing(wanted):
    if wanted.get("max_loss") == 0.0:
        assert compare(BELIEF, KM, **wanted).row("optimum").problem
        return
    with pytest.raises(InputError, match="give one of them"):
        compare(BELIEF, KM, **wanted)
    with pytest.raises(InputError, match="is not in the comparison"):
        compare(BELIEF, KM, epsilon=1.0, families=[]).row("noise")


def test_vertices_that_stand_for_points_are_left_to_the_comparison_for_places():
    lattice = sf.Lattice.covering("2 km x 1500 m around 48.85,2.35", "500 m")
    with pytest.raises(InputError, match="points they stand for"):
        compare(sf.Prior.uniform(lattice), lattice.metric("euclidean", unit="km"), epsilon="1/km")


def test_an_optimum_of_few_reports_is_measured_as_its_design_is():
    """A solver that generates reports leaves a mechanism with fewer observables than secrets."""
    found = sf.design(BELIEF, loss=KM, guarantees=sf.MetricPrivacy(0.3, KM), solver="generating")
    assert len(found.mechanism.observables) < len(GRID)
    row = optimum_row(found, BELIEF, KM, KM)
    whole = found.matrix  # with a column for every secret: zeros where there is no report
    assert row.loss == pytest.approx(float(BELIEF.probabilities @ (whole * KM.array).sum(axis=1)))
    assert row.worst_case_loss == pytest.approx(float((whole * KM.array).sum(axis=1).max()))
    joint = BELIEF.probabilities[:, None] * whole
    assert row.attacker_error == pytest.approx(float((KM.array @ joint).min(axis=0).sum()))
    assert row.loss_lower_bound is not None
    assert row.loss_lower_bound <= row.loss
    tupled = row_of_tuples(row, with_dummies(found.mechanism, 3), BELIEF, KM, found.loss)
    assert 0 < tupled.loss <= row.loss  # the best of four answers


@pytest.mark.slow
def test_the_optimum_on_four_hundred_cells_is_not_lost():
    city = invented_city()
    grid = sf.Grid.covering(city, shape=(20, 20))
    prior = sf.Prior.from_visits(grid, city)
    found = compare(prior, grid.metric("euclidean", unit="km"), epsilon="1/km", families=[])
    (optimum,) = found.rows
    assert found.complete
    assert not optimum.problem
    assert optimum.loss_lower_bound is not None
    assert optimum.loss_lower_bound <= optimum.loss <= optimum.loss_lower_bound * 1.001


@pytest.mark.slow
def test_a_mechanism_that_could_not_be_made_is_no_number(monkeypatch, tmp_path):
    def broken(*_, **__):
        raise SolverError("the solver broke.", "try another.")

    monkeypatch.setattr(priors, "design", broken)
    found = compare(BELIEF, KM, epsilon="0.2/km", remap=False)
    assert not found.complete
    assert not found.timed_out
    found.save(tmp_path / "table.csv")
    with open(tmp_path / "table.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    missing = [row for row in rows if row["problem"]]
    assert [row["name"] for row in missing] == ["optimum", "tight constraints"]
    assert [row["infeasible"] for row in missing] == ["False", "True"]
    assert all(row["loss"] == row["epsilon_upper"] == row["attacker_error"] == "" for row in missing)
    page = found.page("a belief")
    assert any("NOT FINISHED: a mechanism could not be made." in line for line in page.lead)


@pytest.mark.slow
def test_several_epsilons_are_rows_and_lines(tmp_path):
    found = compare(BELIEF, KM, epsilon=["1/km", 2.0, "1/km"])
    assert found.values == (1.0, 2.0)
    assert found.complete  # tight constraints that cannot exist are not missing
    for value in found.values:
        alone = compare(BELIEF, KM, epsilon=value).rows
        rows = [row for row in found.rows if row.epsilon == value]
        assert [row.name for row in rows] == [row.name for row in alone]
        assert found.row("exponential", value).loss == next(row for row in alone if row.name == "exponential").loss
        optimum = found.row("optimum", value)
        assert optimum.loss_lower_bound is not None
        assert all(row.problem or row.loss >= optimum.loss_lower_bound for row in rows)
    found.save(tmp_path / "table.csv")
    with open(tmp_path / "table.csv", newline="", encoding="utf-8") as file:
        table = [(row["name"], float(row["epsilon"])) for row in csv.DictReader(file)]
    assert table == [(row.name, row.epsilon) for row in found.rows]
    for narrow in (False, True):
        figure = found.figure(narrow=narrow)
        figure.canvas.draw()
        (ax,) = figure.axes
        drawn = {str(line.get_label()): np.asarray(line.get_xydata()) for line in ax.lines}
        for name in {row.name for row in found.rows if not row.problem}:
            losses = [[row.epsilon, row.loss] for row in found.rows if row.name == name and not row.problem]
            assert drawn[name].tolist() == losses
        bound = drawn["proved at the marks: with these reports no mechanism loses less"]
        assert bound[:, 1].tolist() == [found.row("optimum", value).loss_lower_bound for value in found.values]
        above = {row.name for row in found.rows if not row.problem and row.loss > ax.get_ylim()[1]}
        assert all(name in " ".join(figure.get_suptitle().split()) for name in above)
        assert above
