"""Numbers on a circle, such as hours: what the studio computes and says, against distances from the definition."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.files import read_mechanism_file
from sfumato_studio.domains import ValuesDomain, domain_of
from sfumato_studio.examples import example_data
from sfumato_studio.measures import level_sentences

from .conftest import optimized

HOURS = {23: 30, 0: 25, 1: 15, 3: 4, 8: 6, 12: 10, 24: 5, 22: 5}
WAY = ", the shorter way around the circle"
SITE = {"kind": "values", "column": "hour"}


def table(counts):
    lines = [str(hour) for hour, count in counts.items() for _ in range(count)]
    return "\n".join(["hour", *lines]).encode()


def around(first, n, period):
    """Return distances around a circle, from the angles."""
    angles = 2 * np.pi * np.arange(first, first + n) / period
    return np.arccos(np.clip(np.cos(angles[:, None] - angles), -1, 1)) * period / (2 * np.pi)


@pytest.fixture(scope="module")
def hours(cities):
    """A visitor whose hours are on a circle, with a few optimized levels; epsilon counts per hour."""
    found = cities()
    found.upload("hours.csv", table(HOURS))
    found.put("/site", SITE | {"circular": 24, "epsilon_per_unit": True})
    return optimized(found, 2)


@pytest.fixture(scope="module")
def columns(cities):
    """A visitor whose table has hours from 0 to 24 and colours."""
    found = cities()
    rows = [f"{hour},{'red' if hour % 2 else 'blue'}" for hour in range(25)]
    found.upload("hours.csv", "\n".join(["hour,colour", *rows]).encode())
    return found


def held_in(visitor, design):
    return read_mechanism_file(visitor.studio.folder / "workspaces" / visitor.id / "designs" / f"{design}.sfm")


@pytest.mark.slow
def test_midnight_and_the_hour_before_are_neighbours(hours):
    site = hours.get()["site"]
    assert site["circular"] == 24
    assert site["epsilon_per_unit"] is True
    assert site["labels"] == [str(hour) for hour in range(24)]  # 24 is 0 again
    assert "The numbers are on a circle of 24: 23 and 0 are 1 apart." in site["sentences"]
    counts = [each["count"] for each in hours.get("/values")["values"]]
    assert counts == [30, 15, 0, 4, 0, 0, 0, 0, 6, 0, 0, 0, 10, *[0] * 9, 5, 30]


def test_losses_and_promises_go_the_shorter_way_around(hours):
    apart = around(0, 24, 24)
    for point in hours.levels()["levels"]:
        held = held_in(hours, point["design"])
        matrix, shares = held.mechanism.matrix, held.prior.probabilities
        positions = [int(label) for label in held.mechanism.observables.labels]
        loss = float((shares[:, None] * matrix * apart[:, positions]).sum())
        assert loss == pytest.approx(point["loss"]["value"], rel=1e-6)
        guesses = (shares[:, None, None] * matrix[:, :, None] * apart[:, None, :]).sum(axis=0).min(axis=1)
        assert point["error"]["value"] == pytest.approx(guesses.sum(), rel=1e-6)
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.abs(np.log(matrix[:, None, :] / matrix[None, :, :]))
        odds[np.isnan(odds)] = 0
        ratios = odds.max(axis=2)[apart > 0] / apart[apart > 0]
        assert ratios.max() <= point["epsilon"] * (1 + 1e-6)
        for said in (point["loss"]["sentence"], point["error"]["sentence"]):
            assert WAY in said
        preview = hours.get("/preview", design=point["design"], at=23)
        assert preview["here"]["mean_loss"] == pytest.approx(float(matrix[23] @ apart[23, positions]), rel=1e-4)
        assert WAY in preview["here"]["sentence"]
        assert "thought two values 1 apart equally likely" in preview["shown"]["headline"]
        assert "Distances are counted on a circle of 24, the shorter way around." in preview["shown"]["sentences"]


def test_walks_shares_and_searches_count_around_the_circle(hours):
    level = 0
    walk = hours.post("/walk", {"level": level, "path": [{"at": 23}, {"at": 0}, {"at": 1}]})
    assert f"at most 1 apart{WAY}, and" in walk["sentence"]
    for step in walk["steps"]:
        off = abs(step["guess"] - step["truth"])
        assert step["off"] == pytest.approx(min(off, 24 - off))
    share = hours.post("/share", {"level": level, "at": 23, "times": 200})
    away = [min(abs(at - 23), 24 - abs(at - 23)) for at in share["reports"]]
    assert share["mean_loss"] == pytest.approx(np.mean(away))
    assert share["mean_loss"] <= 12
    assert WAY in share["sentence"]


def test_the_files_of_a_design_hold_the_circle(hours):
    design = hours.levels()["levels"][-1]["design"]
    space = held_in(hours, design).mechanism.secrets
    assert space == sf.NumberBins(0, 1, 24, period=24)
    script = hours.download("script.py", design=design).text
    assert "space = sf.NumberBins(0, 1, 24, period=24)\n" in script


@pytest.mark.slow
def test_reports_and_comparisons_say_so(hours):
    point = hours.levels()["levels"][3]
    report = hours.download("report.html", design=point["design"]).text
    assert "numbers on a circle of 24" in report
    ended = hours.ended(hours.post("/compare", {"design": point["design"]}, 202))
    assert ended["status"] == "done", ended["error"]
    assert f"{WAY}. At the same loss" in ended["result"]["sentence"]
    names = {each["name"]: each for each in ended["result"]["rows"]}
    assert "geometric" not in names  # its noise is on a line
    assert names["optimum"]["epsilon"] <= point["epsilon"] * 1.01


@pytest.mark.slow
def test_a_range_goes_on_over_midnight(visitor):
    visitor.upload("hours.csv", table(HOURS))
    site = visitor.put("/site", SITE | {"circular": 24, "first": 20, "last": 27})["site"]
    assert "27 and 20 are 7 apart, and 27 stands for 3, too." in site["sentences"][-1]
    counts = {each["label"]: each["count"] for each in visitor.get("/values")["values"]}
    assert counts == {"20": 0, "21": 0, "22": 5, "23": 30, "24": 30, "25": 15, "26": 0, "27": 4}
    again = visitor.put("/site", SITE | {"circular": 24, "first": 20, "last": 3})["site"]
    assert again["labels"] == site["labels"]
    site = visitor.put("/site", SITE | {"circular": 24, "first": 22})["site"]
    assert (site["labels"][0], site["labels"][-1], site["n"]) == ("22", "36", 15)  # 12 is the last hour after 22


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("options", "field", "message", "hint"),
    [
        ({"circular": 24, "last": 24}, "circular", "The range 0 to 24 goes more than once", "End it at 23,"),
        (
            {"circular": 12},
            "circular",
            "The range 0 to 24 goes more than once around a circle of 12",
            "End it at 11,",
        ),
        ({"circular": 24, "column": "colour"}, "circular", "'colour' holds no whole numbers", "the circle"),
        ({"circular": 1}, "values.circular", "greater than or equal to 2", ""),
        ({"circular": 24.5}, "values.circular", "valid integer", ""),
        ({"circular": 10**6}, "values.circular", "less than or equal to 10000", ""),
    ],
)
def test_circles_that_make_no_sense_are_refused(columns, options, field, message, hint):
    before = columns.put("/site", SITE)["site"]
    error = columns.put("/site", SITE | options, 422)
    assert error["field"] == field
    assert message in error["message"]
    assert hint in error["hint"]
    assert columns.get()["site"] == before


def test_other_answers_are_left_out_and_counted(tmp_path):
    days = {str(day): 3 for day in range(1, 8)} | {"unknown": 2}
    data = example_data("ages") | {"tables": {"day": days}, "rows": 23}
    domain = domain_of(data, {"kind": "values", "circular": 7}, tmp_path)
    assert domain.answer()["sentences"][-1].endswith("7 and 1 are 1 apart, and 7 stands for 0, too.")
    assert "those with a whole number from 1 to 7 on a circle of 7 in the column 'day'" in domain.source
    assert domain.source.startswith("21 of 23 rows")


@pytest.mark.parametrize(
    ("first", "count", "period"), [(0, 24, 24), (1, 7, 7), (6, 18, 24), (20, 8, 24), (-18, 36, 36)]
)
def test_distances_are_those_of_a_circle(first, count, period):
    counts = {str(first + k): 1 + k % 3 for k in range(count)}
    domain = ValuesDomain("x", counts, first, per_unit=True, source="x", period=period)
    np.testing.assert_allclose(domain.metric.array, around(first, count, period), atol=1e-6)
    np.testing.assert_array_equal(domain.apart.array, domain.metric.array)
    line = ValuesDomain("x", counts, first, per_unit=True, source="x")
    facts = {"proved": 0.5, "finished": True, "loss": [0.0, 0.0, 0.0]}
    assert f"on a circle of {period}, the shorter way around." in " ".join(level_sentences(domain, facts))
    assert "circle" not in " ".join(level_sentences(line, facts))


@pytest.mark.parametrize("circular", [None, 24])
def test_numbers_with_leading_zeros_are_the_same_numbers(tmp_path, circular):
    data = example_data("ages") | {"tables": {"hour": {"07": 3, "7": 2, "08": 1}}, "rows": 6}
    domain = domain_of(data, {"kind": "values", "circular": circular}, tmp_path)
    assert isinstance(domain, ValuesDomain)
    assert dict(zip(domain.labels, domain.counts, strict=True)) == {"7": 5, "8": 1}
