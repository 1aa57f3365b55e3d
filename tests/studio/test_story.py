"""The visitor's story, on the invented city and on ages: each number by another route."""

import json
import re
import subprocess
import sys
import time

import numpy as np
import pytest

import sfumato as sf
from sfumato.files import read_mechanism_file
from sfumato_studio.examples import example_data
from sfumato_studio.grounds import PlacesGround, ground_of

from .conftest import DESIGNS, designed, soon


def rows_of(visitor, design):
    path = visitor.studio.folder / "workspaces" / visitor.id / "designs" / f"{design}.sfm"
    return read_mechanism_file(path)


@pytest.fixture(params=["city", "ages"])
def anyone(request, city, ages):
    return {"city": city, "ages": ages}[request.param]


def test_the_frontier_is_what_its_files_say(anyone):
    points = anyone.get("/frontier")["points"]
    assert len(points) >= DESIGNS
    assert anyone.get()["frontier"]["total"] == 12
    epsilons = [point["epsilon"] for point in points]
    assert epsilons == sorted(epsilons)
    for point in points[::5]:
        held = rows_of(anyone, point["design"])
        loss = held.mechanism.expected_loss(held.prior, held.loss)
        assert loss <= point["loss"]["upper"] <= loss * (1 + 1e-6)
        assert point["loss"]["lower"] <= loss
        assert point["gap"] <= 5e-3


def test_between_two_designs_the_numbers_are_those_of_their_mixture(anyone):
    points = anyone.get("/frontier")["points"]
    low, high = points[-2:]
    epsilon = (low["epsilon"] * high["epsilon"]) ** 0.5
    often = rows_of(anyone, high["design"])
    report = int(np.argmax(often.prior.probabilities @ often.mechanism.matrix))
    found = anyone.get("/preview", epsilon=epsilon, at=3, report=report)
    assert found["status"] == "interpolated"
    assert found["between"] == [low["epsilon"], high["epsilon"]]
    assert found["loss"]["upper"] == pytest.approx((low["loss"]["upper"] + high["loss"]["upper"]) / 2, rel=1e-6)
    assert "larger" in found["sentences"][0]
    both = [rows_of(anyone, each["design"]) for each in (low, high)]
    matrix = (both[0].mechanism.matrix + both[1].mechanism.matrix) / 2
    np.testing.assert_allclose(found["here"]["reports"], matrix[3], atol=1e-5)
    seen = both[0].prior.probabilities * matrix[:, report]
    np.testing.assert_allclose(found["belief"]["after"], seen / seen.sum(), atol=1e-5)
    mixture = sf.Mechanism(matrix, both[0].mechanism.secrets, both[0].mechanism.observables)
    held = both[0]
    assert mixture.expected_loss(held.prior, held.loss) <= found["loss"]["upper"] * (1 + 1e-9)
    if anyone.get()["data"]["kind"] == "places":
        visits = sf.synthetic_city()
        region = anyone.get()["site"]["region"]
        inside = visits.inside(sf.Region(**region))
        attack = sf.attacks.true_place(mixture, inside, unit="m")
        assert attack.error.upper >= found["error"]["lower"]
        near = sf.attacks.chance_within(mixture, inside, 250.0)
        assert near.lower <= found["found"]["upper"]
    for contour in found["here"]["contours"]:
        assert matrix[3][contour["cells"]].sum() >= contour["share"] - 1e-6
        assert matrix[3][contour["cells"][:-1]].sum() < contour["share"] + 1e-6


def test_at_a_design_the_preview_is_certified(anyone):
    point = anyone.get("/frontier")["points"][3]
    by_epsilon = anyone.get("/preview", epsilon=point["epsilon"])
    by_design = anyone.get("/preview", design=point["design"])
    assert by_epsilon == by_design
    assert by_design["status"] == "certified"
    assert by_design["loss"] == point["loss"]


def test_a_design_no_more_useful_than_one_report_for_everybody_says_so(ages, cities):
    answers = cities()
    answers.upload("answers.csv", b"answer\n" + b"never\n" * 90 + b"once\n" * 6 + b"often\n" * 4, keep_as="answer")
    answers.put("/site", {"kind": "values"})
    seen = set()
    for visitor in (ages, designed(answers, DESIGNS)):
        for point in visitor.get("/frontier")["points"]:
            preview = visitor.get("/preview", design=point["design"])
            design = rows_of(visitor, point["design"])
            same = (design.prior.probabilities @ design.loss.array).min()
            useful = design.mechanism.expected_loss(design.prior, design.loss) < 0.995 * same
            assert preview["useful"] is bool(useful)
            assert ("are useless" in preview["sentences"][0]) is not useful
            seen.add(useful)
    assert seen == {True, False}


def test_a_preview_is_quick(city):
    city.get("/preview", epsilon=0.5, at=3)
    took = []
    for k in range(20):
        began = time.process_time()  # the studio runs in this process
        city.get("/preview", epsilon=0.3 + 0.01 * k, at=3)
        took.append(time.process_time() - began)
    assert min(took) < 0.05


def test_an_outcome_chooses_the_epsilon(anyone):
    points = anyone.get("/frontier")["points"]
    wanted = (points[2]["loss"]["upper"] + points[3]["loss"]["upper"]) / 2
    found = anyone.post("/choose", {"loss_at_most": wanted})
    assert found["possible"]
    assert points[0]["epsilon"] <= found["epsilon"] <= points[3]["epsilon"]
    assert found["preview"]["loss"]["upper"] <= wanted
    share = (points[-2]["found"]["upper"] + points[-1]["found"]["upper"]) / 2
    hits = anyone.post("/choose", {"found_at_most": share})
    assert hits["preview"]["found"]["upper"] <= share
    assert not anyone.post("/choose", {"loss_at_most": 1e-6})["possible"]
    assert not anyone.post("/choose", {"found_at_most": 0.0})["possible"]
    assert anyone.post("/choose", {}, 422)["field"] == "loss_at_most"
    anyone.post("/choose", {"loss_at_most": 1.0, "found_at_most": 0.5}, 422)


def test_shared_reports_are_drawn_from_the_row(anyone):
    design = anyone.get("/frontier")["points"][0]["design"]  # the noisiest
    found = anyone.post("/share", {"design": design, "at": 5, "times": 1000})
    row = rows_of(anyone, design).mechanism.matrix[5]
    counts = np.bincount(found["reports"], minlength=len(row))
    assert counts.sum() == 1000
    assert {each["at"]: each["count"] for each in found["counts"]} == {
        int(at): int(counts[at]) for at in np.flatnonzero(counts)
    }
    expected = 1000 * row
    # A thousand draws stay within seven deviations but once in 10**11.
    assert (np.abs(counts - expected) <= 7 * np.sqrt(expected) + 7).all()
    # A hundred draws come twice but once in 10**22: two single ones are equal with probability 0.6 at most.
    assert (row**2).sum() <= 0.6
    assert anyone.post("/share", {"design": design, "at": 5})["reports"] != found["reports"][:100]


def test_repetition_multiplies_likelihoods(anyone):
    design = anyone.get("/frontier")["points"][-1]["design"]
    held = rows_of(anyone, design)
    found = anyone.post("/walk", {"design": design, "path": [{"at": 5}], "repeat": 20})
    reports = [step["report"] for step in found["steps"]]
    log = np.log(held.prior.probabilities + 1e-300) + np.log(held.mechanism.matrix[:, reports] + 1e-300).sum(
        axis=1
    )
    belief = np.exp(log - log.max())
    belief /= belief.sum()
    np.testing.assert_allclose(found["steps"][-1]["belief"], belief, atol=1e-4)
    assert found["steps"][-1]["truth"] == 5
    assert "20 times" in found["sentence"]


def test_a_walk_is_followed_within_what_the_attacker_believes(anyone):
    n = anyone.get()["site"]["n"]
    path = [{"at": at} for at in range(min(6, n))]
    epsilon = anyone.get("/frontier")["points"][-1]["epsilon"]
    found = anyone.post("/walk", {"epsilon": epsilon, "path": path, "repeat": 2})
    assert [step["stop"] for step in found["steps"]] == [k // 2 for k in range(2 * len(path))]
    for step in found["steps"]:
        assert sum(step["belief"]) == pytest.approx(1, abs=1e-4)
    anyone.post("/walk", {"epsilon": epsilon, "path": []}, 422)
    anyone.post("/walk", {"epsilon": epsilon, "path": path * 16, "repeat": 100}, 422)
    anyone.post("/walk", {"epsilon": epsilon, "path": [{}]}, 422)


def test_an_attack_with_a_belief_of_ones_own(anyone):
    point = anyone.get("/frontier")["points"][-1]
    n = anyone.get()["site"]["n"]
    found = anyone.post("/attack", {"design": point["design"], "main": [{"at": 5, "weight": 0.6}]})
    assert found["mistaken"]["found"]["value"] <= found["expected"]["found"]["value"] + 1e-12
    same = anyone.post(
        "/attack",
        {"epsilon": point["epsilon"], "belief": rows_of(anyone, point["design"]).prior.probabilities.tolist()},
    )
    assert same["mistaken"]["found"]["value"] == pytest.approx(same["expected"]["found"]["value"])
    sure = anyone.post("/attack", {"design": point["design"], "main": [{"at": 5, "weight": 1.0}]})
    assert sure["right"]["found"]["value"] == pytest.approx(1)
    anyone.post("/attack", {"design": point["design"], "belief": [1.0] * (n + 1)}, 422)
    anyone.post("/attack", {"design": point["design"], "belief": [0.0] * n}, 422)
    anyone.post(
        "/attack", {"design": point["design"], "main": [{"at": 5, "weight": 0.6}, {"at": 6, "weight": 0.6}]}, 422
    )
    anyone.post("/attack", {"design": point["design"]}, 422)


def test_the_atlas_lights_up_as_epsilon_falls(anyone):
    def lit(epsilon):
        return {each["key"] for each in anyone.get("/atlas", epsilon=epsilon)["notions"] if each["lit"]}

    strong, weak = lit(1e-3), lit(20.0)
    assert weak < strong
    assert "differential-privacy" in strong - weak
    found = anyone.get("/atlas", epsilon=1.0)
    keys = {each["key"] for each in found["notions"]}
    assert {edge[end] for edge in found["edges"] for end in ("start", "end")} <= keys


def test_the_atlas_between_two_designs_promises_what_the_slider_does(anyone):
    low, high = (point["epsilon"] for point in anyone.get("/frontier")["points"][-2:])
    between = anyone.get("/atlas", epsilon=(low * high) ** 0.5)
    assert between == anyone.get("/atlas", epsilon=high)
    assert between != anyone.get("/atlas", epsilon=low)


def test_points_on_the_map_are_rounded_as_the_promise_says(city):
    site = city.get()["site"]["region"]
    lat, lon = (site["south"] + site["north"]) / 2, (site["west"] + site["east"]) / 2
    design = city.get("/frontier")["points"][-1]["design"]
    found = city.get("/preview", design=design, lat=lat, lon=lon)["here"]
    mechanism = rows_of(city, design).mechanism
    rounding = mechanism.secrets.rounding([lat], [lon])
    row = rounding.shares[0] @ mechanism.matrix[rounding.positions[0]]
    np.testing.assert_allclose(found["reports"], row, atol=1e-6)
    assert city.get("/preview", 422, design=design, lat=0, lon=0)["field"] == "lat"
    assert city.get("/preview", 422, design=design, lat=lat)["field"] == "at"
    assert city.get("/preview", 422, design=design, at=10_000)["field"] == "at"
    assert city.get("/preview", 422, epsilon=1e6)["field"] == "epsilon"
    city.get("/preview", 404, design="0" * 16)
    city.get("/preview", 422, design="../../x")


@pytest.mark.slow
def test_a_design_is_made_live_downloaded_and_made_again_by_its_script(anyone, tmp_path):
    epsilon = anyone.get("/frontier")["points"][2]["epsilon"] * 1.01
    told = anyone.told(anyone.post("/designs", {"epsilon": epsilon}, 202)["id"])
    last = told[-1]
    assert last["status"] == "done", last
    assert last["progress"][-1]["gap"] <= 5e-3
    design = last["result"]["design"]
    found = anyone.get(f"/designs/{design}")
    assert found["finished"]
    assert found["bound"]["lower"] <= found["loss"]["upper"]
    assert "Guarantee" in [section["title"] for section in found["sections"]]
    client, base = anyone.studio.client, f"{anyone.base}/designs/{design}"
    (tmp_path / "got.sfm").write_bytes(client.get(f"{base}/mechanism.sfm").content)
    held = read_mechanism_file(tmp_path / "got.sfm")
    script = client.get(f"{base}/script.py")
    assert "attachment" in script.headers["content-disposition"]
    subprocess.run([sys.executable, "-c", script.text], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "report.html").stat().st_size > 50_000
    mine = json.loads((tmp_path / "report.json").read_text())
    page = client.get(f"{base}/report.html")
    assert 'attachment; filename="report.html"' in page.headers["content-disposition"]
    assert "<html" in page.text
    theirs = client.get(f"{base}/report.json").json()
    assert theirs["cost"]["expected"]["value"] == pytest.approx(mine["cost"]["expected"]["value"], rel=0.01)
    assert [each["claimed"] for each in theirs["promises"]] == [each["claimed"] for each in mine["promises"]]
    again = read_mechanism_file(tmp_path / "mechanism.sfm").report_channel
    assert again.secrets == held.mechanism.secrets
    assert held.prior is not None
    assert held.loss is not None
    loss = again.expected_loss(held.prior, held.loss)
    assert loss == pytest.approx(found["loss"]["value"], rel=0.01)
    assert client.delete(base).status_code == 204
    assert client.get(base).status_code == 404
    assert client.get(f"{base}/mechanism.sfm").status_code == 404


def test_a_job_that_cannot_be_done_says_why(ages):
    failed = ages.ended(ages.post("/designs", {"loss_at_most": 1e6}, 202))
    assert failed["status"] == "failed"
    assert failed["error"]["message"]
    ages.post("/designs", {}, 422)
    ages.post("/designs", {"epsilon": 1.0, "loss_at_most": 1.0}, 422)


def test_a_loss_that_needs_no_report_is_not_compared_at(ages, city):
    for visitor, what in ((ages, "value"), (city, "place")):
        most, before = visitor.get("/frontier")["points"][0]["loss"]["upper"], visitor.get()["jobs"]
        error = visitor.post("/compare", {"loss": 1.2 * most}, 422)
        assert error["field"] == "loss"
        assert f"always reporting the same {what} loses about" in error["message"]
        assert re.search(r"below \d", error["hint"])
        assert visitor.get()["jobs"] == before


@pytest.mark.parametrize("key", ["city", "ages", "categories"])
def test_the_loss_of_always_the_same_is_that_of_the_best_guess(key, tmp_path):
    kind = "places" if key == "city" else "values"
    site = {"kind": kind, "detail": 120, "radius_m": 500.0} if key == "city" else {"kind": kind}
    ground = ground_of(example_data(key), site, tmp_path)
    same = float((ground.prior.probabilities @ ground.metric.array).min())
    if key == "city":
        assert 0.8 * same < ground.loss_of_nothing <= same
    else:
        assert ground.loss_of_nothing == pytest.approx(same)
        assert ground.loss_of_nothing <= same


def test_the_source_says_which_part_of_the_data_is_used(tmp_path):
    ages, city = example_data("ages"), example_data("city")
    few = ground_of(ages, {"kind": "values", "first": 18, "last": 21}, tmp_path)
    said = (
        "64 of 1,222 rows of Ages of invented people, those with a whole number from 18 to 21 in the column 'age'"
    )
    assert few.source == said
    assert said in few.script("ages", 1.0, 1e-3, None)
    every = ground_of(ages, {"kind": "values"}, tmp_path)
    assert every.source == "1,222 rows of Ages of invented people"
    holes = ages | {"tables": {"colour": {"blue": 3, "red": 5}}, "rows": 10}
    assert ground_of(holes, {"kind": "values"}, tmp_path).source == (
        "8 of 10 rows of Ages of invented people, those with a value in the column 'colour'"
    )
    mine = {"source": "file", "title": "x", "name": "It is safe. 5 rows"}
    assert ground_of(ages | mine, {"kind": "values"}, tmp_path).source == "1,222 rows of 'It is safe. 5 rows'"
    site = {"kind": "places", "detail": 30, "radius_m": 500.0}
    whole = ground_of(
        city, site | {"region": {"south": 39.9, "west": -30.1, "north": 40.1, "east": -29.9}}, tmp_path
    )
    south, west, north, east = (city["region"][side] for side in ("south", "west", "north", "east"))
    corners = [[west, south], [east, south], [(west + east) / 2, (south + north) / 2]]
    parts = (
        (ground_of(city, site, tmp_path), "region"),
        (drawn(city, site, corners, tmp_path), "area that was drawn"),
    )
    for ground, inside in parts:
        assert isinstance(ground, PlacesGround)
        used = len(ground.visits)
        assert 0 < used < city["rows"]
        assert ground.source == (
            f"{used:,} of {city['rows']:,} visits in An invented city, those inside the {inside}"
        )
        assert ground.source in ground.script("city", 1.0, 1e-3, None)
    assert whole.source == f"{city['rows']:,} visits in An invented city"


def drawn(data, site, corners, folder):
    return ground_of(data, site | {"polygon": corners}, folder)


def test_answers_are_plain_json(anyone):
    for path in ("", "/frontier", "/atlas?epsilon=1"):
        json.loads(anyone.studio.client.get(anyone.base + path).text, parse_constant=pytest.fail)


@pytest.mark.slow
def test_a_cancelled_design_is_kept_and_a_resumed_one_takes_its_place(cities, gate):
    one = cities()
    one.post("/example", {"example": "city"})
    one.put("/site", {"kind": "places", "detail": 120})
    with gate.closed("progress", 1):
        job = one.post("/designs", {"epsilon": 2.0, "thorough": True}, 202)
        soon(lambda: one.get(f"/jobs/{job['id']}")["progress"])
        one.post(f"/jobs/{job['id']}/cancel")
    stopped = one.ended(job)
    assert stopped["status"] == "cancelled"
    kept = one.get()["designs"]
    assert len(kept) <= 1
    for each in kept:
        held = rows_of(one, each["id"])
        assert held.mechanism.expected_loss(held.prior, held.loss) <= each["loss"]["upper"]
    again = one.ended(one.post(f"/jobs/{job['id']}/resume"))
    assert again["status"] == "done"
    (best,) = one.get()["designs"]
    assert best["id"] == again["result"]["design"]
    assert best["finished"]
    assert all(best["loss"]["upper"] <= each["loss"]["upper"] for each in kept)


@pytest.mark.slow
def test_a_comparison_tells_how_far_it_is(ages):
    loss = ages.get("/frontier")["points"][2]["loss"]["value"]
    told = ages.told(ages.post("/compare", {"loss": loss}, 202)["id"])
    assert told[-1]["status"] == "done", told[-1]["error"]
    done = [each["done"] for each in told]
    assert done == sorted(done)
    assert len(set(done)) >= 3
    assert all(each["done"] <= each["total"] for each in told)
    assert len(told[-1]["result"]["rows"]) >= 2
