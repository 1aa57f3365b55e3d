"""One number has one precision in all that a command prints and writes."""

import html
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from itertools import permutations
from pathlib import Path

import pytest

SHARE = re.compile(r"(?<![\w.,-])()(\d+(?:\.\d+)?) %(?!\s+(?:confidence|is proved))")
PARAMETER = re.compile(r"\b(epsilon|delta|rho|eta|mu)(?: is at most| is at least)? +(\d+\.\d+(?:e-?\d+)?)")
BITS = re.compile(r"\b()(\d+\.\d+) bits")
LENGTH = re.compile(r"(?<![\w.,-])()(\d+(?:\.\d+)?) m\b")
ROUNDINGS = (ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN)

DESIGNS = {
    "cells": ("design", "city", "--cells", "4x3", "--epsilon", "2/km"),
    "points": ("design", "city", "--spacing", "1.5 km", "--epsilon", "1/km", "--method", "table"),
    "categories": ("design-column", "answers.csv", "--column", "answer", "--epsilon", "3", "--prior", "data"),
    "ranges": ("design-column", "ages.csv", "--column", "age", "--numbers", "20..60:5", "--epsilon", "1"),
}


def text_of(page: str) -> str:
    """The words of a page, without drawings and titles of sources."""
    plain = re.sub(r"<(svg|style|script|head)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", plain))


def precisions(text: str, pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Pairs of numbers of one kind where the shorter is the longer one rounded."""
    seen = {(name, Decimal(number).normalize()) for name, number in pattern.findall(text)}
    pairs = []
    for (name, short), (other, long) in permutations(seen, 2):
        digits = len(short.as_tuple().digits)
        shorter = name == other and 2 <= digits < len(long.as_tuple().digits)
        if shorter and any(Context(prec=digits, rounding=each).plus(long) == short for each in ROUNDINGS):
            pairs.append((str(short), str(long)))
    return pairs


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind in ("points", "ranges"))) for kind in DESIGNS]
)
def test_no_number_has_two_precisions(run, monkeypatch, kind):
    monkeypatch.setenv("COLUMNS", "400")
    Path("answers.csv").write_text("answer\n" + "yes\n" * 7 + "no\n" * 81 + "maybe\n" * 12)
    Path("ages.csv").write_text("age\n" + "\n".join(str(20 + k * k % 41) for k in range(200)))
    design = run(*DESIGNS[kind], "-o", "m.sfm", "--report", "m.html", "--frontier-time", "0", "--no-picture")
    assert design.code == 0, design.err
    page, words = (Path(f"m.{suffix}").read_text(encoding="utf-8") for suffix in ("html", "md"))
    audit, attack = run("audit", "m.sfm", "--require", "epsilon <= 5").out, run("attack", "m.sfm").out
    for text in (design.out, text_of(page), words, audit, attack):
        for pattern in (SHARE, PARAMETER, BITS, LENGTH):
            assert not precisions(text, pattern)


def test_comparisons_have_one_precision(run):
    done = run("compare", "city", "--cells", "3x2", "--epsilons", "1/km")
    assert done.code == 0, done.err
    for pattern in (SHARE, BITS):
        assert not precisions(done.out, pattern)
