"""Mechanism files by a formula from the command line: their matrices and guarantees, and what is refused."""

import math
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.mechanisms import exponential, geometric
from sfumato.privacy import DifferentialPrivacy, Relation

REGION = ("--region", "4 km x 3 km around 48.85,2.35")


def made(run, *arguments):
    done = run("mechanism", *arguments, "-o", "m.sfm")
    assert done.code == 0, done.err
    assert "Written: m.sfm" in done.text
    assert run("audit", "m.sfm", "--promises").code == (0 if sf.read_mechanism_file("m.sfm").guarantees else 1)
    return sf.read_mechanism_file("m.sfm"), done.text


def test_randomised_response(run):
    file, text = made(run, "randomised-response", "--labels", "a,b,c", "--epsilon", "1")
    other = 1 / (math.e + 2)
    assert np.allclose(file.mechanism.matrix, other + (math.e - 1) * other * np.eye(3))
    assert file.mechanism.secrets.labels == ("a", "b", "c")
    assert "epsilon is at most 1." in text


@pytest.mark.parametrize("make", [geometric, lambda s, e: exponential(s, s.metric("absolute"), e)])
def test_numbers(run, make):
    name = "geometric" if make is geometric else "exponential"
    file, _ = made(run, name, "--numbers", "18..40", "--epsilon", "0.1/year")
    ages = sf.Space.numbers(range(18, 41), unit="year")
    assert np.array_equal(file.mechanism.matrix, make(ages, "0.1/year").matrix)
    assert str(file.guarantees[0]) == "epsilon 0.1/year, absolute"
    assert "Average difference" in run("audit", "m.sfm", "--promises").text


def test_a_pure_epsilon_is_for_any_two_numbers(run):
    file, _ = made(run, "exponential", "--numbers", "0..9", "--epsilon", "1")
    assert DifferentialPrivacy().measure(file.mechanism).upper <= 1


def test_staircase_noise(run):
    file, _ = made(run, "staircase", "--numbers", "0..20", "--epsilon", "1", "--sensitivity", "5")
    near = Relation.of_radius(file.mechanism.secrets.metric("absolute"), 5)
    assert 0.99 < DifferentialPrivacy(near).measure(file.mechanism).upper <= 1


def test_discrete_gaussian_noise(run):
    options = ("--numbers", "0..40", "--epsilon", "1", "--delta", "1e-6", "--sensitivity", "2")
    file, text = made(run, "discrete-gaussian", *options)
    assert "epsilon 1 with delta at most" in text
    near = Relation.of_radius(file.mechanism.secrets.metric("absolute"), 2)
    assert DifferentialPrivacy(near, 1.001e-6).measure(file.mechanism).upper <= 1
    assert not file.guarantees


@pytest.mark.parametrize("formula", ["planar-geometric", "exponential", "tight-constraints"])
def test_cells(run, formula):
    file, _ = made(run, formula, *REGION, "--cell", "1 km", "--epsilon", "2/km")
    assert len(file.mechanism.secrets) == 12
    assert str(file.guarantees[0]) == "epsilon 2/km, euclidean"


def test_noise_for_coordinates(run):
    file, text = made(run, "planar-noise", *REGION, "--epsilon", "1/km")
    assert file.noise.epsilon == 1
    assert file.noise.projection is not None
    assert round(file.noise.projection.lat, 2) == 48.85
    assert "epsilon is at most 1/km" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("nonsense --epsilon 1", "randomised-response"),
        ("randomised-response --epsilon 1", "--labels a,b,c"),
        ("randomised-response --epsilon x --labels a,b", "--epsilon"),
        ("randomised-response --epsilon -1 --labels a,b", "--epsilon"),
        ("randomised-response --epsilon 1 --labels a", "--labels"),
        ("randomised-response --epsilon 1 --labels a,b --cells 3x2", "--cells was given"),
        ("randomised-response --epsilon 1/year --numbers 0..9", "pure number"),
        ("geometric --epsilon 1 --numbers 0..9", "0.1/year"),
        ("geometric --epsilon 1/year --numbers 0..9:5", "0..9"),
        ("staircase --epsilon 1", "--numbers 0..20"),
        ("staircase --epsilon 1 --numbers 0..9:5", "width"),
        ("discrete-gaussian --epsilon 1 --numbers 0..9", "--delta 1e-6"),
        ("discrete-gaussian --epsilon 1 --numbers 0..9 --delta 2", "delta"),
        ("exponential --epsilon 1/km --cells 3x2", "--region"),
        ("planar-geometric --epsilon 1/km --cells 3x2 --region x", "--region"),
        ("planar-geometric --epsilon 1 --cells 3x2 --region 48,2,49,3", "--epsilon"),
        ("planar-noise --epsilon 1/km", "--region"),
        ("planar-noise --epsilon 1 --region 48,2,49,3", "--epsilon"),
        ("geometric --epsilon 1/year --numbers 0..9 -o m.txt", "m.sfm"),
    ],
)
def test_a_poor_request_is_explained(run, arguments, said):
    done = run("mechanism", *arguments.split())
    assert done.code == 1
    assert said in done.err
    assert not list(Path().iterdir())
