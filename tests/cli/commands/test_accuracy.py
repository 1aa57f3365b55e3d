"""``sfumato accuracy``: the number that is missing, in words."""

import re

import pytest

import sfumato as sf


@pytest.mark.slow
def test_each_of_three_numbers_is_found_from_the_others(run):
    done = run("accuracy", "--categories", 8, "--epsilon", 1, "--answers", 10_000)
    assert done.code == 0, done.err
    told = re.search(r"each of 8 shares is known to within ([\d.]+) points, all at once \(95 %", done.text)
    assert told is not None
    margin = sf.accuracy(8, epsilon=1, answers=10_000).margin
    assert 100 * margin <= float(told[1]) < 100 * margin + 0.1
    done = run("accuracy", "--categories", 8, "--epsilon", 1, "--margin", "1.2 points")
    answers = sf.accuracy(8, epsilon=1, margin=0.012).answers
    assert f"With {answers:,} answers" in done.text
    assert "to within 1.2 points" in done.text
    done = run("accuracy", "--categories", 8, "--answers", 100_000, "--margin", "1.2%", "--failure", 0.01)
    assert "99 %" in done.text
    assert "at epsilon 1.6" in done.text


def test_unary_encoding_is_planned_by_its_name(run):
    done = run(
        "accuracy", "--categories", 64, "--epsilon", 1, "--answers", 20_000, "--mechanism", "optimised-unary"
    )
    assert done.code == 0, done.err
    assert "from answers by optimised unary encoding" in done.text
    margin = sf.accuracy(64, epsilon=1, answers=20_000, by="optimised-unary").margin
    told = re.search(r"known to within ([\d.]+) points, all at once", done.text)
    assert told is not None
    assert 100 * margin <= float(told[1]) < 100 * margin + 0.1


@pytest.mark.parametrize("margin", ["1.2", "0.012", "x", "0 points", "100 points", "-1 points", "nan points", ""])
def test_a_margin_is_in_points(run, margin):
    done = run("accuracy", "--categories", 8, "--epsilon", 1, f"--margin={margin}")
    assert done.code == 1
    assert "1.2 points" in done.err


def test_one_number_too_few_is_said_in_options(run):
    done = run("accuracy", "--categories", 8, "--epsilon", 1)
    assert done.code == 1
    assert "two of --epsilon, --answers and --margin are needed" in done.err.replace("\n", " ")


def test_noise_on_whole_numbers(run):
    done = run("accuracy", "--sensitivity", 10, "--epsilon", 0.1)
    assert done.code == 0, done.err
    off_by = sf.noise_accuracy(epsilon="1/10", sensitivity=10).off_by
    assert f"a report is off by at most {off_by}." in done.text
    done = run("accuracy", "--sensitivity", 1, "--off-by", 6, "--failure", 0.01)
    told = re.search(r"epsilon ([\d.]+) for true numbers", done.text)
    assert told is not None
    assert sf.noise_accuracy(epsilon=told[1], failure=0.01).off_by == 6
    assert "A smaller epsilon would not do." in done.text


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "neither --categories nor --sensitivity was given"),
        (("--categories", 3, "--sensitivity", 1), "both --categories and --sensitivity were given"),
        (("--sensitivity", 1), "neither --epsilon nor --off-by was given"),
        (("--sensitivity", 1, "--epsilon", 1, "--off-by", 1), "both --epsilon and --off-by were given"),
        (("--sensitivity", 1, "--epsilon", 1, "--answers", 1), "--answers was given with --sensitivity"),
        (("--categories", 3, "--epsilon", 1, "--off-by", 1), "--off-by was given without --sensitivity"),
        (
            ("--sensitivity", 1, "--epsilon", 1, "--mechanism", "optimised-unary"),
            "--mechanism was given with --sensitivity",
        ),
        (("--sensitivity", 1, "--epsilon", "nan"), "epsilon"),
        (("--sensitivity", 1, "--off-by", -1), "--off-by -1"),
    ],
)
def test_options_that_do_not_fit(run, options, told):
    done = run("accuracy", *options)
    assert done.code == 1
    assert told in " ".join(done.err.split())


def test_the_names_of_the_literature_are_taken(run):
    options = ("accuracy", "--categories", 64, "--epsilon", 1, "--answers", 10_000)
    assert run(*options, "--mechanism", "OUE").out == run(*options, "--mechanism", "optimised-unary").out
    refused = run(*options, "--mechanism", "olh")
    assert refused.code == 1
    assert "optimised-unary (OUE)" in refused.err
