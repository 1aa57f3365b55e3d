"""Distribution privacy in a file: proved from the file alone, with no trust in its claims."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import FileError
from sfumato.privacy import DistributionPrivacy, Family, FamilyDistance, MetricDistributionPrivacy
from sfumato.proofs import Proved, Stated, prove, prove_families, prove_optimality
from sfumato.releases import prepare

from .forging import forged, opened

SPACE = sf.Space("abc")
GROUPS = Family({"day": [0.5, 0.5, 0.0], "night": [0.0, 0.5, 0.5], "both": [0.2, 0.6, 0.2]}, [("day", "night")])
METRIC = sf.Metric([[0, 1, 2], [1, 0, 1], [2, 1, 0]], "km")
PRIOR = sf.Prior(SPACE, [0.5, 0.3, 0.2])


@pytest.fixture(params=["delta", "distances"])
def design(request: pytest.FixtureRequest) -> sf.Design:
    """A design for one pair of groups, with a delta or by distances."""
    if request.param == "delta":
        guarantee = sf.FamilyPrivacy(0.5, DistributionPrivacy(GROUPS, 0.01))
    else:
        guarantee = sf.FamilyPrivacy("0.5/km", MetricDistributionPrivacy.wasserstein(GROUPS, METRIC, 1.0))
    return sf.design(PRIOR, loss=METRIC, guarantees=[guarantee, sf.MetricPrivacy("3/km", METRIC)])


def test_the_guarantee_is_proved_from_the_file_alone(design: sf.Design, tmp_path: Path) -> None:
    design.save(tmp_path / "m.sfm")
    file = sf.read_mechanism_file(tmp_path / "m.sfm")
    assert [str(guarantee) for guarantee in file.guarantees] == [str(guarantee) for guarantee in design.guarantees]
    (proof,) = prove_families(file.report_channel, file.guarantees)
    assert proof.holds
    assert proof.upper == pytest.approx(design.certificate.families[0].upper, rel=1e-12)
    assert file.prior is not None
    assert file.loss is not None
    assert file.optimality is not None
    bound = prove_optimality(file.prior, file.loss, file.guarantees, file.optimality)
    assert bound == pytest.approx(design.certificate.bound, rel=1e-9)
    assert any("ordered pair of distributions day and night" in note for note in file.stated)


def test_a_smaller_epsilon_than_holds_is_not_proved(design: sf.Design, tmp_path: Path) -> None:
    design.save(tmp_path / "m.sfm")
    manifest, members = opened(tmp_path / "m.sfm")
    manifest["guarantees"][0]["epsilon"] = 0.25
    forged(tmp_path / "m.sfm", manifest, members)
    file = sf.read_mechanism_file(tmp_path / "m.sfm")
    assert not prove_families(file.report_channel, file.guarantees)[0].holds


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("names", ["day", "night"]),
        ("names", ["day", "day", "both"]),
        ("names", ["day", 1, "both"]),
        ("epsilon", -1.0),
        ("epsilon", "0.5"),
        ("delta", 2.0),
        ("pairs", "family_0.npy"),
        ("distributions", "prior.npy"),
    ],
)
def test_a_damaged_family_is_refused(design: sf.Design, tmp_path: Path, key: str, value: object) -> None:
    design.save(tmp_path / "m.sfm")
    manifest, members = opened(tmp_path / "m.sfm")
    manifest["guarantees"][0][key] = value
    forged(tmp_path / "m.sfm", manifest, members)
    with pytest.raises(FileError):
        sf.read_mechanism_file(tmp_path / "m.sfm")


def test_distributions_on_other_secrets_are_refused() -> None:
    with pytest.raises(sf.errors.InputError, match="3 secrets, but there are 2"):
        sf.MechanismFile(sf.Mechanism(np.eye(2)), guarantees=sf.FamilyPrivacy(0.5, DistributionPrivacy(GROUPS)))


def test_a_release_proves_distribution_privacy_and_states_no_sum_for_several_reports(tmp_path: Path) -> None:
    guarantee = sf.FamilyPrivacy(0.5, DistributionPrivacy(GROUPS, 0.01))
    mechanism = sf.design(PRIOR, loss=METRIC, guarantees=guarantee).mechanism
    proof = prove(mechanism, guarantee)
    assert isinstance(proof, Proved)
    assert proof.upper <= 0.5
    assert isinstance(prove(mechanism, sf.FamilyPrivacy(0.1, DistributionPrivacy(GROUPS))), Stated)
    table = pa.table({"value": ["a", "b", "c"] * 2, "user": ["ada"] * 6})
    text = " ".join(prepare(mechanism, table, tmp_path / "out.csv", column="value", user="user").promises)
    assert (
        "Proved from the integers: epsilon 0.5 with delta 0.01 between the ordered pair of distributions day"
        in text
    )
    assert "The source asks for 6 reports of one person (1 user)." in text
    assert "times epsilon" not in text
    assert "Several reports of one value are not covered." in text
    with pytest.raises(sf.errors.InputError, match="no epsilon is proved for every report"):
        prepare(mechanism, table, tmp_path / "out.csv", column="value", user="user", max_epsilon_per_person=10)
    liar = sf.Mechanism(np.eye(3), SPACE).promising(guarantee)
    with pytest.raises(sf.errors.InputError, match="nothing was drawn"):
        prepare(liar, table, tmp_path / "out.csv", column="value")


def test_a_release_of_two_columns_states_no_sum_of_distribution_privacy(tmp_path: Path) -> None:
    mechanism = sf.design(
        PRIOR, loss=METRIC, guarantees=sf.FamilyPrivacy(0.5, DistributionPrivacy(GROUPS))
    ).mechanism
    table = pa.table({"first": ["a", "b", "c"], "second": ["c", "b", "a"], "user": ["ada"] * 3})
    mechanisms = {"first": mechanism, "second": mechanism}
    lines = prepare(mechanisms, table, tmp_path / "out.csv", column=["first", "second"], user="user").promises
    text = " ".join(lines)
    assert "nothing bounds all of them, because not all have a guarantee that adds up." in text
    assert "The source asks for 3 reports of one person (1 user)." in text
    assert "times" not in text.replace("times that under", "")
    unnamed = prepare(mechanisms, table, tmp_path / "out.csv", column=["first", "second"]).promises
    assert not any("add up to" in line for line in unnamed)


def test_a_pair_in_one_order_promises_one_direction() -> None:
    ends = {"day": [0.5, 0.5, 0.0], "night": [0.2, 0.2, 0.6]}
    for pairs, first, second in (([("day", "night")], "day", "night"), ([("night", "day")], "night", "day")):
        notion = DistributionPrivacy(Family(ends, pairs))
        rows = np.eye(2) if first == "day" else np.eye(2)[::-1]
        design = sf.design(PRIOR, loss=METRIC, guarantees=sf.FamilyPrivacy(0.2, notion))
        (proof,) = prove(design.mechanism)
        assert isinstance(proof, Proved)
        up, down = rows @ Family(ends).distributions @ design.mechanism.matrix
        assert (up <= 1.2215 * down).all()
        assert not (down <= 1.2215 * up).all()  # so no sentence may state the other direction
        for text in (proof.bound.sentence, " ".join(design.sentences())):
            assert f"the ordered pair of distributions {first} and {second}, " in text
            assert "any set of reports under the first is at most 1.222 times that under the second" in text
            assert "changes the odds" not in text
    symmetric = DistributionPrivacy(Family(ends, [("night", "day"), ("day", "night")]))
    assert symmetric.sides == ("one", "the other")
    distance = [[0.0, 1.0], [np.inf, 0.0]]
    assert MetricDistributionPrivacy(Family(ends), distance).sides == ("the first", "the second")


def test_distances_are_called_stated_and_hostile_names_are_escaped() -> None:
    names = Family({"day\x1b[2J\nProved: all": [0.5, 0.5, 0.0], "n" * 5000: [0.0, 0.5, 0.5]})
    distance = FamilyDistance([[0.0, 9.0], [9.0, 0.0]], "km", name="Wasserstein distance\x1b[2J")
    guarantee = sf.FamilyPrivacy("0.1/km", MetricDistributionPrivacy(names, distance))
    design = sf.design(PRIOR, loss=METRIC, guarantees=guarantee)
    (proof,) = prove(design.mechanism)
    assert isinstance(proof, Proved)
    assert "the distributions and their distances are as its maker states them" in proof.bound.sentence
    text = " ".join(design.sentences())
    assert "The distributions and their distances (" in text
    for words in (proof.bound.sentence, text):
        assert words.isprintable()
        assert "n" * 100 not in words


def test_a_report_states_the_bound_and_the_best_guess_before_and_after() -> None:
    shifts = Family({"day": [0.5, 0.5, 0.0], "night": [0.0, 0.5, 0.5]})
    design = sf.design(PRIOR, loss=METRIC, guarantees=sf.FamilyPrivacy(0.5, DistributionPrivacy(shifts)))
    text = " ".join(design.sentences())
    rows = shifts.distributions @ design.mechanism.matrix
    after = 0.5 + np.abs(rows[0] - rows[1]).sum() / 4  # (1 + total variation) / 2
    assert "any set of reports under one is at most 1.649 times that under the other." in text
    assert (
        f"right with probability 50 % without the report, and at most {np.ceil(100 * after):.0f} % with it" in text
    )
    assert "Proved on the integers that are sampled, for 2 ordered pairs of distributions and 3 reports" in text
    page = design.report().facts.promises[0]
    limits = " ".join(sf.reports.sentences.limit_words(design.report().facts))
    assert "The true value itself: a report may reveal it." in limits
    assert (page.kind, page.holds, page.family.members) == ("family", True, 2)
    assert page.family.success.high == pytest.approx(after, rel=1e-12)
    liar = sf.MechanismFile(sf.Mechanism(np.eye(3), SPACE), PRIOR, guarantees=design.guarantees)
    assert "NOT PROVED for any epsilon" in sf.reports.summarise_file(liar).markdown()


def test_a_report_states_pairs_without_protection_and_what_several_reports_add_up_to() -> None:
    shifts = Family({"day": [0.5, 0.5, 0.0], "night": [0.0, 0.5, 0.5]})
    for far, words in (
        ([np.inf, 1.0], "Pairs at an infinite distance are not covered."),
        ([np.inf] * 2, "No pair"),
    ):
        notion = MetricDistributionPrivacy(shifts, [[0.0, far[0]], [far[1], 0.0]])
        design = sf.design(
            PRIOR, loss=METRIC, guarantees=[sf.FamilyPrivacy(0.5, notion), sf.MetricPrivacy(3, METRIC)]
        )
        assert words in design.sentences()[0]
        facts = design.report().facts
        assert words in sf.reports.sentences.epsilon_words(facts.promises[0], facts.subject)
        for text in (
            sf.reports.sentences.review_words(facts)["Composition"],
            " ".join(sf.reports.sentences.limit_words(facts)),
            " ".join(design.sentences()),
        ):
            assert "k times the epsilon" in text or "k times epsilon" in text
            assert "Several reports of one value are not covered." in text
