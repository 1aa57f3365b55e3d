"""The page of Privacy Games: its tables, claims and numbers are those of the run whose tables are kept."""

import csv
import shutil
from pathlib import Path
from statistics import median

from sfumato_papers.privacy_games import (
    AttackRow,
    GameRow,
    InformedRow,
    PairRow,
    SlopeRow,
    TimeRow,
    guess_table,
    informed_table,
    pair_table,
    scenario_table,
    slope_table,
)
from sfumato_papers.privacy_games.games import APART, Apart, ApartRow, Game, apart_triples, triples
from sfumato_papers.reproduction import Judgement, RunTables, claim_words, counts, paper_of
from sfumato_papers.results import columns_of

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS.parent / "papers" / "docs" / "privacy-games.md").read_text(encoding="utf-8")
TABLES = RunTables(DOCS / "data" / "privacy-games")
CLAIMS = {(claim.where, claim.says): claim for claim in paper_of("privacy-games").claims(TABLES)}


def test_tables_are_those_of_the_run():
    assert scenario_table(TABLES.rows("privacy_games", GameRow)) in PAGE
    assert informed_table(TABLES.rows("privacy_games_informed", InformedRow)) in PAGE
    assert slope_table(TABLES.rows("slopes", SlopeRow)) in PAGE
    assert pair_table(TABLES.rows("pruned-pairs", PairRow)) in PAGE
    assert guess_table(TABLES.rows("pruned-attacks", AttackRow)) in PAGE
    times = TABLES.rows("pruned-seconds", TimeRow)
    metric, distortion = (
        f"{median(row.seconds for row in times if (row.mechanism, row.kind) == (name, 'exact')):.1f} s"
        for name in ("metric", "distortion")
    )
    assert f"exact *metric* takes {metric} of CPU time and the exact *distortion* {distortion}" in PAGE


def test_claims_are_those_of_the_run_and_are_judged_so_again():
    kept = TABLES.texts("claims")
    assert claim_words(kept, brief=True) in PAGE
    again = [
        {name: str(value) for name, value in columns_of(each).items()}
        for each in paper_of("privacy-games").claims(TABLES)
    ]
    assert again == kept


def test_the_users_are_those_of_the_run():
    users = {row.user: row for row in TABLES.rows("privacy_games", GameRow)}.values()
    visits, cells = [row.visits for row in users], [row.possible_cells for row in users]
    assert len(users) == 10
    told = f"({min(visits)} to {max(visits)} check-ins in {min(cells)} to {max(cells)} of the 300 cells;"
    assert told in PAGE


def test_claims_have_places_of_their_own_and_ours_are_counted_apart():
    assert len(CLAIMS) == len(TABLES.texts("claims"))
    assert counts([(claim.ours, claim.verdict) for claim in CLAIMS.values()]) == (
        "Published claims: 6 confirmed, 1 refuted, 0 not confirmed, 4 not checkable; 6 by construction; "
        "statements of ours: 4 confirmed, 0 not confirmed."
    )


def test_figures_of_other_users_are_not_refuted():
    for (where, _), claim in CLAIMS.items():
        assert claim.verdict is not Judgement.REFUTED or where == "Abstract", claim
    near = CLAIMS["Figure 2a", "This error falls below 1 km as epsilon grows to 0.9/km."]
    assert near.verdict is Judgement.OPEN
    assert "below 1 km for 5 of 10 users" in near.found


def test_joint_forces_the_larger_error_in_every_scenario():
    """Counted here from the proved errors: mechanisms of equal cost are ties, which refute nothing."""
    games = [row for row in TABLES.rows("privacy_games", GameRow) if row.gap_asked == 1e-4]
    every: list[Game | Apart] = [*triples(games, 1), *triples(games, 2)]
    every += apart_triples(TABLES.rows(APART, ApartRow))
    itself, forced = 0, 0
    for metric, distortion, joint in every:
        assert joint.distortion_asked is not None
        assert joint.distortion_asked == distortion.distortion_asked
        itself += metric.distortion_lower >= joint.distortion_asked
        forced += joint.distortion_lower >= joint.distortion_asked
    assert (len(every), itself, forced) == (335, 196, 335)
    (abstract,) = (claim for claim in CLAIMS.values() if "as large as the maximum privacy" in claim.quote)
    assert abstract.verdict is Judgement.FOLLOWS
    assert "in 335 of 335 cases" in abstract.found
    assert "In 196 cases metric forces d_m, too" in abstract.found
    figure = CLAIMS["Figure 7", "The privacy of joint is the larger of the two privacies."]
    assert figure.verdict is Judgement.OPEN
    assert "from -0.006 m to 97 m" in figure.found


def test_only_the_proved_counterexample_refutes_the_cost_of_joint():
    claim = CLAIMS["Abstract", "Joint costs at most as much as the more costly of metric and distortion."]
    assert claim.verdict is Judgement.REFUTED
    assert claim.quote.endswith("what either of the differential or distortion mechanisms imposes.")
    assert "at least 0.523139, metric at most 0.430307 and distortion at most 0.300001" in claim.found
    figure = CLAIMS[
        "Figure 7", "In the experiments of the paper, the cost of joint is the larger of the two costs."
    ]
    assert figure.verdict is Judgement.OPEN


def test_robustness_against_informed_attackers_is_judged_by_medians():
    """The paper's words on Figure 6 are not about each user."""
    errors: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in TABLES.texts("privacy_games_informed"):
        if float(row["sharper"]) > 0:
            setting = errors.setdefault((row["epsilon"], row["sharper"]), {})
            setting.setdefault(row["mechanism"], []).append(float(row["error_informed"]))
    assert len(errors) == 24
    assert all(median(each["metric"]) > median(each["distortion"]) for each in errors.values())
    claim = next(claim for (where, _), claim in CLAIMS.items() if where == "Figure 6")
    assert claim.verdict is Judgement.CONFIRMED
    assert "in 24 of 24 cases (epsilons and shares moved)" in claim.found
    assert "larger in 213 of 240 cases" in claim.found


def test_equal_costs_are_named_where_there_are_some(tmp_path):
    says = "In all tested experiments, the larger of the two costs is that of metric."
    assert CLAIMS["Figure 7", says].found.endswith("in 215 of 215 cases, and distortion in 0.")
    folder = Path(shutil.copytree(DOCS / "data" / "privacy-games", tmp_path / "games"))
    rows = TABLES.texts("apart")
    for row in rows:
        if row["user"] == "1" and row["mechanism"] == "metric":
            row["cost_lower_bound"] = "0.0"  # too wide a gap to tell the two costs apart
    with (folder / "apart.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (claim,) = (each for each in paper_of("privacy-games").claims(RunTables(folder)) if each.says == says)
    assert "; in the others the costs are equal within their gaps." in claim.found


def test_figure_8_has_all_users_and_thresholds_with_proofs():
    pairs, attacks = TABLES.rows("pruned-pairs", PairRow), TABLES.rows("pruned-attacks", AttackRow)
    thresholds = {row.threshold for row in pairs}
    assert thresholds == {row.threshold for row in attacks} == {None, 0.54, 0.76, 0.93, 1.5, 2.0, 3.0, 5.0}
    for threshold in thresholds:
        users = [row.user for row in pairs if row.threshold == threshold and row.kind != "corrected"]
        assert sorted(users) == sorted(row.user for row in attacks if row.threshold == threshold)
        assert sorted(users) == list(range(1, 11))
    for pair in pairs:
        assert pair.cost_lower_bound <= pair.cost <= pair.cost_lower_bound * (1 + 1e-4)
        assert pair.kept == (pair.epsilon_true <= 0.6)
        assert pair.kept or pair.kind == "pruned"
    for attack in attacks:
        assert attack.cells == 300
        assert attack.cost_lower_bound <= attack.cost <= attack.cost_lower_bound * (1 + 1e-4)


def test_epsilons_are_rounded_as_in_the_table():
    found = next(claim.found for claim in CLAIMS.values() if "the dilation is" in claim.found)
    assert "epsilon 0.8483/km instead of 0.6/km: the dilation is 1.4142." in found
    assert "| 1.4142 | 0.8483 |" in PAGE


def test_broken_promises_of_the_threshold_are_ours():
    for (where, _), claim in CLAIMS.items():
        assert claim.ours == (where in ("Appendix C", "Figures 2 to 7", "(21), (24)"))
        assert claim.verdict is Judgement.CONFIRMED or not claim.ours


def test_equations_lead_to_the_calls_that_compute_them():
    calls = {each.number: each.call for each in paper_of("privacy-games").equations}
    assert calls["(1), (2)"] == calls["(3), (4)"] == "sf.core.Mechanism"
    assert calls["(10), (22)"] == "sf.core.MetricPrivacy"
    assert calls["Section 9.2"] == "sf.attacks.optimal"
    assert not any("(2)" in number and "(10)" in number for number in calls)
