"""``sfumato design-column --column`` to ``estimate``: categories, numbers and several columns."""

import csv
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf

LABELS = ["cold", "flu", "none", "=rare"]
SHARES = [0.3, 0.2, 0.4, 0.1]


@pytest.fixture
def answers(tmp_path):
    random = np.random.default_rng(2)
    path = tmp_path / "answers.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        write = csv.writer(file)
        write.writerow(["id", "diagnosis", "age"])
        for person in range(4_000):
            write.writerow([person, random.choice(LABELS, p=SHARES), random.integers(18, 98)])
    return path


def opened(name: str) -> Any:
    return sf.read_mechanism_file(name)


def loaded(name: str) -> Any:
    return sf.load(name)


def response(space):
    return sf.mechanisms.randomised_response(space, 1).matrix


def public(run, *options):
    return run("design-column", "--column", "diagnosis", "--labels", ",".join(LABELS), "--epsilon", 1, *options)


def test_from_answers_to_shares(run, answers):
    done = public(run, "-o", "d.sfm")
    assert done.code == 0, done.err
    assert done.err.strip() == ""  # nothing was read from data
    assert "each of 4 shares is known to within" in done.text
    held = opened("d.sfm")
    assert held.mechanism.matrix == pytest.approx(response(sf.Space(LABELS)), rel=1e-12)
    assert run("audit", "d.sfm", "--promises").code == 0
    released = run("release", "d.sfm", answers, "out.csv", "--column", "diagnosis")
    assert released.code == 0, released.err
    done = run("estimate", "d.sfm", "out.csv", "--method", "inversion", "-o", "e.csv")
    assert done.code == 0, done.err
    with open("e.csv", newline="", encoding="utf-8") as file:
        found = {row["secret"].lstrip("'"): float(row["probability"]) for row in csv.DictReader(file)}
    with answers.open(encoding="utf-8") as file:
        true = [row["diagnosis"] for row in csv.DictReader(file)]
    margin = sf.accuracy(4, epsilon=1, answers=len(true), failure=1e-9).margin
    for label in LABELS:
        assert abs(found[label] - true.count(label) / len(true)) < margin


def test_labels_from_the_data_are_said_to_leak(run, answers):
    done = run("design-column", answers, "--column", "diagnosis", "--epsilon", 1, "-o", "d.sfm")
    assert done.code == 0
    assert "each of them occurs in the data, which no epsilon covers" in done.err
    assert "seen in the file" in done.text
    assert set(loaded("d.sfm").secrets.labels) == set(LABELS)
    assert set(opened("d.sfm").prior.probabilities) == {0.25}


def test_the_same_file_whatever_the_data(run, answers):
    assert public(run, "-o", "a.sfm").code == 0
    assert (
        run(
            "design-column",
            answers,
            "--column",
            "diagnosis",
            "--labels",
            ",".join(LABELS),
            "--epsilon",
            1,
            "-o",
            "b.sfm",
        ).code
        == 0
    )
    assert loaded("a.sfm") == loaded("b.sfm")
    assert set(opened("b.sfm").prior.probabilities) == {0.25}


def test_labels_from_a_file(run, tmp_path):
    (tmp_path / "labels.txt").write_text("yes, often\n\nno\n", encoding="utf-8")
    assert run("design-column", "--column", "q", "--labels", "labels.txt", "--epsilon", 2).code == 0
    assert loaded("q.sfm").secrets.labels == ("yes, often", "no")


@pytest.mark.parametrize("given", ['"yes, often",no', 'q="yes, often", no'])
def test_a_quoted_label_holds_a_comma(run, given):
    assert run("design-column", "--column", "q", "--labels", given, "--epsilon", 2).code == 0
    assert loaded("q.sfm").secrets.labels == ("yes, often", "no")


def test_the_shares_of_the_data_only_where_they_are_asked_for(run, answers):
    done = run(
        "design-column",
        answers,
        "--column",
        "diagnosis",
        "--labels",
        "cold,flu,none",
        "--prior",
        "data",
        "--epsilon",
        1,
        "-o",
        "d.sfm",
    )
    assert done.code == 0, done.err
    assert "keep it as secret as the data" in done.err
    assert "rows with other values are left out" in done.text
    prior = opened("d.sfm").prior
    assert prior.probabilities == pytest.approx(np.array(SHARES[:3]) / 0.9, abs=0.05)


@pytest.mark.slow
def test_numbers_in_bins(run, answers):
    done = run("design-column", "--column", "age", "--numbers", "18..99:5", "--epsilon", 1, "-o", "age.sfm")
    assert done.code == 0, done.err
    assert "do not settle" in " ".join(done.text.split())
    assert "--loss hamming" in done.text
    held = opened("age.sfm")
    assert held.mechanism.secrets == sf.NumberBins(18, 5, 17)
    assert held.loss.name == "absolute"
    assert held.guarantees[0].metric.name == "hamming"
    released = run("release", "age.sfm", answers, "out.csv", "--column", "age")
    assert released.code == 0, released.err
    estimated = run("estimate", "age.sfm", "out.csv", "-o", "e.csv")
    assert estimated.code == 3
    assert estimated.text.startswith("NOT SETTLED, and withheld: 17 of the 17 shares.")
    assert "likeliest" not in estimated.text
    with open("e.csv", newline="", encoding="utf-8") as file:
        assert [row["probability"] for row in csv.DictReader(file)] == [""] * 17
    assert run("estimate", "age.sfm", "out.csv", "--method", "early-stopped").code == 0
    done = run(
        "design-column",
        "--column",
        "age",
        "--numbers",
        "18..97:5",
        "--loss",
        "hamming",
        "--epsilon",
        1,
        "-o",
        "r.sfm",
    )
    assert "each of 16 shares" in done.text
    assert loaded("r.sfm").matrix == pytest.approx(response(sf.NumberBins(18, 5, 16)), rel=1e-12)


def test_numbers_with_an_epsilon_per_unit(run):
    done = run("design-column", "--column", "age", "--numbers", "18..30", "--epsilon", "0.5/year", "-o", "age.sfm")
    assert done.code == 0, done.err
    held = opened("age.sfm")
    assert held.guarantees[0].metric.unit == "year"
    done = run(
        "design-column", "--column", "age", "--numbers", "18..30:5", "--epsilon", "0.5/year", "-o", "age.sfm"
    )
    assert done.code == 1
    assert "nearer than the bins" in done.err


@pytest.mark.slow
def test_ages_that_no_number_of_reports_tells_apart(run, answers):
    done = run("design-column", "--column", "age", "--numbers", "18..97:5", "--epsilon", 1, "-o", "near.sfm")
    assert done.code == 0, done.err
    assert "To estimate shares, design with --loss hamming." in done.text
    assert run("release", "near.sfm", answers, "n.csv", "--column", "age", "--user-column", "id").code == 0
    inverted = ("--method", "inversion", "--intervals", "normal")
    for options in ((), inverted):
        done = run("estimate", "near.sfm", "n.csv", "-o", "e.csv", *options)
        assert done.code in (0, 3), done.err
        assert "Warning: some estimates of single shares from 4,000 reports are mostly noise." in done.err
        assert "is 50 points for about 3.7e14 reports" in done.text
    with open("e.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert float(row["lower"]) <= 1 / 16 <= float(row["upper"])
    done = run(
        "design-column",
        "--column",
        "age",
        "--numbers",
        "18..97:5",
        "--epsilon",
        1,
        "--loss",
        "hamming",
        "-o",
        "a.sfm",
    )
    assert "To estimate shares" not in done.text
    assert run("release", "a.sfm", answers, "a.csv", "--column", "age", "--again").code == 0
    assert "Warning" not in run("estimate", "a.sfm", "a.csv", *inverted).err


BOTH = ("--column", "diagnosis", "--column", "age")
VALUES = ("--labels", ",".join(LABELS), "--numbers", "age=18..97:40")


def shares_in(path) -> dict[tuple[str, ...], float]:
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {(row["diagnosis"].lstrip("'"), row["age"]): float(row["probability"]) for row in rows}


def true_shares(path) -> dict[tuple[str, ...], float]:
    with open(path, newline="", encoding="utf-8") as file:
        found = [(row["diagnosis"], "18-57" if int(row["age"]) < 58 else "58-97") for row in csv.DictReader(file)]
    return {pair: found.count(pair) / len(found) for pair in found}


@pytest.mark.slow
def test_several_columns_divide_epsilon(run, answers):
    done = run(
        "design-column", *BOTH, *VALUES, "--loss", "hamming", "--epsilon", 0.7, "--split", "2/3,1/3", "-o", "s"
    )
    assert done.code == 0, done.err
    assert "Together the 2 columns of one person spend at most epsilon 0.7" in done.text
    assert "sfumato release s TABLE OUTPUT --column diagnosis --column age" in done.text
    found = [opened(f"s/{name}.sfm").guarantees[0].epsilon for name in ("diagnosis", "age")]
    assert found == pytest.approx([0.7 * 2 / 3, 0.7 / 3])
    assert sum(map(Fraction, found)) <= Fraction("0.7")
    assert run("design-column", *BOTH, *VALUES, "--epsilon", 1, "--split", "even").code == 0
    assert opened("mechanisms/age.sfm").guarantees[0].epsilon == 0.5


@pytest.mark.slow
def test_columns_of_their_own_from_answers_to_shares(run, answers):
    assert run("design-column", *BOTH, *VALUES, "--loss", "hamming", "--epsilon", 4, "-o", "s").code == 0
    done = run("release", "s", answers, "out.csv", *BOTH, "--user-column", "id")
    assert done.code == 0, done.err
    assert "epsilon 2 + 2, at most 4 for any two people" in done.text
    assert "epsilon once, 4 (4,000 users)" in done.text
    done = run("estimate", "s", "out.csv", *BOTH, "--method", "inversion", "--intervals", "normal", "-o", "e.csv")
    assert done.code == 0, done.err
    assert "The most frequent values of age" in done.text
    found, true = shares_in("e.csv"), true_shares(answers)
    assert found.keys() >= true.keys()
    assert max(abs(found[pair] - true[pair]) for pair in true) < 0.05
    assert run("estimate", "s/age.sfm", "out.csv", "--column", "age").code == 0
    for name in ("diagnosis", "age"):
        assert f"name the mechanism's own with --column {name}." in run("estimate", f"s/{name}.sfm", "out.csv").err
    assert "drawn from another mechanism" in run("estimate", "s/age.sfm", "out.csv", "--column", "diagnosis").err


@pytest.mark.slow
def test_one_joint_space_from_answers_to_shares(run, answers):
    done = run("design-column", *BOTH, *VALUES, "--epsilon", 2, "--split", "joint", "-o", "j.sfm")
    assert done.code == 0, done.err
    assert "each of 8 shares is known" in done.text
    assert "one secret, with one epsilon of 2" in done.text
    assert run("audit", "j.sfm", "--promises").code == 0
    done = run("release", "j.sfm", answers, "out.parquet")
    assert done.code == 0, done.err
    assert "(diagnosis, age)" in done.text
    for kind, how in (("profile", "maximum-likelihood"), ("normal", "inversion"), ("bootstrap", "least-squares")):
        done = run("estimate", "j.sfm", "out.parquet", "--method", how, "--intervals", kind, "-o", "e.csv")
        assert done.code == 0, done.err
        with open("e-columns.csv", newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["column"] == "diagnosis"]
        assert sum(float(row["probability"]) for row in rows) == pytest.approx(1)
        assert all(float(row["lower"]) <= float(row["probability"]) <= float(row["upper"]) for row in rows)
        found, true = shares_in("e.csv"), true_shares(answers)
        for row in rows:
            whole = sum(share for pair, share in true.items() if pair[0] == row["value"])
            assert float(row["probability"]) == pytest.approx(whole, abs=0.1)
        margin = sf.accuracy(8, epsilon=2, answers=4_000, failure=1e-9).margin
        assert max(abs(found[pair] - true[pair]) for pair in true) < margin
        assert "The most frequent values of diagnosis" in done.text


def test_a_joint_space_that_is_too_large(run):
    done = run(
        "design-column", *BOTH, "--labels", "a,b,c", "--numbers", "age=1..900", "--epsilon", 1, "--split", "joint"
    )
    assert done.code == 1
    assert "3 x 900 = 2,700 combinations, more than 1,000" in " ".join(done.err.split())
    assert "--split even" in done.err


@pytest.mark.slow
def test_the_shares_of_combinations_in_the_data(run, answers):
    done = run(
        "design-column",
        answers,
        *BOTH,
        *VALUES,
        "--epsilon",
        1,
        "--split",
        "joint",
        "--prior",
        "data",
        "-o",
        "j.sfm",
    )
    assert done.code == 0, done.err
    held, true = opened("j.sfm"), true_shares(answers)
    assert held.prior.probabilities == pytest.approx([true[pair] for pair in held.mechanism.secrets.labels])


@pytest.mark.parametrize(
    ("values", "radius", "says"),
    [
        (("--numbers", "0..23", "--circular", 24, "--epsilon", "1/h"), "3 m", "the unit 'm' does not fit 'h'"),
        (("--labels", "yes,no", "--epsilon", 1), "3 h", "these secrets have no distances"),
    ],
)
def test_a_radius_that_does_not_fit_is_refused_before_the_design(run, tmp_path, values, radius, says):
    required = ("--require", f"within {radius}: at most 50 %")
    done = run("design-column", "--column", "q", *values, *required, "-o", "q.sfm")
    assert done.code == 1
    assert says in " ".join(done.err.split())
    assert not list(tmp_path.glob("q.*"))


def test_options_for_one_of_several_columns(run):
    three = ("--column", "p", "--column", "q", "--column", "r", "--epsilon", 3, "-o", "m")
    done = run("design-column", *three, "--labels", "q=x,y,z", "--numbers", "p=1..3", "--labels", "a,b")
    assert done.code == 0, done.err
    assert loaded("m/q.sfm").secrets.labels == ("x", "y", "z")
    assert loaded("m/r.sfm").secrets.labels == ("a", "b")
    assert loaded("m/p.sfm").secrets == sf.NumberBins(1, 1, 3)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "options",
    [
        ("--labels", "q=x,y;r=a,b", "--numbers", "p=1..3"),
        ("--labels", "r=a, b ; q=x,y", "--numbers", "p=1..3"),
        ("--labels", "q=x,y,r=a,b", "--numbers", "p=1..3"),
        ("--numbers", "p=1..3", "--labels", "q=x,y", "--labels", "a,b"),
    ],
)
def test_one_option_holds_the_values_of_several_columns(run, options):
    three = ("--column", "p", "--column", "q", "--column", "r", "--epsilon", 3, "-o", "m")
    done = run("design-column", *three, *options)
    assert done.code == 0, done.err
    assert loaded("m/q.sfm").secrets.labels == ("x", "y")
    assert loaded("m/r.sfm").secrets.labels == ("a", "b")
    assert loaded("m/p.sfm").secrets == sf.NumberBins(1, 1, 3)


def test_a_name_in_double_quotes_is_part_of_a_label(run):
    two = ("--column", "p", "--column", "q", "--epsilon", 2, "-o", "m")
    done = run("design-column", *two, "--labels", 'p="a;q=b",c;q=x,y')
    assert done.code == 0, done.err
    assert loaded("m/p.sfm").secrets.labels == ("a;q=b", "c")
    assert loaded("m/q.sfm").secrets.labels == ("x", "y")


@pytest.mark.slow
def test_one_column_may_be_named_too(run, tmp_path):
    for given in ("p=1,b", "1,b"):
        assert run("design-column", "--column", "p", "--labels", given, "--epsilon", 1, "-o", "p.sfm").code == 0
        assert loaded("p.sfm").secrets.labels == ("1", "b")
    assert run("design-column", "--column", "p", "--numbers", "p=1..3", "--epsilon", 1, "-o", "p.sfm").code == 0
    assert loaded("p.sfm").secrets == sf.NumberBins(1, 1, 3)
    (tmp_path / "labels.txt").write_text("p=1\nx=2\nb\n")  # as labels that hold "=" are given
    for given in ("labels.txt", "p=labels.txt"):
        assert run("design-column", "--column", "p", "--labels", given, "--epsilon", 1, "-o", "p.sfm").code == 0
        assert loaded("p.sfm").secrets.labels == ("p=1", "x=2", "b")
    assert run("design-column", "--column", "p", "--labels", "a,x=2,=b", "--epsilon", 1, "-o", "p.sfm").code == 0
    assert loaded("p.sfm").secrets.labels == ("a", "x=2", "=b")


@pytest.mark.parametrize(
    ("columns", "values", "told"),
    [
        (
            "diagnosis",
            "--labels x=a,b",
            "--labels diagnosis=a,b; or if labels hold '=', write them into a text file",
        ),
        ("diagnosis age", "--labels diagnos=flu,cold", "name a column: --labels diagnosis=flu,cold"),
        ("diagnosis age", "--numbers agee=18..97:40", "name a column: --numbers age=18..97:40."),
        ("age", "--numbers agee=18..97:40", "begins with 'agee', which is none of the columns: 'age'."),
        ("a b", "--labels a=x,y --numbers 1..3", "name the column: --numbers b=1..3."),
        ("a", "--labels a=x,a=y", "more than once"),
        ("a b", "--labels a=x,y;b=u,v;a=z", "more than once"),
        ("a", "--labels a=x,y --labels u,v", "2 --labels were given for 1 --column"),
    ],
)
def test_values_of_a_column_that_is_not_there(run, columns, values, told):
    named = [word for column in columns.split() for word in ("--column", column)]
    done = run("design-column", *named, *values.split(), "--epsilon", 1)
    assert done.code == 1
    assert told in " ".join(done.err.split())


def test_a_folder_that_lacks_a_column(run, answers):
    assert run("design-column", *BOTH, *VALUES, "--epsilon", 1, "-o", "s").code == 0
    done = run("release", "s", answers, "out.csv", "--column", "diagnosis", "--column", "id")
    assert done.code == 1
    assert "holds no mechanism file 'id.sfm' for the column 'id'" in " ".join(done.err.split())


def test_stops_on_one_way_streets(run, tmp_path):
    (tmp_path / "minutes.csv").write_text("0,2,5\n4,0,3\ninf,inf,0\n")
    stops = ("design-column", "--column", "stop", "--labels", "foot,bridge,top", "--epsilon", "0.4/min")
    done = run(*stops, "--distances", "minutes.csv", "--asymmetric", "-o", "stop.sfm", "--report", "stop.html")
    assert done.code == 0, done.err
    assert "two values 4 min apart (the longer way, as the file states it)" in " ".join(done.text.split())
    promise = loaded("stop.sfm").guarantees[0]
    assert (promise.epsilon, promise.metric.unit, promise.metric.symmetric) == (0.4, "min", False)
    assert "The distance depends on the direction" in (tmp_path / "stop.html").read_text(encoding="utf-8")
    assert "The pair from " in run("audit", "stop.sfm", "--promises").text
    check = ("audit", "stop.sfm", "--distances", "minutes.csv", "--asymmetric", "--unit", "min")
    assert run(*check, "--require", "metric-privacy <= 0.4/min").code == 0
    (tmp_path / "people.csv").write_text("stop\nfoot\ntop\n")
    release = ("release", "stop.sfm", "people.csv", "out.csv", "--column", "stop")
    assert "distances that the mechanism file states" in " ".join(run(*release).err.split())
    assert run(*release, "--trust-distances").code == 0


def test_numbers_do_not_take_the_unit_of_a_file_of_distances(run, tmp_path):
    (tmp_path / "minutes.csv").write_text("0,2,5\n2,0,3\n5,3,0\n")
    (tmp_path / "ages.csv").write_text("distribution,secret,probability\na,1,1\nb,3,1\n")
    ages = ("design-column", "--column", "age", "--numbers", "1..3", "--loss", "absolute", "-o", "age.sfm")
    assert run(*ages, "--epsilon", "0.4/min", "--distances", "minutes.csv").code == 0
    content = sf.read_mechanism_file("age.sfm")
    assert content.loss is not None
    (promise,) = loaded("age.sfm").guarantees
    assert (content.loss.unit, promise.metric.unit) == ("", "min")
    # The epsilon of distributions may count per unit of the numbers, whether that of values does or not.
    families = ("--family", "ages.csv", "--attribute-epsilon", "0.5/year")
    for epsilon in (("1",), ("0.4/min", "--distances", "minutes.csv")):
        assert run(*ages, *families, "--epsilon", *epsilon).code == 0
        content = sf.read_mechanism_file("age.sfm")
        assert content.loss is not None
        assert (content.loss.unit, loaded("age.sfm").guarantees[1].unit) == ("year", "year")


def test_a_single_ordered_pair_is_stated_as_one(run, tmp_path):
    (tmp_path / "way.csv").write_text("0,2\ninf,0\n")
    ways = ("design-column", "--column", "way", "--labels", "up,down", "--epsilon", 1, "-o", "way.sfm")
    assert run(*ways, "--distances", "way.csv", "--asymmetric").code == 0
    stated = " ".join(run("audit", "way.sfm", "--promises").text.split())
    assert "for the 1 ordered pair at a finite distance (of 2)" in stated


def test_each_column_of_a_source_is_released_once(run, answers):
    assert public(run, "-o", "d.sfm").code == 0
    assert (
        run("design-column", "--column", "age", "--numbers", "18..97:20", "--epsilon", 1, "-o", "age.sfm").code
        == 0
    )
    assert run("release", "d.sfm", answers, "d.csv", "--column", "diagnosis").code == 0
    assert run("release", "age.sfm", answers, "a.csv", "--column", "age").code == 0
    assert run("release", "age.sfm", answers, "b.csv", "--column", "age").code == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--epsilon", 1), "neither a table nor the possible values"),
        (("--labels", "a,b"), "--epsilon is missing"),
        (("--labels", "a,b", "--epsilon", "nan"), "--epsilon"),
        (("--labels", "a,b", "--epsilon", "1/km"), "no distances"),
        (("--labels", "a,b", "--epsilon", 1, "--asymmetric"), "without a file of distances"),
        (("--labels", "a,b", "--epsilon", 1, "--distances", "nowhere.npy"), "nowhere.npy"),
        (("--epsilon", 1, "--distances", "nowhere.npy"), "order of its rows"),
        (("--column", "q", "--labels", "a,b", "--labels", "a,b", "--epsilon", 1, "--distances", "d"), "several"),
        (("--labels", "a,b", "--epsilon", 0), "--epsilon"),
        (("--labels", "a,a", "--epsilon", 1), "--labels"),
        (("--labels", "a,,b", "--epsilon", 1), "empty label"),
        (("--labels", "a", "--epsilon", 1), "neither several labels nor a file"),
        (("--labels", "a,b", "--labels", "c,d", "--epsilon", 1), "2 --labels were given for 1 --column"),
        (("--labels", "a,b", "--numbers", "1..3", "--epsilon", 1), "both given"),
        (("--numbers", "3..1", "--epsilon", 1), "no two numbers"),
        (("--numbers", "1..3:0", "--epsilon", 1), "no width"),
        (("--numbers", "1..3:9", "--epsilon", 1), "single bin"),
        (("--numbers", "1..99999999", "--epsilon", 1), "--numbers"),
        (("--numbers", "young", "--epsilon", 1), "not a range"),
        (("--labels", "a,b", "--epsilon", 1, "--spacing", "500 m"), "No such option: --spacing"),
        (("--labels", "a,b", "--epsilon", 1, "--loss", "absolute"), "--loss absolute"),
        (("--labels", "a,b", "--epsilon", 1, "--prior", "flat"), "--prior flat is unknown"),
        (("--labels", "a,b", "--epsilon", 1, "--prior", "data"), "without a table"),
        (("--labels", "a,b", "--epsilon", 1, "--split", "1"), "--split was given with one column"),
        (("--column", "p", "--epsilon", 1), "twice"),
        (("--column", "q", "--labels", "a,b", "--labels", "a,b", "--epsilon", 1, "--split", "0.5,0.6"), "--split"),
        (("--column", "q", "--labels", "a,b", "--labels", "a,b", "--epsilon", 1, "--split", "2,-1"), "--split"),
        (("--column", "q", "--labels", "a,b", "--labels", "a,b", "--epsilon", "1/km"), "cannot be divided"),
        (("--column", "q", "--numbers", "1..3", "--epsilon", 1), "does not say which of the 2 columns"),
        (("--column", "q", "--labels", "a,b", "--epsilon", 1), "1 --labels were given for 2 --column"),
        (("--column", "q", "--numbers", "p=1..3", "--numbers", "p=1..4", "--epsilon", 1), "'p' twice"),
        (("--column", "q", "--labels", "a,b", "--labels", "a,b", "--epsilon", 1, "-o", "x.sfm"), "name a folder"),
        (
            ("--column", "q", "--labels", "a,b", "--labels", "a,b", "--epsilon", "1/km", "--split", "joint"),
            "no dist",
        ),
        (("--numbers", "1..3", "--numbers", "1..4", "--epsilon", 1), "2 --numbers were given for 1 --column"),
    ],
)
def test_what_cannot_be_designed(run, options, told):
    done = run("design-column", "--column", "p", *options)
    assert done.code == (2 if "option" in told else 1), done.out
    assert told in " ".join(done.err.split())


def test_options_of_columns_need_one(run):
    for option, value in (("--labels", "a,b"), ("--numbers", "1..3"), ("--split", "1,2"), ("--prior", "data")):
        done = run("design", option, value)
        assert done.code == 2
        assert f"{option} is an option of: sfumato design-column" in done.err


def test_tables_that_do_not_fit(run, answers):
    done = run("design-column", answers, "--column", "id", "--epsilon", 1)
    assert done.code == 1
    assert "4,000 different values" in done.err
    assert "has no column 'sex'" in run("design-column", answers, "--column", "sex", "--epsilon", 1).err
    done = run(
        "design-column", answers, "--column", "diagnosis", "--labels", "a,b", "--prior", "data", "--epsilon", 1
    )
    assert "no row of answers.csv holds one of the 2 values" in done.err


@pytest.mark.slow
def test_hours_are_on_a_circle(run, tmp_path):
    (tmp_path / "h.csv").write_text("hour,day\n" + "".join(f"{n % 24},{n % 7}\n" for n in range(200)))
    hours = (
        "design-column",
        "h.csv",
        "--column",
        "hour",
        "--numbers",
        "0..23",
        "--epsilon",
        "1/hour",
        "-o",
        "h.sfm",
    )
    done = run(*hours, "--circular", 24)
    assert done.code == 0, done.err
    assert "around a circle of 24" in done.text
    assert loaded("h.sfm").secrets.metric("absolute").array[23, 0] == 1
    released = run("release", "h.sfm", "h.csv", "out.csv", "--column", "hour")
    assert released.code == 0, released.err
    assert "for numbers in hour around a circle of 24" in released.out
    assert run("audit", "h.sfm", "--promises").code == 0
    both = ("--column", "hour", "--column", "day", "--numbers", "hour=0..23", "--numbers", "day=0..6")
    circles = ("--circular", "hour=24", "--circular", "day=7")
    assert run("design-column", "h.csv", *both, *circles, "--epsilon", 1, "-o", "out").code == 0
    assert loaded("out/day.sfm").secrets.period == 7


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--numbers", "0..24", "--circular", "24"), "end it at 23"),
        (("--numbers", "0..23:5", "--circular", "24"), "more than once around"),
        (("--numbers", "0..23", "--circular", "day"), "not the length of a circle"),
        (("--numbers", "0..23", "--circular", "24", "--circular", "24"), "twice"),
        (("--labels", "a,b", "--circular", "24"), "without --numbers"),
    ],
)
def test_circles_that_make_no_sense(run, options, said):
    done = run("design-column", "--column", "hour", "--epsilon", 1, *options)
    assert done.code == 1
    assert said in done.err


@pytest.mark.parametrize("times", ["2024-03-01T18:30:00Z", "1709317800", "1709317800000", "2024-03-01"])
def test_times_are_refused_before_a_mechanism_is_designed(run, tmp_path, times):
    (tmp_path / "t.csv").write_text(f"at\n{times}\n{times}\n")
    done = run("design-column", "t.csv", "--column", "at", "--numbers", "0..23", "--epsilon", 1, "-o", "t.sfm")
    assert done.code == 1
    assert "holds times" in done.err
    assert not (tmp_path / "t.sfm").exists()


def test_numbers_of_the_range_are_no_times(run, tmp_path):
    (tmp_path / "n.csv").write_text("income\n120000000\n340000000\n")
    done = run(
        "design-column", "n.csv", "--column", "income", "--numbers", "0..399999999:50000000", "--epsilon", 1
    )
    assert done.code == 0, done.err
