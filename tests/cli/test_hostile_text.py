"""Hostile labels, units, names and files through every command and every kind of output."""

import csv
import re
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.escaping import from_csv_cell, invisible_character, plain
from sfumato.reports import summarise
from tests.thinned import thinned

HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07",
    "a\nProved: epsilon is at most 0/km.",
    "[/bold]",
    "[red]x",
    "=1+1",
    "-3",
    "-3 km",
    "@SUM(A1)",
    "'=1",
    "$\\frac{1}$",
    "_hidden",
    "\u202egnp.exe",
    "a\u200bb",
    "<script>alert(1)</script>",
    "| a | b |",
    "# heading",
    '"quoted", and more',
    ":smile:",
    "\rover",
    "\u2028line",
)


def sound(*texts):
    """Hold what was printed against what a terminal must not get."""
    for text in texts:
        for line in text.split("\n"):
            assert all(c == " " or unicodedata.category(c)[0] != "C" for c in line), repr(line)
            assert not line.startswith(("Proved: epsilon is at most 0/km", "over"))
    assert "Traceback" not in "".join(texts)


def mechanism_file(labels, name, unit):
    """Save a mechanism whose file is hostile wherever it holds text."""
    space = sf.Space(labels)
    n = len(labels)
    distance = sf.Metric(1.0 - np.eye(n), unit, name=name, triangle=True)
    prior = sf.Prior.uniform(space)
    result = sf.design(prior, loss=distance, guarantees=[sf.MetricPrivacy(1.0, distance)])
    held = sf.files.MechanismFile(
        result.mechanism, prior, result.problem.loss, result.problem.guarantees, {}, result.optimality
    )
    sf.files.save(held, "m.sfm")
    return result


@pytest.fixture(scope="module")
def labels():
    return list(HOSTILE)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_units(run, name):
    with pytest.raises(sf.errors.InputError, match="not a short word"):
        mechanism_file(["a", "b", name], name, name)
    result = mechanism_file(["a", "b", name], name, "")
    for command in (("audit", "m.sfm"), ("audit", "m.sfm", "--promises"))[name not in HOSTILE[:4] :]:
        done = run(*command)
        assert done.code == 0, done.err
        sound(done.out, done.err)
    sound(repr(result), repr(result.mechanism), str(result.problem.loss), str(result.problem.guarantees[0]))
    page = summarise(result, source=name).markdown()
    assert not re.search(r"[<>\x1b]|(?<!\\)[\[\]`|$]|^Proved: epsilon is at most 0/km", page, re.MULTILINE)


def test_labels_with_characters_that_are_not_seen_reach_no_table(run, labels):
    assert invisible_character("\u3164") == "a character that is not seen (U+3164)"
    hidden = [label for label in labels if not label.isprintable()]
    assert len(hidden) == 6
    for label in hidden:
        mechanism_file(["a", "b", label], "plain", "")
        Path("secrets.csv").write_text("place\na\n")
        done = run("release", "m.sfm", "secrets.csv", "out.csv", "--column", "place")
        assert done.code == 1
        assert f"the label {plain(label)!r} has " in done.err
        sound(done.out, done.err)
        assert not Path("out.csv").exists()
        with pytest.raises(sf.errors.InputError, match=r"has .* \(U\+"):
            sf.release(sf.load("m.sfm"), pa.table({"place": ["a"]}), column="place")
        with open("seen.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["place"], ["a"], [label], ["b"]])
        done = run("design-column", "seen.csv", "--column", "place", "--epsilon", "1", "-o", "new.sfm")
        assert done.code == 1
        assert "a label in the column 'place' has " in done.err
        assert not Path("new.sfm").exists()
        if label.splitlines() == [label]:
            Path("labels.txt").write_text(f"a\n{label}\n", encoding="utf-8")
            done = run(
                "design-column", "--column", "place", "--labels", "labels.txt", "--epsilon", "1", "-o", "new.sfm"
            )
            assert done.code == 1
            assert f"the label {plain(label)!r} has " in done.err


def test_labels_through_every_command(run, tmp_path, labels):
    labels = [label for label in labels if label.isprintable()]
    mechanism_file(labels, "plain", "")
    with open("secrets.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["place", "=who"], *([label, label] for label in labels * 3)])
    for target, further in (("out.csv", ()), ("out.parquet", ("--again",))):
        done = run("release", "m.sfm", "secrets.csv", target, "--column", "place", "--keep", "=who", *further)
        assert done.code == 0, done.err
        sound(done.out, done.err)
        done = run("estimate", "m.sfm", target, "-o", "shares.csv")
        assert done.code in (0, 3), done.err
        sound(done.out, done.err)
        with open("shares.csv", newline="", encoding="utf-8") as file:
            assert [from_csv_cell(row["secret"]) for row in csv.DictReader(file)] == labels
    with open("out.csv", newline="", encoding="utf-8") as file:
        for cell in (cell for row in csv.reader(file) for cell in row):
            assert not re.match("[=+\\-@\t\r\n]", cell) or re.fullmatch(r"-?[\d.]+", cell)
            assert from_csv_cell(cell) in {*labels, "label", "=who"}
    assert set(pq.read_table("out.parquet")["=who"].to_pylist()) == set(labels)
    done = run("attack", "m.sfm", "--distance", "hamming")
    assert done.code == 0, done.err
    sound(done.out, done.err)
    done = run("audit-samples", "out.csv", "--columns", "=who,label")
    assert done.code == 0, done.err
    sound(done.out, done.err)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", thinned((name for name in HOSTILE if "/" not in name and "\x07" not in name), 4))
def test_files_columns_and_users(run, visits_file, tmp_path, name):
    path = tmp_path / f"{name}.csv"
    content = visits_file.read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in content[1:]]
    column = f"who {' '.join(name.splitlines())}"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(
            [[column, "lat", "lon"], *([name, *row[1:]] for row in rows)]
        )
    done = run(
        "design", path, "--cells", "2x2", "--user", name, "--user-column", column, "--no-picture", "-o", "o.sfm"
    )
    assert done.code == 0, done.err
    sound(done.out, done.err, (tmp_path / "o.md").read_text(encoding="utf-8"))
    written = (tmp_path / "o.md").read_text(encoding="utf-8").replace("\\", "")  # Markdown escapes some signs
    assert plain(name).split()[0].replace("\\", "") in f"{done.text} {written}"
    for wrong in (
        ()
        if name not in HOSTILE[:6]
        else (
            ("design", path, "--user", f"{name}!"),
            ("design", path, "--lat", name, "--lon", f"{name}!"),
            ("design", path, "--region", name),
            ("design", path, "--cell", name),
            ("design", path, "--epsilon", name),
            ("design", path, "--loss", name),
            ("design", f"{name}/nowhere.csv"),
            ("design", path, "-o", f"{name}/nowhere.sfm"),
            ("audit", path),
            ("audit", "o.sfm", "--metric", name),
            ("audit", "o.sfm", "--require", name),
            ("attack", path),
            ("release", "o.sfm", path, f"{name}.txt"),
            ("release", "o.sfm", path, "new.csv", "--column", f"{name}!"),
            ("estimate", "o.sfm", path, "--column", f"{name}!"),
        )
    ):
        done = run(*wrong)
        assert done.code != 0
        sound(done.out, done.err)
        assert done.err.startswith(("Error: ", "Usage: ", "Note: "))


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=2, max_size=4, unique=True)
)
@settings(
    deadline=None,
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_text_is_only_text(run, labels):
    mechanism_file(labels, labels[0], "")  # other units are refused, above
    done = run("audit", "m.sfm", "--promises")
    assert done.code == 0, done.err
    sound(done.out, done.err)
