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
from sfumato_papers.results import columns_of

GRID = sf.Grid.covering("2 km x 1 km around 48.85,2.35", cell="500 m")
BELIEF = sf.Prior(GRID, np.array([4, 0, 1, 2, 3, 1, 0, 5]) / 16)  # two places are never visited
METRES = GRID.metric("euclidean", unit="m")


@pytest.fixture(scope="module")
def found():
    return repetition(sf.mechanisms.planar_geometric(GRID, "2/km"), BELIEF, (1, 2, 4, 30), trials=400, seed=3)


def test_one_report_is_the_mechanism_itself(found):
    mechanism = sf.mechanisms.planar_geometric(GRID, "2/km")
    once = optimal(mechanism, BELIEF, METRES).error
    twice = optimal(mechanism.then(mechanism), BELIEF, METRES).error
    assert found.optimal[FRESH].error[0] == pytest.approx(once)
    assert found.optimal[MEMO].error[0] == pytest.approx(once)
    assert found.optimal[BOTH].error[0] == pytest.approx(twice)
    assert found.blind_error_m == pytest.approx(blind(BELIEF, METRES).error)


def test_fresh_noise_wears_off_and_a_memo_does_not(found):
    fresh, memo, both = (found.optimal[name] for name in (FRESH, MEMO, BOTH))
    assert np.ptp(memo.error) == pytest.approx(0, abs=1e-9)
    assert fresh.exact[:2] == (True, True)
    assert fresh.error[1] < fresh.error[0]
    assert fresh.lower[-1] < 0.2 * fresh.error[0]
    # Noise on a memo tells less than the memo, and in the end as much.
    assert (both.upper >= memo.error - 1e-9).all()
    assert both.error[0] > memo.error[0] + 1
    assert found.averaging[FRESH].error[-1] < found.averaging[MEMO].lower[-1]
    for name in (FRESH, MEMO, BOTH):
        assert (found.averaging[name].upper >= found.optimal[name].lower).all()


def test_what_is_spent(found):
    once = found.epsilons[MEMO][0]
    assert found.epsilons[MEMO] == (once,) * 4
    assert found.epsilons[BOTH] == (once,) * 4
    np.testing.assert_allclose(found.epsilons[FRESH], once * np.array([1, 2, 4, 30]), rtol=1e-9)
    assert 1.99 < once <= 2


def test_figure(found):
    upper, lower = repeated_figure(found.rows).axes
    assert "km" in upper.get_ylabel()
    np.testing.assert_allclose(
        np.asarray(upper.lines[0].get_ydata(), dtype=float), found.optimal[FRESH].error / 1000
    )
    assert lower.get_yscale() == "log"


def test_thresholds_of_ours_judge_no_claim(found, tmp_path):
    rows = [columns_of(row) for row in found.rows]
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
        PAPER.parts(Setting(True, {"city": alone}, given=True))


def test_the_busiest_person_is_taken():
    visits = sf.Visits([48.85, 48.86, 48.87], [2.35, 2.34, 2.33], ["ada", "bob", "bob"])
    (part,) = PAPER.parts(Setting(True, {"city": visits}, given=True))
    own, region, *_ = part.arguments
    assert len(own) == 2
    assert region == "8 km x 6 km around 48.86500,2.33500"
