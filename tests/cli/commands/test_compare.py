"""``sfumato compare``: points by default, cells where they are asked for."""

import csv
import html
import re

import pytest

from sfumato.comparison import priors
from sfumato.errors import InputError


def test_at_equal_epsilon(run, visits_file, tmp_path):
    done = run("compare", visits_file, "--cells", "4x3", "--epsilons", "1/km", "-o", "t.csv", "--figure", "t.png")
    assert done.code == 0, done.err
    assert "optimum" in done.text
    assert "planar geometric + remap" in done.text
    assert "Proved: no mechanism of epsilon 1/km, with these reports, loses less than" in done.text
    assert (tmp_path / "t.csv").read_text().startswith("name,parameter,epsilon_upper")
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.5/km,1/km", "0.5, 1/km", " 0.5/km , 1/km,", "0.5..1/km:2"])
def test_several_epsilons_on_cells(run, visits_file, tmp_path, epsilon):
    options = ("--cells", "3x2", "--no-remap", "-o", "t.csv", "--figure", "t.png")
    done = run("compare", visits_file, "--epsilons", epsilon, *options)
    assert done.code == 0, done.err
    for each in ("0.5/km", "1/km"):
        assert f"Mechanisms at equal epsilon {each}" in done.text
        assert f"Proved: no mechanism of epsilon {each}, with these reports, loses less than" in done.text
        assert f"optimum at epsilon {each}: loses at most" in done.err
    with open(tmp_path / "t.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["epsilon"]) for row in rows if row["name"] == "optimum"] == [0.5, 1.0]
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


def test_a_mechanism_that_fails_is_named_and_ends_in_code_3(run, visits_file, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise InputError("the optimum broke.", "report this.")

    monkeypatch.setattr(priors, "design", broken)
    done = run("compare", visits_file, "--cells", "4x3", "--epsilons", "1/km", "-o", "t.csv")
    assert done.code == 3
    assert "optimum (failed) -" in done.text
    assert "optimum is skipped: the optimum broke." in done.text
    assert "--time-limit" not in done.text
    assert "inf" not in (tmp_path / "t.csv").read_text().replace("infeasible", "").replace("information", "")


@pytest.mark.slow
def test_a_page_says_what_the_terminal_says(run, visits_file, tmp_path):
    done = run("compare", visits_file, "--cells", "3x2", "--epsilons", "1/km", "-o", "t.html")
    assert done.code == 0, done.err
    page = html.unescape((tmp_path / "t.html").read_text())
    said = " ".join(done.text.split())
    cells = re.findall(r"<td[^>]*>(.*?)</td>", page)
    assert len(cells) == 6 * page.count('<th scope="row">')
    assert all(cell in said for cell in cells)
    words = page[page.index(">In words<") :]
    sentences = re.findall(r"<p>(.*?)</p>", words[: words.index("</section>")])
    assert sentences
    assert all(sentence in said for sentence in sentences)
    assert page.count("<svg") == 2  # one is for narrow screens
    assert "<script" not in page


def test_the_page_of_what_there_is_no_time_for_warns(run, visits_file, tmp_path):
    done = run("compare", visits_file, "--time-limit", "0.000001", "-o", "p.html")
    assert done.code == 3, done.err
    page = (tmp_path / "p.html").read_text()
    assert "NOT FINISHED: there was not time for everything." in page
    assert "not reached in the time" in page
    refused = run("compare", visits_file, "-o", "p.txt")
    assert refused.code == 1
    assert "does not end in .csv or .html" in refused.err


@pytest.mark.slow
def test_points_at_one_epsilon(run, visits_file, tmp_path):
    quick = ("--spacing", "2 km", "--bound-time", "5", "-o", "p.csv", "--figure", "p.png")
    done = run("compare", visits_file, "--epsilons", "0.5/km, 1/km", *quick)
    assert done.code == 0, done.err
    assert done.text.count("program, spline") == 2
    assert "epsilon 0.5/km" in done.text
    assert done.text.count("Proved: no mechanism that keeps epsilon") == 2
    for epsilon in ("0.5/km", "1/km"):
        assert f"Cells made for epsilon {epsilon} guarantee it between their middles only:" in done.text
        assert f"program, spline at epsilon {epsilon} loses at most" in done.err
        assert f"any mechanism at epsilon {epsilon} loses at least" in done.err
    assert "as probable from one of two points a metre apart as from the other" in done.text
    assert "for planar Laplace and" in done.text
    assert (
        (tmp_path / "p.csv")
        .read_text()
        .startswith("name,epsilon,epsilon_upper,slack_m,loss_lower,loss,loss_upper")
    )
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    cells = next(line for line in done.out.splitlines() if line.strip().startswith("cells"))
    assert " none " in cells


def test_what_there_is_no_time_for_is_named(run, visits_file, tmp_path):
    done = run("compare", visits_file, "--time-limit", "0.000001", "-o", "p.csv")
    assert done.code == 3, done.err
    for name in ("program, spline", "program, hat", "planar Laplace + remap", "planar Laplace", "cells"):
        assert f"{name} (not reached in the time) -" in done.text
    assert "--time-limit and --bound-time give more time." in done.text
    assert (tmp_path / "p.csv").read_text().count("not reached in the time") == 6
    done = run("compare", visits_file, "--cells", "4x3", "--time-limit", "0.000001")
    assert done.code == 3, done.err
    assert "optimum was not reached in the time." in done.text
    assert "--time-limit gives more time." in done.text
    done = run("compare", visits_file, "--max-loss", "1 km", "--cells", "4x3", "--time-limit", "0.000001")
    assert done.code == 3, done.err


@pytest.mark.slow
def test_points_at_one_loss(run, visits_file):
    done = run("compare", visits_file, "--max-loss", "1 km", "--spacing", "1500 m", "--bound-time", "0")
    assert done.code == 0, done.err
    assert "equal loss of the true point, 1 km" in done.text
    assert "Proved" not in done.text
    assert "above the bound" not in done.text


@pytest.mark.slow
def test_the_bound_of_a_loss_is_an_epsilon_that_it_needs(run, visits_file):
    done = run("compare", visits_file, "--max-loss", "1 km", "--spacing", "2 km", "--bound-time", "2")
    assert done.code == 0, done.err
    (needed,) = re.findall(r"So a loss of 1 km needs an epsilon above ([\d.]+)/km", done.text)
    assert f"Proved: no mechanism that keeps epsilon {needed}/km" in done.text
    epsilons = [float(each) for each in re.findall(r"epsilon ([\d.]+)/km loses at most", done.err)]
    cells = float(re.findall(r"cells at epsilon ([\d.]+)/km", done.err)[0])
    assert float(needed) < min(set(epsilons) - {cells})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--metric", "manhattan"), "is for cells"),
        (("--smoothing", "1"), "is for cells"),
        (("--no-remap",), "is for cells"),
        (("--dummies", "2"), "is for cells"),
        (("--cells", "4x3", "--spacing", "1 km"), "--spacing was given with cells"),
        (("--cells", "4x3", "--bound-time", "9"), "--bound-time was given with cells"),
        (("--cells", "4x3", "--time-limit", "-1"), "--time-limit"),
        (("--time-limit", "nan"), "--time-limit"),
        (("--epsilons", ","), "holds no epsilon"),
        (("--epsilons", "1/km, x"), "x"),
        (("--bound-time", "-1"), "--bound-time"),
        (("--time-limit", "0"), "--time-limit"),
        (("--spacing", "0 m"), "not positive"),
    ],
)
def test_options_for_the_other_kind_are_refused(run, visits_file, options, words):
    done = run("compare", visits_file, *options)
    assert done.code == 1
    assert words in done.err


def test_refusals(run, visits_file):
    assert "both --epsilons and --max-loss" in run("compare", "--epsilons", "1/km", "--max-loss", "1 km").err
    assert "does not end in .png" in run("compare", "--figure", "t.jpg").err
    assert run("compare", "nowhere.csv").code == 1
    done = run("compare", visits_file, "--cells", "4x3", "--max-loss", "90 km")
    assert done.code == 1
    assert "always reporting the same place loses" in done.err
