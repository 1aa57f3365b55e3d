"""Dummies from the command line: files, audits, releases and comparisons."""

import csv
import re

import numpy as np
import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.errors import DataError, InfeasibleError
from sfumato.estimation import read_released
from sfumato.files import MechanismFile, read_mechanism_file, save
from sfumato.mechanisms import FamilyAccountant, TuplePrivacy, Tupling, plan_dummies, quality_loss
from tests.mechanisms.tupling import exact


@pytest.fixture
def designed(run, visits_file):
    options = ("--cells", "3x2", "--no-picture", "--epsilon", "2/km")
    assert run("design", visits_file, "-o", "m.sfm", *options).code == 0
    return sf.read_mechanism_file("m.sfm")


def test_a_number_of_dummies(run, designed):
    done = run("tuple", "m.sfm", "-o", "t.sfm", "--dummies", 5, "--dummies-from", "uniform")
    assert done.code == 0, done.err
    assert "5 dummies, so 6 queries" in done.text
    tupling = read_mechanism_file("t.sfm").tupling
    assert tupling is not None
    assert tupling.inner == designed.mechanism
    assert tupling.distribution == pytest.approx([1 / 6] * 6)
    told = re.search(r"with epsilon ([\d.]+) \(the least is at least ([\d.]+)", done.text)
    assert told is not None
    bounds = FamilyAccountant.of_points(tupling).epsilon(1e-3).bounds
    assert float(told[2]) <= bounds.lower <= bounds.upper <= float(told[1])


def test_the_fewest_dummies_for_a_promise(run, designed):
    done = run("tuple", "m.sfm", "-o", "t.sfm", "--epsilon", 1, "--delta", 0.05)
    assert done.code == 0, done.err
    held = read_mechanism_file("t.sfm")
    assert held.tuple_guarantees == (TuplePrivacy(1.0, 0.05),)
    assert len(held.guarantees) == len(designed.guarantees)
    assert held.tupling is not None
    family = FamilyAccountant.of_points(held.tupling)
    assert not family.exceeds(1.0, 0.05)
    assert family.with_dummies(held.tupling.dummies - 1).exceeds(1.0, 0.05)
    audited = run("audit", "t.sfm", "--delta", 0.01)
    assert audited.code == 0, audited.err
    assert "Proved: epsilon 1 with delta 0.05 between every two secrets" in audited.text
    assert "Proved: at delta 0.01 every two secrets are indistinguishable" in audited.text
    assert run("audit", "t.sfm", "--promises").code == 0


def test_a_false_promise_is_found_out(run, designed):
    assert run("tuple", "m.sfm", "-o", "t.sfm", "--dummies", 5).code == 0
    held = read_mechanism_file("t.sfm")
    assert held.tupling is not None
    save(MechanismFile(held.tupling, held.prior, held.loss, [TuplePrivacy(0.1, 1e-9)]), "lie.sfm")
    done = run("audit", "lie.sfm")
    assert done.code == 1
    assert "False: epsilon 0.1" in done.text


def test_every_row_becomes_a_tuple(run, designed, visits_file, tmp_path):
    assert run("tuple", "m.sfm", "-o", "t.sfm", "--dummies", 2).code == 0
    moved = ["--outside", "nearest", "--move-within", "20 km", "--allow", "0.5"]
    for target, again in (("out.csv", []), ("out.parquet", ["--again"])):
        done = run("release", "t.sfm", visits_file, target, *moved, *again)
        assert done.code == 0, done.err
    with (tmp_path / "out.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    columns = [f"{name}_{place}" for place in (1, 2, 3) for name in ("latitude", "longitude", "label")]
    assert list(rows[0]) == columns
    lists = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert lists.column_names == ["latitude", "longitude", "label"]
    assert {len(each) for name in lists.column_names for each in lists[name].to_pylist()} == {3}
    assert len(rows) == len(sf.read_visits(visits_file))
    assert {row[f"label_{place}"] for row in rows for place in (1, 2, 3)} <= set(
        designed.mechanism.observables.labels
    )


def test_what_does_not_fit_a_tuple_is_refused(run, designed, visits_file):
    assert run("tuple", "m.sfm", "-o", "t.sfm", "--dummies", 2).code == 0
    done = run("tuple", "t.sfm", "-o", "u.sfm", "--dummies", 2)
    assert done.code == 1
    assert "t.sfm: it holds a Tupling with 2 dummies" in done.err
    assert "whose reports are tuples" in done.err
    done = run("audit", "t.sfm", "--require", "epsilon <= 1/km")
    assert done.code == 1
    assert "The requirement 'epsilon <= 1/km' FAILS" in done.text
    assert run("tuple", "m.sfm", "-o", "w.sfm", "--dummies", 2000).code == 0
    done = run("release", "w.sfm", visits_file, "out.csv", "--outside", "nearest")
    assert "a report of 2,001 numbers would need as many columns" in done.err


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "neither --dummies nor --epsilon was given"),
        (("--dummies", 3, "--epsilon", 1), "--dummies and --epsilon were both given"),
        (("--epsilon", 1), "--epsilon and --delta go together"),
        (("--dummies", 3, "--max-dummies", 5), "--dummies and --max-dummies were both given"),
        (("--dummies", -1), "number of dummies is -1"),
        (("--dummies", 3, "--dummies-from", "city"), "--dummies-from city is unknown"),
        (("--epsilon", 1, "--delta", 0), "dummies never lower a pure epsilon"),
        (("--epsilon", 0.001, "--delta", 1e-9, "--max-dummies", 5), "5 dummies are not enough"),
    ],
)
def test_options_that_do_not_fit(run, designed, arguments, message):
    done = run("tuple", "m.sfm", "-o", "t.sfm", *arguments)
    assert done.code == 1
    assert message in done.err
    assert "Traceback" not in done.err


def test_compare_among_dummies(run, visits_file):
    done = run("compare", visits_file, "--cells", "3x2", "--epsilons", "1/km", "--dummies", 4, "-o", "t.csv")
    assert done.code == 0, done.err
    assert "optimum among 4 dummies" in done.text
    assert "estimates from 4,000 simulated tuples" in done.text
    assert (
        "at equal loss" in run("compare", visits_file, "--cells", "3x2", "--max-loss", "1 km", "--dummies", 4).err
    )


def test_tuples_are_audited_for_a_family(run, tmp_path):
    inner = sf.mechanisms.randomised_response(sf.Space(["yes", "no", "maybe"]), 1.5)
    tupling = Tupling(inner, 4, [0.3, 0.3, 0.4])
    save(tupling, "t.sfm")
    rows = {"many": (0.6, 0.2, 0.2), "few": (0.2, 0.6, 0.2)}
    labels = inner.secrets.labels
    lines = [f"{name},{label},{p}" for name, row in rows.items() for label, p in zip(labels, row, strict=True)]
    (tmp_path / "family.csv").write_text("\n".join(["distribution,secret,probability", *lines]), encoding="ascii")
    accountant = FamilyAccountant(tupling, list(rows.values()))
    least = accountant.epsilon(0.01).bounds
    for limit, code in ((least.upper + 1e-4, 0), (least.lower - 1e-4, 1)):
        required = f"distribution-privacy(delta=0.01) <= {limit}"
        done = run("audit", "t.sfm", "--family", "family.csv", "--delta", 0.01, "--require", required)
        assert done.code == code, done.text
    assert "no number is marked as proved" in done.text
    proved = run("audit", "t.sfm", "--family", "family.csv", "--delta", 0.01)
    told = re.search(r"epsilon ([\d.]+) with delta 0\.01 between every two of the 2 distributions", proved.text)
    assert told is not None
    assert least.upper <= float(told[1]) <= least.upper + 1e-3
    alone = run("audit", "t.sfm", "--delta", 0.01)
    assert alone.code == 0
    assert "What was measured" not in alone.text


def test_an_audit_of_too_many_tuples_is_one_line(run):
    save(Tupling(sf.mechanisms.randomised_response(sf.Space(range(50)), 1.0), 9, [0.02] * 50), "t.sfm")
    done = run("audit", "t.sfm", "--prior", "uniform")
    assert done.code == 1
    assert "entries, more than" in " ".join(done.err.split())
    assert "fewer values or dummies" in " ".join(done.err.split())


FAMILY = {"many": (0.6, 0.2, 0.2), "few": (0.2, 0.6, 0.2), "none": (0.25, 0.35, 0.4)}


@pytest.fixture
def family(tmp_path):
    """Return the family as an array, beside its table and a matrix of one report."""
    lines = [f"{name},{label},{p}" for name, row in FAMILY.items() for label, p in zip("abc", row, strict=True)]
    (tmp_path / "family.csv").write_text("\n".join(["distribution,secret,probability", *lines]), encoding="ascii")
    (tmp_path / "m.csv").write_text(
        "secret,a,b,c\na,0.7,0.2,0.1\nb,0.1,0.8,0.1\nc,0.1,0.1,0.8\n", encoding="ascii"
    )
    return np.array(list(FAMILY.values()))


def worst_delta(tupling, family, epsilon, dummies=None):
    """Return the largest delta between two distributions, by a list of all multisets."""
    lifted, nu = family @ tupling.inner.matrix, tupling.distribution
    k = tupling.dummies if dummies is None else dummies
    return max(exact.delta(p, q, nu, k, epsilon) for p in lifted for q in lifted if p is not q)


@pytest.mark.parametrize("source", ["mixture", "uniform", "optimised"])
def test_the_fewest_dummies_for_a_family(run, family, source):
    options = ("--family", "family.csv", "--epsilon", 0.2, "--delta", 0.05, "--dummies-from", source)
    done = run("tuple", "m.csv", "-o", "t.sfm", *options)
    assert done.code == 0, done.err
    tupling = sf.load("t.sfm")
    assert isinstance(tupling, Tupling)
    found = worst_delta(tupling, family, 0.2)
    assert found <= 0.05 < worst_delta(tupling, family, 0.2, tupling.dummies - 1)
    told = re.search(r"epsilon 0\.2 with delta 0\.05 between every two .* is at most ([\d.]+)\)", done.text)
    assert told is not None
    assert found <= float(told[1]) <= found * 1.01
    assert read_mechanism_file("t.sfm").tuple_guarantees == ()
    assert "every two secrets" not in done.text


@pytest.mark.slow
def test_optimised_dummies_are_never_more(family):
    inner = sf.Mechanism([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    for epsilon, delta in ((0.2, 0.05), (0.4, 0.01)):
        accountant = FamilyAccountant(Tupling(inner, 0, [0.2, 0.2, 0.6]), family)
        plain, best = (plan_dummies(accountant, epsilon, delta, optimise=each) for each in (False, True))
        assert best.dummies < plain.dummies
        assert worst_delta(best.tupling, family, epsilon) <= delta
    with pytest.raises(InfeasibleError, match="2 dummies are not enough"):
        plan_dummies(accountant, 0.1, 1e-6, most=2, optimise=True)
    few = best.dummies
    assert plan_dummies(accountant, 0.4, 0.01, most=few, optimise=True).dummies == few


@pytest.mark.slow
def test_a_number_of_dummies_for_a_family(run, family):
    done = run(
        "tuple", "m.csv", "-o", "t.sfm", "--family", "family.csv", "--dummies", 4, "--dummies-from", "optimised"
    )
    assert done.code == 0, done.err
    told = re.search(r"epsilon ([\d.]+) with delta 0\.001 between every two", done.text)
    assert told is not None
    tupling = sf.load("t.sfm")
    assert worst_delta(tupling, family, float(told[1])) <= 0.001
    assert worst_delta(tupling, family, float(told[1]) - 0.001) > 0.001


@pytest.mark.slow
def test_the_mechanism_of_least_loss_is_chosen(run, family):
    space, same = sf.Space("abc"), sf.hamming(sf.Space("abc"))
    for epsilon in (0.5, 1, 2, 4):
        inner = sf.mechanisms.randomised_response(space, epsilon)
        save(MechanismFile(inner, sf.Prior.uniform(space), same), f"{epsilon}.sfm")
    goal = ("--family", "family.csv", "--epsilon", 0.2, "--delta", 0.02)
    files = [f"{epsilon}.sfm" for epsilon in (0.5, 1, 2, 4)]
    done = run("tuple", *files, "-o", "t.sfm", *goal, "--max-dummies", 12)
    assert done.code == 0, done.err
    losses = {}
    for file in files:
        single = run("tuple", file, "-o", "one.sfm", *goal, "--max-dummies", 12)
        if single.code == 0:
            tupling = read_mechanism_file("one.sfm").tupling
            assert tupling is not None
            losses[file] = quality_loss(tupling, sf.Prior.uniform(space), same)
        else:
            assert f"{file}: 12 dummies are not enough" in done.text
    assert f"Chosen: {min(losses, key=lambda file: losses[file])}" in done.text
    assert "choose among them with --epsilon" in run("tuple", *files, "-o", "t.sfm", "--dummies", 3).err
    assert "The one with the fewest dummies" not in done.text
    skewed = sf.Prior(space, [0.6, 0.3, 0.1])
    save(MechanismFile(sf.mechanisms.randomised_response(space, 1.0), skewed, same), "skewed.sfm")
    for others in (["m.csv"], ["skewed.sfm"]):
        done = run("tuple", "2.sfm", *others, "-o", "t.sfm", *goal)
        assert done.code == 0, done.err
        assert "The one with the fewest dummies is chosen" in done.text


def test_attacks_and_estimates_of_tuples(run, tmp_path):
    space = sf.Space("abc")
    inner = sf.mechanisms.randomised_response(space, 2.0)
    tupling = Tupling(inner, 2, [0.3, 0.3, 0.4])
    prior = sf.Prior(space, [0.5, 0.3, 0.2])
    save(MechanismFile(tupling, prior), "t.sfm")
    attacked = run("attack", "t.sfm", "--distance", "hamming")
    assert attacked.code == 0, attacked.err
    assert "tuples of 3 reports, in any order: 10 are possible" in " ".join(attacked.text.split())
    laws = np.array([exact.laws_of_multisets(row, row, tupling.distribution, 2)[0] for row in inner.matrix])
    hit = (prior.probabilities[:, None] * laws).max(axis=0).sum()
    told = re.search(r"finds the secret with one guess, with it\W+([\d.]+) %", attacked.text)
    assert told is not None
    assert 100 * hit <= float(told[1]) <= 100 * hit + 1
    rows = [
        "secret",
        *("abc"[int(each)] for each in np.random.default_rng(5).choice(3, 3000, p=prior.probabilities)),
    ]
    (tmp_path / "true.csv").write_text("\n".join(rows), encoding="ascii")
    for target in ("out.csv", "out.parquet"):
        assert run("release", "t.sfm", "true.csv", target, "--column", "secret", "--again").code == 0
        done = run("estimate", "t.sfm", target, "-o", "shares.csv")
        assert done.code == 0, done.err
        with (tmp_path / "shares.csv").open(newline="") as stream:
            shares = {row["secret"]: float(row["probability"]) for row in csv.DictReader(stream)}
        assert shares == pytest.approx(dict(zip("abc", prior.probabilities, strict=True)), abs=0.15)
    save(Tupling(inner, 3, [0.3, 0.3, 0.4]), "u.sfm")
    assert run("estimate", "u.sfm", "out.parquet").code == 1
    twice = run("estimate", "t.sfm", "out.csv", "--column", "label", "--column", "other")
    assert (twice.code, "--column was given several times" in twice.err) == (1, True)
    for table, message in (
        ({"label": [["a", "b", "c"]]}, "does not hold 4 labels"),
        ({"label": [["a", "b", "c", "d"]]}, "hold labels that the mechanism does not report"),
        ({"label": ["a"]}, "does not hold 4 labels"),
        ({"label_1": ["a"]}, "exactly the columns label_1 to label_4"),
        ({f"label_{place}": ["a"] for place in range(1, 6)}, "exactly the columns label_1 to label_4"),
    ):
        with pytest.raises(DataError, match=message):
            read_released(Tupling(inner, 3, [0.3, 0.3, 0.4]), pyarrow.table(table), unmarked=True)
    save(Tupling(sf.mechanisms.randomised_response(sf.Space(range(50)), 1.0), 9, [0.02] * 50), "w.sfm")
    for command in (("attack", "w.sfm"), ("estimate", "w.sfm", "out.csv", "--unmarked")):
        done = run(*command)
        assert done.code == 1
        assert "w.sfm: the matrix of a Tupling with 9 dummies" in " ".join(done.err.split())


def test_the_audit_of_tuples_names_their_kind(run):
    save(Tupling(sf.mechanisms.randomised_response(sf.Space("abc"), 2.0), 3, [0.3, 0.3, 0.4]), "t.sfm")
    told = run("audit", "t.sfm", "--promises").text
    assert "Audit: Tupling with 3 dummies over a Mechanism of 3 secrets" in told


def test_an_audit_says_why_a_file_without_promises_fails(run):
    save(Tupling(sf.Mechanism([[0.7, 0.3], [0.3, 0.7]], sf.Space("ab")), 2, [0.5, 0.5]), "t.sfm")
    done = run("audit", "t.sfm", "--promises")
    assert done.code == 1
    assert "The file guarantees nothing" in done.text


def test_a_damaged_family_ends_an_audit_before_its_promises(run, tmp_path):
    save(Tupling(sf.mechanisms.randomised_response(sf.Space("abc"), 2.0), 3, [0.3, 0.3, 0.4]), "t.sfm")
    (tmp_path / "family.csv").write_text("distribution,secret,probability\nx,a,2\n", encoding="ascii")
    done = run("audit", "t.sfm", "--family", "family.csv")
    assert done.code == 1
    assert not done.text
