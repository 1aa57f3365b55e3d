"""Privacy games: each part of the paper's study, on maps small enough to know better by another route."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.errors import DataError
from sfumato_papers import privacy_games, rows_of
from sfumato_papers.invented_city import invented_city
from sfumato_papers.privacy_games.pruning import least_cost
from sfumato_papers.reproduction import RunTables, Setting, paper_of

from ..conftest import quick_setting
from ..test_redrawn import GAMES

DOCS = Path(__file__).resolve().parents[3] / "docs"
SOURCE = "synthetic city"


@pytest.fixture(scope="module")
def parts():
    """The parts of the quick size, by name."""
    return {part.name: part for part in paper_of("privacy-games").parts(quick_setting("privacy-games"))}


@pytest.fixture(scope="module")
def made(quick_run):
    """The rows of the first user and the five points in the tables of the quick run."""
    tables = RunTables(quick_run("privacy-games").folder)
    rows: dict[str, list[Any]] = {name: tables.rows(name, kind) for name, kind in GAMES.items()}
    return {name: [row for row in every if getattr(row, "user", 1) == 1] for name, every in rows.items()}


@pytest.fixture(scope="module")
def games(made):
    """Designs of scenarios 1 and 2, by scenario, epsilon, gap and mechanism."""
    keys = ("scenario", "epsilon", "gap_asked", "mechanism")
    return {tuple(getattr(row, key) for key in keys): row for row in made["privacy_games"]}


def person_of(parts):
    return next(part.arguments[0] for name, part in parts.items() if name.startswith("user 1"))


@pytest.mark.slow
def test_every_design_is_proved_and_certified(games):
    assert len(games) == 2 * 5 + 2  # two epsilons, and the two designs that are repeated
    for row in games.values():
        assert row.proved
        assert row.status == "OPTIMAL"
        assert row.gap <= 2 * row.gap_asked
        assert row.cost_lower_bound <= row.cost
        if row.mechanism != "distortion":
            assert row.epsilon_upper <= row.epsilon
        if row.distortion_asked:
            assert row.distortion_lower >= row.distortion_asked
        assert row.error_best <= row.error_bayes + 1e-9
        assert row.error_best <= row.blind_error + 1e-9


def test_first_scenario(games):
    """The metric optimum keeps what joint asks for, so both cost the same; distortion alone costs no more."""
    joints = {key: row for key, row in games.items() if key[0] == 1 and key[-1] == "joint"}
    assert len(joints) == 3
    for key, joint in joints.items():
        metric = games[(*key[:-1], "metric")]
        assert joint.distortion_asked <= metric.distortion_lower
        np.testing.assert_allclose(joint.cost, metric.cost, rtol=4 * key[2])
        assert joint.cost_lower_bound <= metric.cost
        if (distortion := games.get((*key[:-1], "distortion"))) is not None:
            assert distortion.cost_lower_bound <= joint.cost


def test_second_scenario(games):
    """More distortion than metric privacy gives costs at least as much as either alone."""
    joints = {key: row for key, row in games.items() if key[0] == 2 and key[-1] == "joint"}
    assert len(joints) == 2
    for key, joint in joints.items():
        for other in (games[(1, *key[1:-1], "metric")], games[(*key[:-1], "distortion")]):
            assert joint.cost >= other.cost_lower_bound


def test_who_knows_more_errs_less(made):
    assert len(made["privacy_games_informed"]) == 2 * 3 * 5
    for row in made["privacy_games_informed"]:
        assert row.error_informed <= min(row.error_expected, row.error_blind) + 1e-9
        if row.sharper == 0:
            assert row.error_informed == row.error_expected


def test_five_points_cost_what_they_are_known_to(made):
    known = {0.25: (0.0625, 0.430306274), 0.5: (0.125, 0.430306274), 0.75: (0.1875, 0.463397956)}
    known[1.0] = (0.3, 0.523139200)
    assert len(made["line"]) == len(known)
    for row in made["line"]:
        distortion, joint = known[row.distortion_asked]
        assert row.metric == pytest.approx(0.430306274, abs=1e-7)
        assert row.distortion == pytest.approx(distortion, abs=1e-7)
        assert row.joint == pytest.approx(joint, abs=1e-7)
        assert row.joint_lower_bound <= joint + 1e-9


def test_apart_joint_keeps_both_and_costs_no_less_than_either(made):
    by = {(row.epsilon, row.distortion_asked): row for row in made["apart"]}
    joints = [row for row in made["apart"] if row.mechanism == "joint"]
    assert len(joints) == 2 * 2  # epsilons and distortions
    for row in joints:
        metric, distortion = by[row.epsilon, None], by[None, row.distortion_asked]
        assert row.proved
        assert row.epsilon_upper <= row.epsilon
        assert row.distortion_lower >= row.distortion_asked
        assert row.cost >= max(metric.cost_lower_bound, distortion.cost_lower_bound)
        assert row.met == (metric.distortion_lower >= row.distortion_asked)
        if row.met:
            assert row.cost == metric.cost


def test_prices_are_slopes_and_both_sides_meet(made):
    assert [row.mechanism for row in made["slopes"]] == ["distortion", "joint"]
    for row in made["slopes"]:
        assert row.price > 0.1
        assert row.slope_below <= row.price <= row.slope_above
        assert row.distortion_asked <= row.error_lower <= row.error_upper + 1e-12
        assert row.error_upper == pytest.approx(row.error_lower, abs=1e-5)
        assert row.error_strategy == pytest.approx(row.distortion_asked, abs=1e-5)
    for row in made["prices"]:
        assert row.error_lower <= row.error_upper + 1e-12


def test_without_far_pairs_epsilon_is_kept_times_the_dilation(made):
    rows = {(row.kind, row.threshold): row for row in made["pruned-pairs"]}
    # Cells of 1 km: along sides the way to a diagonal neighbour is longer by the root of two.
    assert rows["pruned", 1.0].dilation == pytest.approx(np.sqrt(2))
    assert rows["pruned", 1.0].pairs == 2 * (5 * 4 + 6 * 3)
    exact = rows["exact", None]
    assert exact.kept
    for (kind, _), row in rows.items():
        if kind == "pruned":
            assert row.epsilon < row.epsilon_true <= row.epsilon * row.dilation
            assert not row.kept
            assert row.cost_lower_bound <= exact.cost
        elif kind == "corrected":
            assert row.kept
            assert row.cost >= exact.cost_lower_bound


def test_without_far_guesses_the_program_asks_for_less(made, parts):
    rows = {row.threshold: row for row in made["pruned-attacks"]}
    exact = rows.pop(None)
    assert exact.error_best >= exact.distortion_asked
    costs = [rows[threshold].cost for threshold in sorted(rows)]
    assert np.diff(costs).min() > -1e-8
    assert costs[-1] <= exact.cost
    for row in (exact, *rows.values()):
        assert row.cost * (1 - 1e-4) < row.cost_lower_bound <= row.cost
    for row in rows.values():
        assert row.error_best < row.distortion_asked
    # With all guesses the general back-end solves the program that the structured method does.
    part = next(part for name, part in parts.items() if name.startswith("user 1, guesses within 1"))
    person, share, _, gap = part.arguments
    (whole,) = part.make(person, share, 100.0, gap)["pruned-attacks"]
    assert whole.rows == exact.rows == 24 * 24
    assert whole.cost == pytest.approx(exact.cost, rel=2e-4)
    assert whole.error_best == pytest.approx(exact.distortion_asked, rel=1e-4)


def test_no_strategy_of_the_attacker_gives_a_bound_above_the_least_cost():
    """Against SciPy on random programs, with every row of the program written out."""
    random = np.random.default_rng(8)
    for _ in range(20):
        n = int(random.integers(1, 6))
        points = random.random((n, 2))
        d = np.linalg.norm(points[:, None] - points[None], axis=2)
        k = int(random.integers(1, n + 1))
        mass, near = random.dirichlet(np.ones(k)), d <= random.random()
        minimum = 0.7 * float((d[:, :k] @ mass).min())
        cost = (mass[:, None] * (1 - np.eye(n)[:k])).ravel()
        rows = [
            np.concatenate([-np.outer(mass * d[guess, :k], np.eye(n)[o]).ravel(), np.eye(n)[o]])
            for o, guess in np.argwhere(near)
        ]
        rows.append(np.concatenate([np.zeros(k * n), -np.ones(n)]))
        sums = np.hstack([np.kron(np.eye(k), np.ones((1, n))), np.zeros((k, n))])
        least = linprog(
            np.concatenate([cost, np.zeros(n)]), rows, [0.0] * (len(rows) - 1) + [-minimum], sums, np.ones(k)
        ).fun
        for _ in range(20):
            weights = np.where(near & (random.random((n, 1)) < 0.5), random.exponential(size=(n, n)), 0.0)
            bound = least_cost(mass, d[:, :k], np.eye(n)[:k], weights, random.exponential(), minimum)
            assert bound <= least + 1e-9


def test_each_design_without_far_pairs_or_guesses_has_its_time(made):
    designs = [("metric", row.kind, row.threshold) for row in made["pruned-pairs"]]
    designs += [("distortion", row.kind, row.threshold) for row in made["pruned-attacks"]]
    times = made["pruned-seconds"]
    assert sorted(map(str, designs)) == sorted(str((row.mechanism, row.kind, row.threshold)) for row in times)
    assert min(row.seconds for row in times) > 0


def test_the_map_holds_most_visits():
    random = np.random.default_rng(3)
    for _ in range(20):
        points = random.integers(0, 9, size=(random.integers(1, 25), 2)).astype(float)
        size = tuple(random.integers(1, 7, size=2).astype(float))
        corner, held = privacy_games.densest_corner(points, size)
        most = max(
            ((points >= (x, y)) & (points <= (x + size[0], y + size[1]))).all(axis=1).sum()
            for x in range(9)
            for y in range(9)
        )
        assert held == most
        assert ((points >= corner) & (points <= corner + size)).all(axis=1).sum() == most


def test_people_are_drawn_from_each_source_in_turn(parts):
    person = person_of(parts)
    assert (person.number, person.source) == (1, SOURCE)
    assert (person.city.columns, person.city.rows) == (6, 4)
    assert person.visits >= 40


def test_no_user_with_enough_visits_is_refused():
    few = invented_city(users=2, days=1)
    with pytest.raises(DataError, match="no user has 40 visits, in more than one cell, on one map of 6 km x 4 km"):
        paper_of("privacy-games").parts(Setting(True, {SOURCE: few}, has_files=False))


@pytest.mark.parametrize("name", ["error", "cost", "bayes", "attackers", "joint"])
def test_figures_of_the_docs_say_what_they_show(name):
    rows = rows_of(DOCS / "data/privacy-games/privacy_games.csv", privacy_games.GameRow)
    figure = getattr(privacy_games, f"{name}_figure")([row for row in rows if row.gap_asked == 1e-4])
    for ax in figure.axes:
        assert "km" in ax.get_xlabel()
        assert ax.get_ylabel()
        assert len(ax.get_legend_handles_labels()[1]) > 1


def test_boxes_of_figure_8_are_the_users_of_the_tables():
    folder = DOCS / "data/privacy-games"
    pairs = rows_of(folder / "pruned-pairs.csv", privacy_games.PairRow)
    attacks = rows_of(folder / "pruned-attacks.csv", privacy_games.AttackRow)
    times = rows_of(folder / "pruned-seconds.csv", privacy_games.TimeRow)
    epsilon, cost, error, _ = privacy_games.threshold_figure(pairs, attacks).axes
    users = sorted({row.user for row in pairs})
    assert users == list(range(1, 11))
    near = [row for row in pairs if (row.kind, row.threshold) == ("pruned", 0.76)]
    least = {row.user: row.cost for row in pairs if row.kind == "exact"}
    values = {
        epsilon: [row.epsilon_true for row in near],
        cost: [100 * row.cost / least[row.user] for row in near],
        error: [
            100 * row.error_best / row.distortion_asked
            for row in attacks
            if (row.kind, row.threshold) == ("pruned", 0.76)
        ],
    }
    for ax, expected in values.items():
        data = [np.asarray(line.get_xydata()) for line in ax.lines]
        heights = [set(np.round(xy[:, 1], 9)) for xy in data if len(xy) and xy[:, 0].mean() == 1.0]
        assert len(expected) == 10
        for height in (min(expected), np.median(expected), max(expected)):
            assert any(np.round(height, 9) in ends for ends in heights)
    for ax in privacy_games.time_figure(times).axes:
        assert [label.get_text() for label in ax.get_xticklabels()][-1] == "all"
        assert len(ax.get_legend_handles_labels()[1]) == 2
