"""Repeated releases: the study's curves against single reports, and what must hold of them."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks import blind, optimal
from sfumato.errors import DataError
from sfumato.tables import write_rows
from sfumato_papers.repeated_releases import BOTH, FRESH, MEMO, repeated_figure, repetition
from sfumato_papers.repeated_releases.paper import PAPER
from sfumato_papers.reproduction import Judgement, RunTables, Setting, counts
from sfumato_papers.results import columns_of, where

GRID = sf.Grid.covering("2 km x 1 km around 48.85,2.35", cell="500 m")
BELIEF = sf.Prior(GRID, np.array([4, 0, 1, 2, 3, 1, 0, 5]) / 16)  # two places are never visited
METRES = GRID.metric("euclidean", unit="m")


@pytest.fixture(scope="module")
def found():
    return repetition(sf.mechanisms.planar_geometric(GRID, "2/km"), BELIEF, (1, 2, 4, 30), trials=400, seed=3)


def column(rows, scheme, name):
    return np.array([getattr(row, name) for row in where(rows, scheme=scheme)])


def test_one_report_is_the_mechanism_itself(found):
    mechanism = sf.mechanisms.planar_geometric(GRID, "2/km")
    once = optimal(mechanism, BELIEF, METRES).error
    twice = optimal(mechanism.then(mechanism), BELIEF, METRES).error
    for name, error in ((FRESH, once), (MEMO, once), (BOTH, twice)):
        assert column(found, name, "error_m")[0] == pytest.approx(error)
    assert found[0].blind_error_m == pytest.approx(blind(BELIEF, METRES).error)


def test_fresh_noise_wears_off_and_a_memo_does_not(found):
    fresh, memo, both = (column(found, name, "error_m") for name in (FRESH, MEMO, BOTH))
    assert np.ptp(memo) == pytest.approx(0, abs=1e-9)
    assert column(found, FRESH, "exact")[:2].all()
    assert fresh[1] < fresh[0]
    assert column(found, FRESH, "lower_m")[-1] < 0.2 * fresh[0]
    # Noise on a memo tells less than the memo, and in the end as much.
    assert (column(found, BOTH, "upper_m") >= memo - 1e-9).all()
    assert both[0] > memo[0] + 1
    assert column(found, FRESH, "averaging_error_m")[-1] < column(found, MEMO, "averaging_lower_m")[-1]
    assert all(row.averaging_upper_m >= row.lower_m for row in found)


def test_what_is_spent(found):
    fresh, memo, both = (column(found, name, "epsilon_upper_per_km") for name in (FRESH, MEMO, BOTH))
    assert (memo == memo[0]).all()
    assert (both == memo).all()
    np.testing.assert_allclose(fresh, memo[0] * np.array([1, 2, 4, 30]), rtol=1e-9)
    assert 1.99 < memo[0] <= 2


def test_figure(found):
    upper, lower = repeated_figure(found).axes
    assert "km" in upper.get_ylabel()
    drawn = np.asarray(upper.lines[0].get_ydata(), dtype=float)
    np.testing.assert_allclose(drawn, column(found, FRESH, "error_m") / 1000)
    assert lower.get_yscale() == "log"


def test_thresholds_of_ours_judge_no_claim(found, tmp_path):
    rows = [columns_of(row) for row in found]
    write_rows(list(rows[0]), (row.values() for row in rows), tmp_path / "repeated-releases.csv")
    claims = PAPER.claims(RunTables(tmp_path))
    # 400 trials do not settle the mean of the reports.
    assert counts([(claim.ours, claim.verdict) for claim in claims]) == (
        "Published claims: 0 confirmed, 0 refuted, 0 not confirmed, 0 not checkable; 2 by construction; "
        "statements of ours: 1 confirmed, 1 not confirmed, 1 by construction."
    )
    assert len({(claim.where, claim.says) for claim in claims}) == len(claims)
    (worn,) = (claim for claim in claims if claim.says.startswith("Fresh noise wears off"))
    assert (worn.ours, worn.verdict) == (True, Judgement.CONFIRMED)


def test_a_file_without_users_is_refused_before_the_work():
    alone = sf.Visits([48.85, 48.86], [2.35, 2.34])
    with pytest.raises(DataError, match="'city' have no users"):
        PAPER.parts(Setting(True, {"city": alone}, has_files=True))


def test_the_busiest_person_is_taken():
    visits = sf.Visits([48.85, 48.86, 48.87], [2.35, 2.34, 2.33], ["ada", "bob", "bob"])
    (part,) = PAPER.parts(Setting(True, {"city": visits}, has_files=True))
    own, region, *_ = part.arguments
    assert len(own) == 2
    assert region == "8 km x 6 km around 48.86500,2.33500"
