"""Colours that people tell apart: contrast by WCAG's formula, and distances as colour-blind people see them."""

import itertools

import numpy as np
import pytest

from sfumato.reports import DARK, LIGHT

# Machado, Oliveira and Fernandes (2009), severity 1: linear RGB as protanopes, deuteranopes and tritanopes see it.
SEEN = {
    "all": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
)
THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def linear(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(colour, sight):
    xyz = XYZ @ np.clip(np.asarray(SEEN[sight]) @ linear(colour), 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one, other):
    low, high = sorted(XYZ[1] @ linear(each) + 0.05 for each in (one, other))
    return high / low


@THEMES
def test_text_is_readable(theme):
    for back in (theme.paper, theme.land, theme.water):
        assert contrast(theme.ink, back) >= 4.5
    assert contrast(theme.muted, theme.paper) >= 4.5


@THEMES
def test_lines_stand_out_from_the_paper(theme):
    assert all(contrast(colour, theme.paper) >= 3 for colour in theme.series)


@THEMES
@pytest.mark.parametrize(
    ("sight", "least"), [("all", 25), ("protanopia", 25), ("deuteranopia", 25), ("tritanopia", 15)]
)
def test_no_two_lines_look_alike(theme, sight, least):
    # Two patches that differ by 2.3 in CIE 1976 Lab are just told apart side by side.
    seen = [lab(colour, sight) for colour in theme.series]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) >= least


def test_the_measure_knows_a_pair_that_colour_blind_people_mix_up():
    red, green = (lab(colour, "deuteranopia") for colour in ("#d62728", "#7f7f00"))
    assert np.linalg.norm(red - green) < 25 < np.linalg.norm(lab("#d62728", "all") - lab("#7f7f00", "all"))
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_every_colour_of_one_theme_has_one_counterpart_in_the_other():
    assert LIGHT.colours.keys() == DARK.colours.keys()
    for theme in (LIGHT, DARK):
        assert len(theme.series) == 8
        assert len(set(theme.colours.values())) == len(theme.colours)
