"""Learned mechanisms: within the largest loss, and never above the certified optimum."""

import csv
import importlib
from collections import Counter

import numpy as np
import pytest

import sfumato as sf
from sfumato.studies.mipan import GAP, LEARNED, MAX_LOSSES_M, NOISE, OPTIMUM, TUPLED, measure, measure_tupling

STUDY = importlib.import_module("sfumato.studies.mipan.study")
NEW_YORK = ["--attribute", "home_area", "--groups", "Manhattan", "Brooklyn", "--region"]
REGION = "6 km x 9 km around 40.745,-73.985"


@pytest.fixture(scope="module")
def example(load_example, torch):
    return load_example("learned_mechanisms")


def read(path):
    with path.open(encoding="utf-8") as file:
        return [
            {
                k: v if k in ("hidden", "mechanism", "experiment", "generator", "part") else float(v)
                for k, v in r.items()
            }
            for r in csv.DictReader(file)
        ]


def check(rows):
    """Checks that must hold of every contest, whatever the data."""
    for row in rows:
        tupled = row["mechanism"] == TUPLED
        # Tuples are found by a root of the loss; every other mechanism stays below the bound.
        assert row["loss_m"] <= row["max_loss_m"] * (1 + (1e-3 if tupled else 1e-9)), row
        assert row["loss_m"] >= 0.99 * row["max_loss_m"] or row["error"] >= row["blind_error"] - 1e-3, row
        if not tupled:
            assert row["error"] <= row["largest_error"] + 1e-9, row
            assert row["held_out_error"] <= row["held_out_error_learned"] + 1e-12, row
        assert row["largest_error"] <= row["blind_error"] + 1e-9, row
        assert row["error"] <= row["blind_error"] + 1e-9, row
        if row["mechanism"] == OPTIMUM:
            # Gaps are relative to the largest vulnerability, one at most.
            assert row["largest_error"] - row["error"] <= 2 * GAP, row


def check_square(rows):
    """The least and the most that the square allows, and the bounds up to the scatter of drawn reports."""
    for row in rows:
        if row["generator"] == "no noise":
            assert row["loss_m"] == 0
            assert row["error"] == (0.75 if row["cell_m"] == 500 else 0)
        bound = 270 if row["experiment"] == "Experiment 1" else 173
        if row["generator"] in (LEARNED, OPTIMUM) and row["part"] == "train":
            assert row["loss_m"] <= bound * 1.03


def test_no_mechanism_hides_more_than_the_optimum(example, tmp_path):
    """The whole example, on the synthetic city in 2 km cells: some of them nobody visits."""
    options = "--users 3 --cell 2km --max-losses-m 700 1150 --hits 10 --records 60 --rounds 25"
    example.main([*options.split(), "--network-rounds", "3", "--out", str(tmp_path)])
    rows = read(tmp_path / "learned-mechanisms.csv")
    kinds = Counter((row["hidden"], row["max_loss_m"]) for row in rows)
    assert kinds == {
        (h, b): 6 if "or" in h else 5 for h in ("3 users", "Old Town or Harbour") for b in (700, 1150)
    }
    check(rows)
    best: dict[str, dict[float, float]] = {}
    for row in rows:
        best.setdefault(row["hidden"], {})[row["max_loss_m"]] = row["largest_error"]
    for errors in best.values():  # more loss never allows less
        assert errors[700] <= errors[1150] + 2 * GAP
    square = read(tmp_path / "learned-square.csv")
    assert len(square) == 2 * 5 * 2 * 4  # experiments, generators, parts, grids
    check_square(square)
    for name in ("learned-swapping.png", "learned-mechanisms.png"):
        assert (tmp_path / name).stat().st_size > 20_000


def test_the_measures_are_those_of_counted_reports():
    """Both errors and the loss, against a loop over labels, places and reports of a case done by hand."""
    mechanism = sf.Mechanism([[0.75, 0.25, 0.0], [0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])  # the last report is unused
    joint = np.array([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])  # nobody was at the last place
    fresh = np.array([[0.25, 0.0, 0.0], [0.0, 0.75, 0.0]])
    loss = np.array([[0.0, 8.0, 9.0], [8.0, 0.0, 9.0], [8.0, 8.0, 0.0]])
    found = measure(mechanism, joint, fresh, loss)
    # Learned from: P(x, z) = (.375, .125), (.25, .25). Held out: (.1875, .0625), (.375, .375).
    assert found == pytest.approx((1 - 0.625, 0.5 * 2 + 0.5 * 4, 1 - 0.75, 1 - 0.5625, 0.25 * 2 + 0.75 * 4))


def test_tuples_lose_as_much_as_was_asked():
    cells = sf.Grid.covering("4 km x 4 km around 40,-30", cell="1 km")
    joint = np.random.default_rng(2).dirichlet(np.ones(32)).reshape(2, 16)
    metric = cells.metric("euclidean", unit="m")
    error, lost, held_error, learned, held_lost = measure_tupling(cells, joint, joint, metric, 400.0)
    assert lost == pytest.approx(400, rel=1e-3)
    assert (error, lost) == (held_error, held_lost)
    assert np.isnan(learned)
    assert 0 < error < 1 - joint.sum(axis=1).max() + 1e-12


@pytest.mark.slow
def test_real_check_ins(example, shared_data, tmp_path):
    """As on the page: 150 cells of New York, six and twenty users, two boroughs."""
    file = str(shared_data / "foursquare_nyc.parquet")
    example.main([file, *NEW_YORK, REGION, "--hits", "10", "--network-rounds", "3", "--out", str(tmp_path)])
    check_square(read(tmp_path / "learned-square.csv"))
    rows = read(tmp_path / "learned-mechanisms.csv")
    assert len(rows) == 2 * (5 + 5 + 6)
    check(rows)
    by = {(row["hidden"], row["max_loss_m"], row["mechanism"]): row for row in rows}
    for kind in ("6 users", "20 users", "Manhattan or Brooklyn"):
        for bound in MAX_LOSSES_M:
            learned, noise, best = (by[kind, bound, n] for n in (LEARNED, NOISE, OPTIMUM))
            assert learned["error"] > noise["error"]
            assert learned["error"] >= 0.95 * best["error"]


@pytest.mark.parametrize(
    ("header", "row", "options", "message"),
    [
        (
            "user,lat,lon",
            "ann,40.0,-30.0",
            [],
            "there is no column 'area'. Hint: the other columns are: none.",
        ),
        ("lat,lon,area", "40.0,-30.0,Harbour", [], "no user column"),
        ("user,lat,lon,area", "ann,40.0,-30.0,Hill", [], "no visit in the region has area 'Old Town'"),
        (
            "user,lat,lon,area",
            "ann,50.0,-30.0,Hill",
            [],
            "in the region. Hint: choose another --region.",
        ),
        ("user,lat,lon,home", "ann,40.0,-30.0,a", ["--attribute", "homes"], "the other columns are: home"),
    ],
)
def test_what_the_visits_lack_is_said_before_training(
    example, tmp_path, monkeypatch, capsys, header, row, options, message
):
    monkeypatch.setattr(STUDY, "play_swapping", lambda target: pytest.fail("training began"))
    path = tmp_path / "visits.csv"
    path.write_text(f"{header}\n{row}\n{row}\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        example.main([str(path), *options, "--out", str(tmp_path / "results")])
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "results").exists()


def test_gowalla_is_refused_with_the_columns_that_it_has(example, shared_data, monkeypatch, capsys):
    monkeypatch.setattr(STUDY, "play_swapping", lambda target: pytest.fail("training began"))
    with pytest.raises(SystemExit):
        example.main([str(shared_data / "gowalla_nyc.parquet"), "--region", REGION])
    assert "there is no column 'area'" in capsys.readouterr().err
