"""Specifications in words: ranges, regions, quantities, limits, requirements; and whole command lines."""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random

import sfumato as sf
from sfumato.audits import Requirement
from sfumato.cli import main
from sfumato.cli.column_options import column_of
from sfumato.core import NumberBins, units
from sfumato.geo import Region
from sfumato.ledgers import Ledger

from ..mutations import changed_text
from ..reader import Case, Reader

_WORDS = (
    *(
        "0",
        "1",
        "9",
        "99",
        "1e3",
        "1e400",
        "-",
        "+",
        ".",
        "..",
        ":",
        ",",
        "/",
        "per ",
        " ",
        "km",
        "m",
        "x",
        "×",
        "around",
    ),
    *(
        "nan",
        "inf",
        "٣",
        "½",
        "\u2212",
        "e",
        "E",
        "_",
        "(",
        ")",
        "=",
        "<=",
        ">=",
        "<",
        "%",
        "\n",
        "\x00",
        "é",
        "day",
        "week",
    ),
    *(
        "epsilon",
        "delta",
        "order",
        "every",
        "9" * 30,
        "0" * 30 + "1",
        "1" * 5000,
        "\ud800",
        "[",
        "(" * 300,
        "a" * 2000,
    ),
)
_NUMBERS = ("18..99:5", "0..9", "-5..5:2", "0..1000000:100000")
_REGIONS = ("4 km x 4 km around 48.85,2.35", "48.82,2.28,48.88,2.39", "8 x 6 km around -33.9,151.2")
_AMOUNTS = ("0.5/km", "1 per km", "2", "1e-3/m")
_LENGTHS = ("200 m", "1.5 km", "3 mi", "10 ft")
_LIMITS = ("5/km per day", "20/km per week", "100/km", "2")
_REQUIRED = (
    "epsilon <= 0.7/km",
    "epsilon(delta=1e-6) <= 1",
    "renyi-privacy(order=8) <= 1",
    "error >= 500 m",
    "leakage <= 5 %",
)


class Words(Reader):
    """Texts that options and arguments take, with what they must mean by another reading."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.kinds: dict[str, tuple[tuple[str, ...], Callable[[str], None]]] = {
            "numbers": (_NUMBERS, _numbers),
            "region": (_REGIONS, _region),
            "amount": (_AMOUNTS, lambda text: _quantity(text, per=True)),
            "length": (_LENGTHS, lambda text: _quantity(text, per=False)),
            "limit": (_LIMITS, self._limit),
            "requirement": (_REQUIRED, _requirement),
            "labels": (("a,b,c", "flu, cold, none"), _labels),
            "epsilon": (_AMOUNTS, _epsilon),
        }

    def case(self, rng: Random) -> Case:
        kind = rng.choice(sorted(self.kinds))
        text = changed_text(rng, rng.choice(self.kinds[kind][0]), _WORDS)
        return {kind: text.encode("utf-8", "surrogatepass")}

    def read(self, folder: Path) -> None:
        path = next(folder.iterdir())
        self.kinds[path.name][1](path.read_bytes().decode("utf-8", "surrogatepass"))

    def _limit(self, text: str) -> None:
        path = self.folder / "limits.db"
        path.unlink(missing_ok=True)
        try:
            with contextlib.closing(Ledger.create(path, text)) as ledger:
                found = re.fullmatch(r"(.+?)( per (?:day|week))?", ledger.limits[0])
                assert found is not None
                amount = Fraction(found[1].partition("/")[0])
                assert amount > 0
                stated = re.match(r"\s*\+?([\d.]+(?:[eE][-+]?\d+)?)", text)
                assert stated is not None
                assert math.isclose(amount, float(stated[1]), rel_tol=1e-12)
        finally:
            for ending in ("", "-wal", "-shm"):
                Path(f"{path}{ending}").unlink(missing_ok=True)


class Commands(Reader):
    """Command lines, one of whose words was changed: each ends with a code and without a traceback."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        sf.save(sf.mechanisms.randomised_response(sf.Space("abc"), 1.0), folder / "m.sfm")
        (folder / "in.csv").write_text("answer,age\na,19\nb,40\nc,77\na,20\n")
        self.lines = (
            ("design-column", "--column", "answer", "--labels", "a,b,c", "--epsilon", "1", "--output", "d.sfm"),
            (
                "design-column",
                "--column",
                "age",
                "--numbers",
                "18..99:20",
                "--epsilon",
                "0.1/year",
                "--output",
                "d.sfm",
            ),
            (
                "design",
                "--cells",
                "3x2",
                "--region",
                "4 km x 4 km around 48.85,2.35",
                "--epsilon",
                "1/km",
                "-o",
                "d.sfm",
            ),
            ("audit", "m.sfm", "--require", "epsilon <= 1.5", "--measure", "renyi-privacy(order=8)"),
            ("audit", "m.sfm", "--require", "delta(epsilon=0.5) <= 0.3", "--delta-at", "0.5"),
            ("release", "m.sfm", "in.csv", "out.csv", "--column", "answer", "--again"),
            ("accuracy", "m.sfm", "--answers", "1000"),
            ("ledger", "create", "l.db", "--budget", "5/km per day"),
        )
        self.inputs = {path.name: path.read_bytes() for path in folder.iterdir()}

    def case(self, rng: Random) -> Case:
        words = list(rng.choice(self.lines))
        place = rng.randrange(1, len(words))
        kind = rng.randrange(8)
        if kind == 0:
            del words[place]
        elif kind == 1:
            words.insert(place, rng.choice(rng.choice(self.lines)))
        else:
            values = [
                k
                for k in range(1, len(words))
                if not words[k].startswith("-") and not words[k].endswith((".db", ".sfm", ".csv"))
            ]
            place = rng.choice(values or [place])
            words[place] = changed_text(rng, words[place], _WORDS)
        # A file of this machine is no input, and no argument holds NUL.
        words = [word.replace("\x00", "").replace("..", "..") for word in words if not word.startswith("/")]
        return {**self.inputs, "words": "\x1e".join(words).encode("utf-8", "surrogatepass")}

    def read(self, folder: Path) -> None:
        words = (folder / "words").read_bytes().decode("utf-8", "surrogatepass").split("\x1e")
        said, here, arguments = io.StringIO(), os.getcwd(), sys.argv
        code: object = 0
        os.chdir(folder)
        sys.argv = ["sfumato", *words]
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                main()
        except SystemExit as ended:
            code = ended.code
        finally:
            os.chdir(here)
            sys.argv = arguments
        assert code in (None, 0, 1, 2, 3), f"the code is {code}"
        text = said.getvalue()
        assert "Traceback" not in text
        assert code not in (1, 2) or text.strip(), "it fails and says nothing"
        if code in (None, 0) and words[:1] in (["design"], ["design-column"]) and (folder / "d.sfm").exists():
            sf.read_mechanism_file(folder / "d.sfm")


def _numbers(text: str) -> None:
    space = column_of(None, "x", None, text).space
    assert isinstance(space, NumberBins)
    first, last, width = re.fullmatch(r"\s*(.+?)\s*\.\.\s*(.+?)\s*(?::\s*(\d+))?\s*", text).groups()  # type: ignore[union-attr]
    step = int(width or 1)
    assert (space.first, space.width) == (int(first), step)
    assert space.first + step * (len(space) - 1) <= int(last) < space.first + step * len(space)
    assert space.positions_of([int(first), int(last)]).tolist() == [0, len(space) - 1]


def _region(text: str) -> None:
    region = Region.parse(text)
    assert -90 <= region.south < region.north <= 90 or region.south == region.north
    assert -180 <= region.west <= region.east <= 180
    if "around" in text:
        lat, lon = (float(part) for part in text.rpartition("around")[2].split(","))
        assert region.south <= lat <= region.north
        assert region.west <= lon <= region.east
    else:
        stated = [float(part.strip()) for part in text.split(",")]
        assert [region.south, region.west, region.north, region.east] == stated


def _quantity(text: str, *, per: bool) -> None:
    value = units.parse(text, per=per, unit="m", subject="it")
    assert math.isfinite(value)
    stated = re.match(r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*(?:/|per\s)?\s*([A-Za-z]*)", text)
    assert stated is not None
    metres = {"m": 1, "km": 1000, "mi": 1609.344, "ft": 0.3048, "mm": 0.001, "cm": 0.01, "yd": 0.9144, "nmi": 1852}
    scale = metres[units.canonical(stated[2])]
    assert math.isclose(value, float(stated[1]) / scale if per else float(stated[1]) * scale, rel_tol=1e-12)


def _requirement(text: str) -> None:
    found = Requirement.parse(text)
    assert found.bound in text
    assert found.at_most == ("<=" in text or "≤" in text)


def _labels(text: str) -> None:
    if "," not in text and os.path.exists(text):
        return
    labels = column_of(None, "x", text, None).space.labels
    if '"' not in text and text.splitlines() == [text]:  # quotes may hold commas
        assert list(labels) == [part.strip() for part in text.split(",")]


def _epsilon(text: str) -> None:
    metric = sf.hamming(sf.Space("ab"))
    if "/" not in text and "per" not in text:
        assert sf.MetricPrivacy(text, metric).epsilon > 0
    else:
        space = sf.Space("ab", [[0.0], [1.0]], "km")
        assert sf.MetricPrivacy(text, space.metric("euclidean")).epsilon > 0
