"""Dummies from the command line: files, audits, releases and comparisons."""

import csv
import re

import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.files import MechanismFile, read_mechanism_file, save
from sfumato.mechanisms import FamilyAccountant, TuplePrivacy, Tupling


@pytest.fixture
def designed(run, visits_file):
    options = ("--cells", "3x2", "--no-picture", "--epsilon", "2/km")
    assert run("design", visits_file, "-o", "m.sfm", *options).code == 0
    return sf.read_mechanism_file("m.sfm")


def test_a_number_of_dummies(run, designed):
    done = run("tuple", "m.sfm", "-o", "t.sfm", "--dummies", 5, "--source", "uniform")
    assert done.code == 0, done.err
    assert "5 dummies, so 6 queries" in done.text
    tupling = read_mechanism_file("t.sfm").mechanism
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
    moved = ["--outside", "nearest", "--within", "20 km", "--allow", "0.5"]
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
    for arguments in (("attack", "t.sfm"), ("estimate", "t.sfm", visits_file), ("tuple", "t.sfm", "-o", "u.sfm")):
        more = ("--dummies", 2) if arguments[0] == "tuple" else ()
        done = run(*arguments, *more)
        assert done.code == 1
        assert "whose reports are tuples" in done.err
    done = run("audit", "t.sfm", "--require", "epsilon <= 1/km")
    assert done.code == 1
    assert "epsilon <= 1/km: FAILS" in done.text
    assert run("tuple", "m.sfm", "-o", "w.sfm", "--dummies", 2000).code == 0
    done = run("release", "w.sfm", visits_file, "out.csv", "--outside", "nearest")
    assert "a report of 2,001 numbers would need as many columns" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "neither --dummies nor --epsilon was given"),
        (("--dummies", 3, "--epsilon", 1), "--dummies and --epsilon were both given"),
        (("--epsilon", 1), "--epsilon and --delta go together"),
        (("--dummies", -1), "number of dummies is -1"),
        (("--dummies", 3, "--source", "city"), "--source city is unknown"),
        (("--epsilon", 1, "--delta", 0), "dummies never lower a pure epsilon"),
        (("--epsilon", 0.001, "--delta", 1e-9, "--most", 5), "5 dummies are not enough"),
    ],
)
def test_options_that_do_not_fit(run, designed, arguments, message):
    done = run("tuple", "m.sfm", "-o", "t.sfm", *arguments)
    assert done.code == 1
    assert message in done.err
    assert "Traceback" not in done.err


def test_compare_among_dummies(run, visits_file):
    done = run("compare", visits_file, "--cells", "3x2", "--epsilon", "1/km", "--dummies", 4, "-o", "t.csv")
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
    alone = run("audit", "t.sfm", "--delta", 0.01)
    assert alone.code == 0
    assert "What was measured" not in alone.text


def test_an_audit_of_too_many_tuples_is_one_line(run):
    save(Tupling(sf.mechanisms.randomised_response(sf.Space(range(50)), 1.0), 9, [0.02] * 50), "t.sfm")
    done = run("audit", "t.sfm", "--prior", "uniform")
    assert done.code == 1
    assert "entries, more than" in " ".join(done.err.split())
