"""Privacy games: the example runs, and what its small case says holds."""

import csv
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.studies import privacy_games


@pytest.fixture(scope="module")
def games(load_example, tmp_path_factory):
    """Rows of two users of the synthetic city on 6 x 4 cells, by scenario, user, epsilon, gap and mechanism."""
    folder = tmp_path_factory.mktemp("games")
    city = sf.synthetic_city(users=6, days=56)
    assert city.user is not None
    lines = [f"{a},{b},{c}" for a, b, c in zip(city.lat, city.lon, city.user, strict=True)]
    (folder / "city.csv").write_text("\n".join(["lat,lon,user", *lines]), encoding="utf-8")
    options = "--users 2 --least 20 --shape 6 4 --size-km 6 4 --epsilons 0.9 0.3 --second 1 --tight 1 --out"
    load_example("privacy_games").main([str(folder / "city.csv"), *options.split(), str(folder)])
    assert (folder / "privacy_games.png").stat().st_size > 10_000
    with (folder / "privacy_games_informed.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            informed, expected, blind = (float(row[f"error_{who}"]) for who in ("informed", "expected", "blind"))
            assert informed <= expected + 1e-9
            assert informed <= blind + 1e-9
            if float(row["sharper"]) == 0:
                assert informed == expected
    with (folder / "privacy_games.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    keys = ("scenario", "user", "epsilon", "gap_asked", "mechanism")
    return {tuple(row[key] for key in keys): row for row in rows}


def test_every_design_is_proved_and_certified(games):
    # Scenario 1: 2 users x 2 epsilons x 3; scenario 2: 1 x 2 x 2; at the smaller gap: 1 x 2 x 2.
    assert len(games) == 12 + 4 + 4
    for row in games.values():
        assert row["proved"] == "True"
        assert row["status"] == "OPTIMAL"
        assert float(row["gap"]) <= 2 * float(row["gap_asked"])
        assert float(row["cost_lower_bound"]) <= float(row["cost"])
        if row["mechanism"] != "distortion":
            assert float(row["epsilon_upper"]) <= float(row["epsilon"])
        if row["distortion_asked"]:
            assert float(row["distortion_lower"]) >= float(row["distortion_asked"])
        best, bayes, blind = (float(row[key]) for key in ("error_best", "error_bayes", "blind_error"))
        assert best <= bayes + 1e-9
        assert best <= blind + 1e-9


def test_first_scenario(games):
    """The metric optimum keeps what joint asks for, so both cost the same; distortion alone costs no more."""
    joints = {key: row for key, row in games.items() if key[0] == "1" and key[-1] == "joint"}
    assert len(joints) == 6
    for key, joint in joints.items():
        metric = games[(*key[:-1], "metric")]
        assert float(joint["distortion_asked"]) <= float(metric["distortion_lower"])
        np.testing.assert_allclose(float(joint["cost"]), float(metric["cost"]), rtol=4 * float(key[3]))
        assert float(joint["cost_lower_bound"]) <= float(metric["cost"])
        if (distortion := games.get((*key[:-1], "distortion"))) is not None:
            assert float(distortion["cost_lower_bound"]) <= float(joint["cost"])


def test_second_scenario(games):
    """More distortion than metric privacy gives costs at least as much as either alone."""
    joints = {key: row for key, row in games.items() if key[0] == "2" and key[-1] == "joint"}
    assert len(joints) == 2
    for key, joint in joints.items():
        for other in (games[("1", *key[1:-1], "metric")], games[(*key[:-1], "distortion")]):
            assert float(joint["cost"]) >= float(other["cost_lower_bound"])


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


def test_no_user_with_enough_visits_is_refused(load_example, tmp_path, capsys):
    (tmp_path / "few.csv").write_text("lat,lon,user\n40.0,-30.0,ann\n40.1,-30.1,ann\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        load_example("privacy_games").main([str(tmp_path / "few.csv"), "--out", str(tmp_path)])
    assert "lower --least" in capsys.readouterr().err


def test_the_figure_says_what_each_panel_shows():
    """The heading holds for every panel; lines of single users are named where they are."""
    rows = []
    with (Path(__file__).parents[2] / "docs/data/privacy_games.csv").open(encoding="utf-8") as file:
        kinds: dict[str, Any] = {"int": int, "float": float, "str": str, "bool": lambda text: text == "True"}
        for found in csv.DictReader(file):
            values: dict[str, Any] = {
                field.name: kinds[field.type.partition(" ")[0]](found[field.name]) if found[field.name] else None
                for field in fields(privacy_games.GameRow)
            }
            rows.append(privacy_games.GameRow(**values))
    figure = privacy_games.games_figure([row for row in rows if row.gap_asked == 1e-4])
    assert "each user" not in figure.get_suptitle()
    for ax in figure.axes:
        thin = [line for line in ax.lines if line.get_linewidth() < 0.7]
        assert ("each user" in ax.get_legend_handles_labels()[1]) == bool(thin)
        assert ax.get_xlabel()
        assert ax.get_ylabel()
