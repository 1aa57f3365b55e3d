"""``--family`` of ``sfumato design`` and ``design-column``: distributions that reports must not distinguish."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.privacy import DistributionPrivacy, Family, MetricDistributionPrivacy
from sfumato.proofs import prove_families

COLUMN = ("design-column", "--column", "answer", "--labels", "flu,cold,none", "-o", "m.sfm")
FAMILY = ("--family", "groups.csv")


@pytest.fixture
def groups(tmp_path: Path) -> None:
    """A table of two groups that overlap."""
    rows = "day,flu,0.5\nday,cold,0.5\nnight,cold,0.5\nnight,none,0.5\n"
    (tmp_path / "groups.csv").write_text(f"distribution,secret,probability\n{rows}", encoding="utf-8")


@pytest.mark.usefixtures("groups")
def test_a_column_hides_the_group_or_the_group_and_the_value(run):
    done = run(*COLUMN, *FAMILY, "--attribute-epsilon", "0.5")
    assert done.code == 0, done.err
    text = " ".join(done.text.split())
    assert "Epsilon 0.5 between the distributions day and night (proved)." in text
    assert "right with probability 50 % without the report, and at most 57 % with it." in text
    file = sf.read_mechanism_file("m.sfm")
    assert [proof.holds for proof in prove_families(file.report_channel, file.guarantees)] == [True]
    done = run("audit", "m.sfm", *FAMILY, "--require", "distribution-privacy <= 0.5")
    assert done.code == 0, done.err
    done = run(*COLUMN, *FAMILY, "--attribute-epsilon", "0.5", "--attribute-delta", "0.05", "--epsilon", "2")
    assert done.code == 0, done.err
    metric, family = sf.read_mechanism_file("m.sfm").guarantees
    assert isinstance(metric, sf.MetricPrivacy)
    assert isinstance(family, sf.FamilyPrivacy)
    assert isinstance(family.notion, DistributionPrivacy)
    assert family.notion.delta == 0.05


@pytest.mark.usefixtures("groups")
def test_a_relation_of_values_chooses_the_pairs_of_groups(run, tmp_path):
    (tmp_path / "near.csv").write_text("secret,other\nflu,cold\ncold,none\n", encoding="utf-8")
    done = run(*COLUMN, *FAMILY, "--relation", "near.csv", "--attribute-epsilon", "0.5")
    assert done.code == 0, done.err
    assert "Epsilon 0.5 between the 2 pairs of 2 distributions" in " ".join(done.text.split())
    (tmp_path / "near.csv").write_text("secret,other\nflu,cold\n", encoding="utf-8")
    done = run(*COLUMN, *FAMILY, "--relation", "near.csv", "--attribute-epsilon", "0.5")
    assert done.code == 1
    assert "--relation: no pair of the 2 distributions is in the lifting" in done.err


def test_an_epsilon_per_unit_is_by_the_wasserstein_distance(run, tmp_path):
    rows = "a,20,0.5\na,21,0.5\nb,23,0.5\nb,24,0.5\n"
    (tmp_path / "ages.csv").write_text(f"distribution,secret,probability\n{rows}", encoding="utf-8")
    command = ("design-column", "--column", "age", "--numbers", "20..24", "-o", "m.sfm", "--family", "ages.csv")
    done = run(*command, "--attribute-epsilon", "0.5/year")
    assert done.code == 0, done.err
    (guarantee,) = sf.read_mechanism_file("m.sfm").guarantees
    assert isinstance(guarantee, sf.FamilyPrivacy)
    assert isinstance(guarantee.notion, MetricDistributionPrivacy)
    assert guarantee.notion.distance.lower[0, 1] == pytest.approx(3)
    assert "('Wasserstein distance of order inf over absolute')" in run("audit", "m.sfm", "--promises").text


def test_an_epsilon_per_unit_is_refused_for_bins_of_several_numbers(run, tmp_path):
    text = "distribution,secret,probability\na,20-24,1\nb,25-29,1\n"
    (tmp_path / "ages.csv").write_text(text, encoding="utf-8")
    command = ("design-column", "--column", "age", "--numbers", "20..29:5", "--family", "ages.csv")
    done = run(*command, "--attribute-epsilon", "0.1/year")
    assert done.code == 1
    assert "--attribute-epsilon 0.1/year is per unit, but numbers in neighbouring bins can be nearer" in done.err


def test_places_hide_the_group_with_cells(run, tmp_path):
    visits = sf.synthetic_city()
    grid = sf.Grid.covering(visits, shape=(3, 2), region=visits.region(trim=0.05))
    rows = [f"west,{label},{2 / 9 if column < 2 else 1 / 18}" for column, label in _columns(grid)]
    rows += [f"east,{label},{1 / 12 if column < 2 else 1 / 3}" for column, label in _columns(grid)]
    (tmp_path / "groups.csv").write_text("\n".join(["distribution,secret,probability", *rows]), encoding="utf-8")
    done = run("design", "--cells", "3x2", *FAMILY, "--attribute-epsilon", "0.3", "-o", "m.sfm", "--no-picture")
    assert done.code == 0, done.err
    assert "between the distributions west and east" in " ".join(done.text.split())
    (guarantee,) = sf.read_mechanism_file("m.sfm").guarantees
    assert isinstance(guarantee, sf.FamilyPrivacy)


def _columns(grid):
    return [(int(label[1:3]), label) for label in grid.labels]


def test_lattice_points_hide_the_values_of_a_column(run, tmp_path):
    random = np.random.default_rng(3)
    places = [("day", 48.85, 2.33)] * 40 + [("night", 48.87, 2.37)] * 20
    rows = [
        f"{shift},{lat + x},{lon + y}"
        for (shift, lat, lon), (x, y) in zip(places, random.normal(0, 0.006, (60, 2)), strict=True)
    ]
    (tmp_path / "visits.csv").write_text("\n".join(["shift,lat,lon", *rows]), encoding="utf-8")
    options = ("--spacing", "1500 m", "--attribute-epsilon", "0.5", "-o", "m.sfm", "--no-picture")
    done = run("design", "visits.csv", "--family", "shift", *options)
    assert done.code == 0, done.err
    file = sf.read_mechanism_file("m.sfm")
    (guarantee,) = file.guarantees
    assert isinstance(guarantee, sf.FamilyPrivacy)
    lattice, visits = file.report_channel.secrets, sf.read_visits(tmp_path / "visits.csv")
    reports = []
    for shift in ("day", "night"):
        prior = sf.Prior.from_visits(lattice, visits.select(np.array(visits.attributes["shift"]) == shift))
        reports.append(prior.probabilities @ file.report_channel.matrix)
    used = np.maximum(*reports) > 0
    assert np.abs(np.log(reports[0][used] / reports[1][used])).max() <= 0.5 + 1e-9
    done = run("design", "visits.csv", "--family", "hour", *options)
    assert done.code == 1
    assert "--family" in done.err
    assert "'hour'" in done.err


def test_a_column_of_a_table_names_the_groups(run, tmp_path):
    rows = ["old,yes"] * 2 + ["old,no"] * 2 + ["young,yes"] * 3 + ["young,no"]
    (tmp_path / "people.csv").write_text("\n".join(["age,answer", *rows]), encoding="utf-8")
    command = ("design-column", "people.csv", "--column", "answer", "--labels", "yes,no", "-o", "m.sfm")
    done = run(*command, "--family", "age", "--attribute-epsilon", "0.3")
    assert done.code == 0, done.err
    assert "with --family of a column the mechanism file holds shares of the data" in " ".join(done.err.split())
    (guarantee,) = sf.read_mechanism_file("m.sfm").guarantees
    assert isinstance(guarantee, sf.FamilyPrivacy)
    np.testing.assert_allclose(guarantee.notion.family.distributions, [[0.5, 0.5], [0.75, 0.25]])
    done = run(*command, "--family", "answer", "--attribute-epsilon", "0.3")
    assert done.code == 1
    assert "Error: --family: 'answer' is a column to make private" in done.err


def test_epsilon_zero_is_designed_and_released_for_two_groups_of_a_table(run, tmp_path):
    rows = (
        ["old,yes"] * 4 + ["old,no"] + ["old,never"] * 2 + ["young,yes"] * 2 + ["young,no"] * 3 + ["young,never"]
    )
    (tmp_path / "people.csv").write_text("\n".join(["age,answer", *rows]), encoding="utf-8")
    command = ("design-column", "people.csv", "--column", "answer", "--labels", "yes,no,never", "-o", "m.sfm")
    done = run(*command, "--family", "age", "--attribute-epsilon", "0e0")
    assert done.code == 0, done.err
    text = " ".join(done.text.split())
    assert "right with probability 50 % without the report, and at most 50 % with it." in text
    mechanism = sf.read_mechanism_file("m.sfm").report_channel
    assert np.ptp(mechanism.matrix, axis=0).max() > 0.1
    (guarantee,) = mechanism.guarantees
    assert isinstance(guarantee, sf.FamilyPrivacy)
    np.testing.assert_allclose(
        guarantee.notion.family.distributions, [[4 / 7, 1 / 7, 2 / 7], [1 / 3, 1 / 2, 1 / 6]]
    )
    assert guarantee.notion.measure(mechanism).upper == 0
    done = run("release", "m.sfm", "people.csv", "private.csv", "--column", "answer")
    assert done.code == 0, done.err


def test_columns_in_one_joint_space_hide_the_group(run, tmp_path):
    rows = ["old,yes,f"] * 2 + ["old,no,m"] * 2 + ["young,yes,m"] * 3 + ["young,no,f"]
    (tmp_path / "people.csv").write_text("\n".join(["age,answer,sex", *rows]), encoding="utf-8")
    columns = ("--column", "answer", "--column", "sex", "--labels", "yes,no", "--labels", "f,m")
    command = ("design-column", "people.csv", *columns, "-o", "m.sfm", "--attribute-epsilon", "0.3", "--family")
    done = run(*command, "age", "--split", "joint")
    assert done.code == 0, done.err
    (guarantee,) = sf.read_mechanism_file("m.sfm").guarantees
    assert isinstance(guarantee, sf.FamilyPrivacy)
    expected = [[0.5, 0, 0, 0.5], [0, 0.75, 0.25, 0]]  # of yes f, yes m, no f, no m
    np.testing.assert_allclose(guarantee.notion.family.distributions, expected)
    done = run(*command, "sex", "--split", "joint")
    assert "--family: 'sex' is a column to make private" in done.err
    done = run("design-column", "people.csv", *columns, "--epsilon", 1, *command[-3:], "age")
    assert "use --split joint" in done.err


def test_only_the_visits_of_the_user_count_for_the_groups(run, tmp_path):
    rows = [f"ada,day,48.85,2.3{k}" for k in range(3)] + ["ada,night,48.87,2.37", "bob,night,48.85,2.30"]
    (tmp_path / "visits.csv").write_text("\n".join(["user,shift,lat,lon", *rows]), encoding="utf-8")
    command = ("design", "visits.csv", "--cells", "2x1", "--user", "ada", "--no-picture", "-o", "m.sfm")
    done = run(*command, "--family", "shift", "--attribute-epsilon", "0.5")
    assert done.code == 0, done.err
    (guarantee,) = sf.read_mechanism_file("m.sfm").guarantees
    assert isinstance(guarantee, sf.FamilyPrivacy)
    np.testing.assert_allclose(guarantee.notion.family.distributions, [[1, 0], [0, 1]])


def test_the_best_guess_of_the_group_counts_the_sizes_of_the_groups(run, tmp_path):
    rows = ["old,yes"] * 2 + ["old,no"] * 3 + ["young,yes"] * 6 + ["young,no"]
    (tmp_path / "people.csv").write_text("\n".join(["age,answer", *rows]), encoding="utf-8")
    command = ("design-column", "people.csv", "--column", "answer", "--labels", "yes,no", "-o", "m.sfm")
    done = run(*command, "--family", "age", "--attribute-epsilon", "1")
    assert done.code == 0, done.err
    matrix = sf.read_mechanism_file("m.sfm").report_channel.matrix
    people = {("old", 0): 2, ("old", 1): 3, ("young", 0): 6, ("young", 1): 1}
    guesses = itertools.product(("old", "young"), repeat=matrix.shape[1])  # one for each report
    best = max(
        sum(
            count * matrix[s, o]
            for (group, s), count in people.items()
            for o in range(len(guess))
            if guess[o] == group
        )
        for guess in guesses
    )
    (after, before, bare), *_ = re.findall(
        r"shares of the 2 groups in the data: right at most ([\d.]+) % of the time \(about ([\d.]+) % without "
        r"the report, about ([\d.]+) % from the secret",
        " ".join(done.out.split()),
    )
    assert float(before) == pytest.approx(100 * 7 / 12, abs=0.5)
    assert float(bare) == 75
    assert 0 <= float(after) - 100 * best / 12 <= 1
    assert float(after) > float(before)


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (FAMILY, "--family was given without --attribute-epsilon"),
        (("--epsilon", "1", "--attribute-epsilon", "1"), "--attribute-epsilon was given without --family"),
        (("--epsilon", "1", "--attribute-delta", "0.1"), "--attribute-delta was given without --family"),
        (("--epsilon", "1", "--relation", "near.csv"), "--relation was given without --family"),
        ((), "--epsilon is missing"),
        (("--epsilon", "1", "--require", "distribution-privacy <= 1"), "distribution-privacy needs a table"),
        (("--epsilon", "1", "--require", "kind-vulnerability <= 1"), "kind-vulnerability needs a table"),
        ((*FAMILY, "--attribute-epsilon", "-1"), "at least 0"),
        ((*FAMILY, "--attribute-epsilon", "1", "--attribute-delta", "2"), "--attribute-delta: delta 2.0"),
        ((*FAMILY, "--attribute-epsilon", "1/km"), "--attribute-epsilon 1/km is per unit, but categories"),
        ((*FAMILY, "--attribute-epsilon", "1", "--pairs", "spanner"), "distribution privacy or several attackers"),
        (("--epsilon", "1/min", "--distances", "d.csv"), "there is no file 'd.csv'"),
        ((*FAMILY, "--attribute-epsilon", "1", "--solver", "structured"), "Hint: leave --solver out"),
        ((*FAMILY, "--attribute-epsilon", "1", "--distances", "d.csv"), "--distances was given without --epsilon"),
        ((*FAMILY, "--attribute-epsilon", "1", "--priors", "p.csv"), "--family was given with --priors"),
        ((*FAMILY, "--attribute-epsilon", "1", "--checkpoints", "c"), "--checkpoints was given with --family"),
    ],
)
def test_wrong_options_are_refused(run, options, message):
    done = run(*COLUMN, *options)
    assert done.code == 1
    assert message in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "there is no file 'groups.csv'"),
        (("--cells", "3x2", "--max-loss", "1 km"), "--family was given with --max-loss"),
        (("--cells", "3x2", "--attacker-finds", "40 % within 500 m"), "--family was given with --attacker-finds"),
    ],
)
def test_options_that_places_cannot_combine_are_refused(run, options, message):
    done = run("design", "--family", "groups.csv", "--attribute-epsilon", "1", "--no-picture", *options)
    assert done.code == 1
    assert message in done.err


def test_an_audit_states_what_is_not_proved_of_distributions_as_a_claim(run):
    space = sf.Space("abc")
    groups = Family({"day": [0.5, 0.5, 0.0], "night": [0.0, 0.5, 0.5]})
    claim = sf.FamilyPrivacy(0.01, DistributionPrivacy(groups))
    mechanism = sf.Mechanism(0.9 * np.eye(3) + 0.1 / 3, space, space)
    sf.save(sf.MechanismFile(mechanism, guarantees=[claim]), "m.sfm")
    done = run("audit", "m.sfm", "--promises")
    assert done.code == 1
    text = " ".join(done.text.split())
    assert "The file claims this. The true value is drawn from a distribution" in text
    assert "NOT PROVED: epsilon is up to 2.67" in text
