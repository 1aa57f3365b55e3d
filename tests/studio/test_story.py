"""The visitor's story, on the invented city, ages and categories: each number by another route."""

import json
import math
import re
import subprocess
import sys
import time

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.estimation import identifiability
from sfumato.files import read_mechanism_file
from sfumato.proofs import VertexPrivacy, prove_coordinate_privacy
from sfumato.rounding import amount_at_most
from sfumato_studio.domains import PlacesDomain, domain_of
from sfumato_studio.examples import example_data

from .conftest import DESIGNS, soon

SURVEY = b"answer\n" + b"never\n" * 90 + b"once\n" * 6 + b"often\n" * 4


def file_of(visitor, design):
    path = visitor.studio.folder / "workspaces" / visitor.id / "designs" / f"{design}.sfm"
    return read_mechanism_file(path)


@pytest.fixture(scope="module")
def survey(cities):
    """A visitor whose data are answers of a few categories."""
    visitor = cities()
    visitor.upload("answers.csv", SURVEY)
    visitor.put("/site", {"kind": "values"})
    visitor.levels()
    return visitor


@pytest.fixture(params=["city", "ages"])
def anyone(request, city, ages):
    return {"city": city, "ages": ages}[request.param]


@pytest.fixture(params=["city", "ages", "survey"])
def everyone(request):
    return request.getfixturevalue(request.param)


def test_every_level_is_proved_and_its_numbers_are_those_of_its_file(everyone):
    answer = everyone.levels()
    assert [each["level"] for each in answer["levels"]] == list(range(answer["total"]))
    epsilons = [each["epsilon"] for each in answer["levels"]]
    assert epsilons == sorted(epsilons, reverse=True)
    for level in answer["levels"]:
        file = file_of(everyone, level["design"])
        loss = file.mechanism.expected_loss(file.prior, file.loss)
        assert loss * (1 - 1e-12) <= level["loss"]["upper"] <= loss * (1 + 1e-6)
        assert level["loss"]["lower"] is None or level["loss"]["lower"] <= loss * (1 + 1e-12)
        (guarantee,) = file.guarantees
        if isinstance(guarantee, VertexPrivacy):
            proved = prove_coordinate_privacy(file.mechanism, guarantee).upper
        else:
            audit = sf.audit(file.mechanism, prior=file.prior, metric=guarantee.metric)
            proved = audit.find("metric-privacy").number
        assert level["epsilon"] == pytest.approx(proved, rel=1e-9)
        assert level["epsilon"] >= proved * (1 - 1e-12)


def test_levels_begin_in_closed_form_and_only_a_better_design_replaces_it(anyone):
    levels = anyone.levels()["levels"]
    statuses = [each["status"] for each in levels]
    assert set(statuses) <= {"closed form", "optimized"}
    assert 0 < statuses.count("optimized") <= DESIGNS
    store = anyone.studio.app.state.studio.store
    for level in levels:
        here = [row for row in store.designs(anyone.id) if row["id"] == level["design"]]
        rivals = [row for row in store.designs(anyone.id) if row["epsilon"] == here[0]["epsilon"]]
        assert level["loss"]["upper"] == min(row["facts"]["loss"][2] for row in rivals)
        assert (level["name"] == "optimized") == (level["status"] == "optimized")


def test_planar_noise_is_that_of_the_library(city):
    """The closed form of a level, built again from the data: noise on the lattice, then the best remap."""
    visits, site = sf.synthetic_city(), city.get()["site"]
    region = sf.Region(**site["region"])
    inside = visits.inside(region)
    for level in city.levels()["levels"]:
        if level["name"] != "planar noise":
            continue
        file = file_of(city, level["design"])
        lattice, (guarantee,) = file.mechanism.secrets, file.guarantees
        assert lattice.spacing_m == site["spacing_m"]
        prior, loss = sf.Prior.from_visits(lattice, inside), lattice.loss(inside, unit="m")
        np.testing.assert_allclose(prior.probabilities, file.prior.probabilities)
        xy = np.asarray(lattice.coordinates)
        apart = np.hypot(*(xy[:, None] - xy).transpose(2, 0, 1))
        noise = sf.mechanisms.planar_geometric(lattice, guarantee.epsilon / lattice.spacing_m * (1 - 1e-12))
        ratios = np.log(noise.matrix[:, None] / noise.matrix[None]).max(axis=2)
        assert (ratios <= guarantee.epsilon / lattice.spacing_m * apart * (1 + 1e-9)).all()
        best = np.argmin((prior.probabilities[:, None] * noise.matrix).T @ loss.array, axis=1)
        costs = (prior.probabilities[:, None] * noise.matrix).T @ loss.array
        cheapest = costs[np.arange(len(best)), best].sum()
        assert cheapest == pytest.approx(file.mechanism.expected_loss(prior, file.loss), rel=1e-9)
        assert level["loss"]["value"] == pytest.approx(cheapest, rel=1e-9)


def test_closed_forms_of_values_are_those_of_the_library(survey, ages):
    for level in survey.levels()["levels"]:
        epsilon = level["epsilon"]
        matrix, n = file_of(survey, level["design"]).mechanism.matrix, 3
        truth = math.exp(epsilon) / (math.exp(epsilon) + n - 1)
        np.testing.assert_allclose(matrix, np.where(np.eye(n), truth, (1 - truth) / (n - 1)), atol=1e-9)
        assert level["name"] == "randomised response"
    for level in ages.levels()["levels"]:
        if level["status"] != "closed form":
            continue
        file = file_of(ages, level["design"])
        epsilon, space = float(file.guarantees[0].epsilon), file.mechanism.secrets
        forms = (
            sf.mechanisms.geometric(space, epsilon / 11),
            sf.mechanisms.randomised_response(space, epsilon),
        )
        least = min(
            (file.prior.probabilities[:, None] * form.matrix).T.dot(file.loss.array).min(axis=1).sum()
            for form in forms
        )
        assert level["loss"]["value"] == pytest.approx(least, rel=1e-9)


def test_nothing_between_levels_is_shown(anyone):
    """The page cannot name an epsilon, and every number that it gets is that of a mechanism with a file."""
    levels, store = anyone.levels()["levels"], anyone.studio.app.state.studio.store
    files = {row["id"] for row in store.designs(anyone.id)}
    assert {each["design"] for each in levels} <= files
    assert anyone.get("/preview", 422, epsilon=0.77)["field"] == "level"
    texts = json.dumps([anyone.get("/preview", level=each["level"], at=3, report=2) for each in levels[::4]])
    assert "interpolated" not in texts.casefold()
    for path in ("/preview", "/notions", "/takeaway"):
        assert anyone.get(path, 422, level=99)["field"] == "level"
        anyone.get(path, 404, design="0" * 16)


def test_a_preview_is_that_of_the_file(anyone):
    level = anyone.levels()["levels"][4]
    file = file_of(anyone, level["design"])
    report = int(np.argmax(file.prior.probabilities @ file.mechanism.matrix))
    preview = anyone.get("/preview", level=4, at=3, report=report)
    assert preview["shown"] == level == anyone.get("/preview", design=level["design"])["shown"]
    matrix = file.mechanism.matrix
    np.testing.assert_allclose(preview["here"]["reports"], matrix[3], atol=1e-5)
    seen = file.prior.probabilities * matrix[:, report]
    np.testing.assert_allclose(preview["belief"]["after"], seen / seen.sum(), atol=1e-5)
    for contour in preview["here"]["contours"]:
        assert matrix[3][contour["cells"]].sum() >= contour["share"] - 1e-6
        assert matrix[3][contour["cells"][:-1]].sum() < contour["share"] + 1e-6


def test_baselines_are_those_of_one_report_and_of_no_report(everyone):
    answer = everyone.levels()
    file = file_of(everyone, answer["levels"][0]["design"])
    p, loss = file.prior.probabilities, file.loss.array
    first = answer["levels"][0]
    if everyone.get()["data"]["kind"] == "values":
        assert first["loss"]["baseline"] == pytest.approx((p @ loss).min())
        assert first["found"]["baseline"] == pytest.approx(p.max())
    for level in answer["levels"]:
        for name in ("loss", "error", "found"):
            if level[name] is not None:
                assert level[name]["baseline"] == pytest.approx(first[name]["baseline"], rel=1e-6)
        assert level["useful"] is bool(level["loss"]["value"] < 0.995 * level["loss"]["baseline"]) or (
            level["loss"]["value"] == pytest.approx(0.995 * level["loss"]["baseline"], rel=1e-3)
        )
        assert ("are useless" in level["sentences"][0]) is not level["useful"]


def test_the_accuracy_of_shares_is_that_of_simulated_surveys(survey):
    level = survey.levels()["levels"][4]
    file, people = file_of(survey, level["design"]), 2000
    rng = np.random.default_rng(8)
    matrix, p = file.mechanism.matrix, file.prior.probabilities
    counts = rng.multinomial(people, p @ matrix, size=4000)
    shares = (counts / people) @ np.linalg.inv(matrix)
    half = 1.96 * shares.std(axis=0).max()
    answer = survey.get("/takeaway", level=4, people=people)
    assert answer["shares"]["half_width"]["value"] == pytest.approx(half, rel=0.06)
    without = 1.96 * math.sqrt((p * (1 - p)).max() / people)
    assert answer["shares"]["half_width"]["baseline"] == pytest.approx(without)
    chosen = survey.post("/choose", {"half_width_at_most": 1.01 * half, "people": people})
    assert chosen["possible"]
    assert chosen["level"] >= 4
    assert not survey.post("/choose", {"half_width_at_most": 1e-4, "people": people})["possible"]


def test_the_error_radius_is_that_of_the_file(city, ages):
    for level in city.levels()["levels"]:
        sentences = city.get("/takeaway", level=level["level"])["sentences"]
        try:
            radius = sf.proofs.error_radius(file_of(city, level["design"]).mechanism)
        except SfumatoError:
            assert not sentences[0].startswith("At least 95 %")
        else:
            assert amount_at_most(radius, "m") in sentences[0]
    assert len(ages.get("/takeaway", level=4)["sentences"]) == 2


def test_shares_that_cannot_be_estimated_are_warned_of(survey, ages):
    for visitor in (survey, ages):
        for level in visitor.levels()["levels"]:
            known = identifiability(file_of(visitor, level["design"]).mechanism)
            estimable = known.complete and known.least_reports <= 1000
            assert level["shares"]["estimable"] is bool(estimable)
            warnings = visitor.get("/takeaway", level=level["level"], people=1000)["warnings"]
            assert (level["shares"]["sentence"] in warnings) is not estimable
    few = survey.get("/takeaway", level=11, people=3)
    assert not few["shares"]["estimable"]
    assert "too few" in few["warnings"][-1]
    answers = survey.put("/site", {"kind": "values", "goal": "answers"})["site"]
    assert answers["optimizable"]
    shares = survey.put("/site", {"kind": "values"})["site"]
    assert not shares["optimizable"]
    survey.post("/optimize", {}, 409)


@pytest.mark.slow
def test_a_preview_is_quick(city):
    city.get("/preview", level=0, at=3)
    took = []
    for k in range(12):
        began = time.process_time()  # the studio runs in this process
        city.get("/preview", level=k, at=3, report=2)
        took.append(time.process_time() - began)
    assert min(took) < 0.1


def test_an_outcome_chooses_a_level(anyone):
    levels = anyone.levels()["levels"]
    chosen = anyone.post("/choose", {"loss_at_most": levels[3]["loss"]["upper"]})
    assert chosen["possible"]
    assert levels[chosen["level"]]["loss"]["upper"] <= levels[3]["loss"]["upper"]
    assert chosen["level"] >= 3
    hits = anyone.post("/choose", {"found_at_most": levels[-2]["found"]["upper"]})
    assert levels[hits["level"]]["found"]["upper"] <= levels[-2]["found"]["upper"]
    assert all(each["found"]["upper"] > levels[-2]["found"]["upper"] for each in levels[: hits["level"]])
    impossible = anyone.post("/choose", {"loss_at_most": 1e-6})
    assert not impossible["possible"]
    assert "best: at most" in impossible["sentence"]
    assert not anyone.post("/choose", {"found_at_most": 0.0})["possible"]
    assert anyone.post("/choose", {}, 422)["field"] == "loss_at_most"
    anyone.post("/choose", {"loss_at_most": 1.0, "found_at_most": 0.5}, 422)


def test_shared_reports_are_drawn_from_the_row(anyone):
    level = anyone.levels()["levels"][6]
    answer = anyone.post("/share", {"design": level["design"], "at": 5, "times": 1000})
    row = file_of(anyone, level["design"]).mechanism.matrix[5]
    counts = np.bincount(answer["reports"], minlength=len(row))
    assert counts.sum() == 1000
    assert {each["at"]: each["count"] for each in answer["counts"]} == {
        int(at): int(counts[at]) for at in np.flatnonzero(counts)
    }
    expected = 1000 * row
    # A thousand draws stay within seven deviations but once in 10**11.
    assert (np.abs(counts - expected) <= 7 * np.sqrt(expected) + 7).all()


def test_repetition_multiplies_likelihoods(anyone):
    level = anyone.levels()["levels"][0]
    file = file_of(anyone, level["design"])
    answer = anyone.post("/walk", {"level": 0, "path": [{"at": 5}], "repeat": 20})
    reports = [step["report"] for step in answer["steps"]]
    log = np.log(file.prior.probabilities + 1e-300) + np.log(file.mechanism.matrix[:, reports] + 1e-300).sum(
        axis=1
    )
    belief = np.exp(log - log.max())
    belief /= belief.sum()
    np.testing.assert_allclose(answer["steps"][-1]["belief"], belief, atol=1e-4)
    assert answer["steps"][-1]["truth"] == 5
    assert "20 times" in answer["sentence"]


def test_a_walk_is_followed_within_what_the_attacker_believes(anyone):
    n = anyone.get()["site"]["n"]
    path = [{"at": at} for at in range(min(6, n))]
    answer = anyone.post("/walk", {"level": 2, "path": path, "repeat": 2})
    assert [step["stop"] for step in answer["steps"]] == [k // 2 for k in range(2 * len(path))]
    for step in answer["steps"]:
        assert sum(step["belief"]) == pytest.approx(1, abs=1e-4)
    anyone.post("/walk", {"level": 2, "path": []}, 422)
    anyone.post("/walk", {"level": 2, "path": path * 16, "repeat": 100}, 422)
    anyone.post("/walk", {"level": 2, "path": [{}]}, 422)


def test_an_attack_with_a_belief_of_ones_own(anyone):
    level, n = anyone.levels()["levels"][0], anyone.get()["site"]["n"]

    def attack(**body):
        answer = anyone.post("/attack", {"level": 0, **body})
        assert {each["name"] for each in answer["attackers"]} == {"expected", "mistaken", "right"}
        return {each["name"]: each["found"]["value"] for each in answer["attackers"]}

    doubt = attack(main=[{"at": 5, "weight": 0.6}])
    assert doubt["mistaken"] <= doubt["expected"] + 1e-12
    same = attack(belief=file_of(anyone, level["design"]).prior.probabilities.tolist())
    assert same["mistaken"] == pytest.approx(same["expected"])
    assert attack(main=[{"at": 5, "weight": 1.0}])["right"] == pytest.approx(1)
    anyone.post("/attack", {"level": 0, "belief": [1.0] * (n + 1)}, 422)
    anyone.post("/attack", {"level": 0, "belief": [0.0] * n}, 422)
    anyone.post("/attack", {"level": 0, "main": [{"at": 5, "weight": 0.6}, {"at": 6, "weight": 0.6}]}, 422)
    anyone.post("/attack", {"level": 0}, 422)


def test_fewer_definitions_are_meaningful_with_less_privacy(anyone):
    def meaningful(level):
        answer = anyone.get("/notions", level=level)
        keys = {each["key"] for each in answer["notions"] if each["meaningful"]}
        assert f" {len(keys)} of {len(answer['notions'])} definitions" in answer["sentence"]
        return keys

    strong, weak = meaningful(11), meaningful(0)
    assert weak < strong
    assert "differential-privacy" in strong - weak


def test_points_on_the_map_are_rounded_as_the_guarantee_says(city):
    site = city.get()["site"]["region"]
    lat, lon = (site["south"] + site["north"]) / 2, (site["west"] + site["east"]) / 2
    design = city.levels()["levels"][0]["design"]
    here = city.get("/preview", design=design, lat=lat, lon=lon)["here"]
    mechanism = file_of(city, design).mechanism
    rounding = mechanism.secrets.rounding([lat], [lon])
    row = rounding.shares[0] @ mechanism.matrix[rounding.positions[0]]
    np.testing.assert_allclose(here["reports"], row, atol=1e-6)
    assert city.get("/preview", 422, design=design, lat=0, lon=0)["field"] == "lat"
    assert city.get("/preview", 422, design=design, lat=lat)["field"] == "at"
    assert city.get("/preview", 422, design=design, at=10_000)["field"] == "at"
    city.get("/preview", 422, design="../../x")


@pytest.mark.slow
@pytest.mark.parametrize("level", [0, 5, 11])
def test_a_level_is_downloaded_and_made_again_by_its_script(everyone, tmp_path, level):
    shown = everyone.levels()["levels"][level]
    again_and_again(everyone, {"level": level}, shown, tmp_path)


def again_and_again(visitor, query, shown, folder):
    """Check the files of a mechanism against those that its script makes."""
    (folder / "got.sfm").write_bytes(visitor.download("mechanism.sfm", **query).content)
    file = read_mechanism_file(folder / "got.sfm")
    script = visitor.download("script.py", **query)
    assert "attachment" in script.headers["content-disposition"]
    subprocess.run([sys.executable, "-c", script.text], cwd=folder, check=True, capture_output=True)
    ours = json.loads((folder / "report.json").read_text())
    theirs = visitor.download("report.json", **query).json()
    assert theirs["cost"]["expected"]["value"] == pytest.approx(ours["cost"]["expected"]["value"], rel=0.01)
    assert [each["claimed"] for each in theirs["promises"]] == [each["claimed"] for each in ours["promises"]]
    assert "<html" in visitor.download("report.html", **query).text
    again = read_mechanism_file(folder / "mechanism.sfm").report_channel
    assert again.secrets == file.mechanism.secrets
    assert file.prior is not None
    assert file.loss is not None
    assert again.expected_loss(file.prior, file.loss) == pytest.approx(shown["loss"]["value"], rel=0.01)


@pytest.mark.slow
def test_a_design_is_made_live_and_is_one_more_stop_of_the_slider(anyone, tmp_path):
    epsilon = anyone.levels()["levels"][5]["epsilon"] * 1.01
    states = anyone.states(anyone.post("/designs", {"epsilon": epsilon}, 202)["id"])
    last = states[-1]
    assert last["status"] == "done", last
    assert last["progress"][-1]["gap"] <= 5e-3
    assert last["best"].startswith("The best mechanism so far loses at most")
    assert last["seconds_left"] is None
    design = last["result"]["design"]
    (stop,) = (each for each in anyone.levels()["levels"] if each["level"] is None)
    assert stop["design"] == design
    assert stop["epsilon"] <= epsilon
    again_and_again(anyone, {"design": design}, stop, tmp_path)
    client, base = anyone.studio.client, anyone.base
    assert client.delete(f"{base}/designs/{design}").status_code == 204
    for path in ("preview", "mechanism.sfm"):
        assert client.get(f"{base}/{path}", params={"design": design}).status_code == 404


def test_a_job_that_cannot_be_done_says_why(ages):
    failed = ages.ended(ages.post("/designs", {"loss_at_most": 1e6}, 202))
    assert failed["status"] == "failed"
    assert failed["error"]["message"]
    ages.post("/designs", {}, 422)
    ages.post("/designs", {"epsilon": 1.0, "loss_at_most": 1.0}, 422)


def test_a_loss_that_needs_no_report_is_not_compared_at(survey):
    level, before = survey.levels()["levels"][-1], survey.get()["jobs"]
    assert level["loss"]["value"] > level["loss"]["baseline"]
    error = survey.post("/compare", {"level": 11}, 422)
    assert "Always reporting one value: " in error["message"]
    assert re.search(r"below \d", error["hint"])
    assert survey.get()["jobs"] == before


@pytest.mark.parametrize("key", ["city", "ages", "categories"])
def test_the_loss_of_always_the_same_is_that_of_the_best_guess(key, tmp_path):
    kind = "places" if key == "city" else "values"
    site = {"kind": kind, "detail": 120, "radius_m": 500.0} if key == "city" else {"kind": kind}
    domain = domain_of(example_data(key), site, tmp_path)
    same = float((domain.prior.probabilities @ domain.metric.array).min())
    if key == "city":
        assert 0.8 * same < domain.loss_of_nothing <= same
    else:
        assert domain.loss_of_nothing == pytest.approx(same)
        assert domain.loss_of_nothing <= same


def test_the_source_says_which_part_of_the_data_is_used(tmp_path):
    ages, city = example_data("ages"), example_data("city")
    few = domain_of(ages, {"kind": "values", "first": 18, "last": 21}, tmp_path)
    said = (
        "64 of 1,222 rows of Ages of invented people, those with a whole number from 18 to 21 in the column 'age'"
    )
    assert few.source == said
    assert said in few.script("ages", 1.0, 1e-3, None)
    every = domain_of(ages, {"kind": "values"}, tmp_path)
    assert every.source == "1,222 rows of Ages of invented people"
    holes = ages | {"tables": {"colour": {"blue": 3, "red": 5}}, "rows": 10}
    assert domain_of(holes, {"kind": "values"}, tmp_path).source == (
        "8 of 10 rows of Ages of invented people, those with a value in the column 'colour'"
    )
    mine = {"source": "file", "title": "x", "name": "It is safe. 5 rows"}
    assert domain_of(ages | mine, {"kind": "values"}, tmp_path).source == "1,222 rows of 'It is safe. 5 rows'"
    site = {"kind": "places", "detail": 30, "radius_m": 500.0}
    whole = domain_of(
        city, site | {"region": {"south": 37.7, "west": -122.6, "north": 37.9, "east": -122.3}}, tmp_path
    )
    south, west, north, east = (city["region"][side] for side in ("south", "west", "north", "east"))
    corners = [[west, south], [east, south], [(west + east) / 2, (south + north) / 2]]
    parts = (
        (domain_of(city, site, tmp_path), "region"),
        (drawn(city, site, corners, tmp_path), "area that was drawn"),
    )
    for domain, inside in parts:
        assert isinstance(domain, PlacesDomain)
        used = len(domain.visits)
        assert 0 < used < city["rows"]
        assert domain.source == (
            f"{used:,} of {city['rows']:,} visits in Invented people in San Francisco, those inside the {inside}"
        )
        assert domain.source in domain.script("city", 1.0, 1e-3, None)
    assert whole.source == f"{city['rows']:,} visits in Invented people in San Francisco"


def drawn(data, site, corners, folder):
    return domain_of(data, site | {"polygon": corners}, folder)


def test_answers_are_plain_json(everyone):
    for path in ("", "/levels", "/notions?level=0", "/takeaway?level=11"):
        json.loads(everyone.studio.client.get(everyone.base + path).text, parse_constant=pytest.fail)


@pytest.mark.slow
def test_a_cancelled_design_is_kept_and_a_resumed_one_takes_its_place(cities, gate):
    one = cities()
    one.post("/example", {"example": "city"})
    one.put("/site", {"kind": "places", "detail": 120})

    def others():
        return [each for each in one.levels()["levels"] if each["level"] is None]

    with gate.closed("progress", 1):
        job = one.post("/designs", {"epsilon": 2.0, "thorough": True}, 202)
        soon(lambda: one.get(f"/jobs/{job['id']}")["progress"])
        one.post(f"/jobs/{job['id']}/cancel")
    stopped = one.ended(job)
    assert stopped["status"] == "cancelled"
    kept = others()
    assert len(kept) <= 1
    for each in kept:
        file = file_of(one, each["design"])
        assert file.mechanism.expected_loss(file.prior, file.loss) <= each["loss"]["upper"]
    again = one.ended(one.post(f"/jobs/{job['id']}/resume"))
    assert again["status"] == "done"
    (best,) = others()
    assert best["design"] == again["result"]["design"]
    assert best["finished"]
    assert all(best["loss"]["upper"] <= each["loss"]["upper"] for each in kept)


@pytest.mark.slow
def test_a_comparison_has_the_mechanism_of_the_level_and_is_not_started_twice(ages):
    level = ages.levels()["levels"][5]
    job = ages.post("/compare", {"level": 5}, 202)
    states = ages.states(job["id"])
    assert states[-1]["status"] == "done", states[-1]["error"]
    done = [each["done"] for each in states]
    assert done == sorted(done)
    assert len(set(done)) >= 3
    assert all(each["done"] <= each["total"] for each in states)
    result = states[-1]["result"]
    assert (result["level"], result["design"], result["epsilon"]) == (5, level["design"], level["epsilon"])
    yours, *others = result["rows"]
    assert yours["yours"]
    assert yours["epsilon"] == pytest.approx(level["epsilon"], rel=1e-9)
    assert yours["loss"]["value"] == pytest.approx(level["loss"]["value"], rel=1e-6)
    assert len(others) >= 2
    assert not any(each["yours"] for each in others)
    assert all(each["explanation"] for each in result["rows"])
    assert ages.post("/compare", {"level": 5}, 202)["id"] == job["id"]
    assert ages.post("/compare", {"level": 4}, 202)["id"] != job["id"]
