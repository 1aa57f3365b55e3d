"""``sfumato report``, and reports at the end of ``sfumato design``."""

import json
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.reports.document import report_file


@pytest.fixture
def answers(tmp_path):
    (tmp_path / "ages.csv").write_text("age\n" + "\n".join(map(str, [20, 21, 22, 23, 20] * 4)), encoding="utf-8")
    return (
        "design-column",
        "ages.csv",
        "--column",
        "age",
        "--numbers",
        "20..23",
        "--epsilon",
        "1",
        "--loss",
        "hamming",
    )


def test_the_report_of_a_file(run, answers, tmp_path):
    assert run(*answers, "-o", "ages.sfm").code == 0
    done = run("report", "ages.sfm", "--require", "within 0: at most 60 %", "--source", "a survey")
    assert done.code == 0, done.err
    assert "was verified when" in done.text
    assert "The requirement 'within 0: at most 60 %' HOLDS." in done.text
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "a survey" in page
    done = run("report", "ages.sfm", "-o", "r.json")
    assert done.code == 0
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["promises"][0]["holds"] is True


@pytest.mark.slow
def test_an_entry_for_the_registry(run, answers, tmp_path):
    assert run(*answers, "-o", "ages.sfm", "--no-picture").code == 0
    done = run(
        "report", "ages.sfm", "--frontier-time", "0", "--registry", "entry.yaml", "--why", "the board asked"
    )
    assert done.code == 0, done.err
    assert "Written: entry.yaml. Replace every text that begins with FILL IN" in done.text
    for written in ("entry.yaml", "report.html"):
        assert "the board asked" in (tmp_path / written).read_text(encoding="utf-8")
    sf.save(sf.Mechanism([[0.9, 0.1], [0.1, 0.9]]), "bare.sfm")
    before = set(tmp_path.iterdir())
    refused = run("report", "bare.sfm", "--registry", "none.yaml", "-o", "none.html")
    assert refused.code == 1
    assert "--registry" in refused.err
    assert set(tmp_path.iterdir()) == before


@pytest.mark.slow
def test_the_time_for_designs_with_other_epsilons(run, answers, tmp_path):
    assert run(*answers, "-o", "ages.sfm", "--no-picture").code == 0
    page = tmp_path / "report.html"
    assert run("report", "ages.sfm").code == 0
    assert "Designs by their epsilon" in page.read_text(encoding="utf-8")
    done = run("report", "ages.sfm", "--frontier-time", "0")
    assert done.code == 0, done.err
    written = page.read_text(encoding="utf-8")
    assert "left out on purpose" in written
    assert "sfumato report ages.sfm --frontier-time 0" in written
    refused = run("report", "ages.sfm", "--frontier-time", "-1")
    assert refused.code == 1
    assert "--frontier-time -1 is not a number of seconds" in refused.err


def test_exit_codes(run, answers):
    assert run(*answers, "-o", "ages.sfm").code == 0
    fails = run("report", "ages.sfm", "-o", "r.json", "--require", "within 0: at most 5 %")
    assert fails.code == 1
    assert "FAILS" in fails.text
    space = sf.Space(["a", "b"])
    sf.save(sf.mechanisms.randomised_response(space, 1.0), "noprior.sfm")
    open_ = run("report", "noprior.sfm", "-o", "r.json", "--require", "within 0: at most 90 %")
    assert open_.code == 3
    assert "IS NOT DECIDED" in open_.text
    assert run("report", "noprior.sfm", "-o", "r.json").code == 0


@pytest.mark.slow
def test_what_an_audit_finds_may_be_required(run, answers, tmp_path):
    done = run(*answers, "-o", "ages.sfm", "--no-picture", "--require", "epsilon <= 1.001")
    assert done.code == 0, done.err
    assert "The requirement 'epsilon <= 1.001' HOLDS: epsilon is at most" in done.text
    lines = ("epsilon <= 0.9", "within 0: at most 90 %", "epsilon(delta=0.5) <= 1")
    asked = [part for line in lines for part in ("--require", line)]
    done = run("report", "ages.sfm", "-o", "r.json", *asked)
    assert done.code == 1
    facts = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    epsilon, delta = facts["requirements"]
    assert sf.audit(sf.read_mechanism_file("ages.sfm").mechanism).find("differential-privacy").bracket.lower > 0.9
    assert (epsilon["text"], epsilon["outcome"]) == ("epsilon <= 0.9", "fails")
    assert delta["outcome"] == "holds"
    assert facts["risks"][1]["outcome"] == "holds"
    assert run("report", "ages.sfm", "-o", "r.html", "--require", "epsilon <= 0.9").code == 1
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "NOT KEPT: epsilon &lt;= 0.9." in page
    assert "Stated limits" in page
    again = run("report", "ages.sfm", "-o", "r.json", "--require", "epsilon <= 1/km")
    assert again.code == 1
    assert "per unit" in again.err


def test_the_head_says_which_requirements_are_kept(run, tmp_path):
    sf.save(sf.mechanisms.randomised_response(sf.Space(["a", "b"]), 1.0), "m.sfm")
    asked = ("--require", "epsilon <= 2", "--require", "epsilon <= 0.5")
    assert run("report", "m.sfm", "-o", "r.html", *asked).code == 1
    head = (tmp_path / "r.html").read_text(encoding="utf-8").partition("<h2")[0]
    assert "NOT KEPT: epsilon &lt;= 0.5." in head
    assert "Kept: epsilon &lt;= 2." in head


def test_a_false_promise_fails(run):
    space = sf.Space(["a", "b"])
    metric = sf.hamming(space)
    sf.save(
        sf.Mechanism([[0.9, 0.1], [0.1, 0.9]], space, space).promising(sf.MetricPrivacy(1.0, metric)), "bad.sfm"
    )
    done = run("report", "bad.sfm")
    assert done.code == 1
    assert "NOT PROVED" in done.text


@pytest.mark.slow
def test_at_the_end_of_a_design_of_places(run, visits_file, tmp_path):
    done = run(
        *("design", visits_file, "--epsilon", "2/km", "--spacing", "1.5 km", "--method", "table", "-o", "m.sfm"),
        *("--no-picture", "--report", "m.html", "--require", "within 1850 ft: at most 99 %"),
    )
    assert done.code == 0, done.err
    assert "The requirement 'within 1850 ft: at most 99 %' HOLDS." in done.text
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "--report m.html" in page
    assert "visits.csv" in page
    done = run(
        "report", "m.sfm", "--visits", visits_file, "-o", "again.json", "--require", "within 1 mi: at most 1 %"
    )
    assert done.code == 1
    facts = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))
    assert facts["risks"][1]["outcome"] == "fails"
    assert {each["what"] for each in facts["attacks"]} == {"point"}


def test_a_radius_without_a_unit_is_refused_before_the_design(run, visits_file, tmp_path):
    done = run("design", visits_file, "-o", "m.sfm", "--require", "within 500: at most 90 %")
    assert done.code == 1
    assert "the radius '500' has no unit" in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_at_the_end_of_a_design_of_answers(run, answers, tmp_path):
    done = run(*answers, "-o", "a.sfm", "--report", "a.json", "--require", "within 0: at most 1 %")
    assert done.code == 1
    assert "FAILS" in done.text
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["file"]["name"] == "a.sfm"
    done = run(*answers, "-o", "a.sfm", "--require", "within 0: at most 99 %")
    assert done.code == 0, done.err
    assert "HOLDS" in done.text


@pytest.mark.parametrize(
    ("more", "needed"),
    [
        (("-o", "r.pdf"), ".html"),
        (("--registry", "entry.json"), "entry.yaml"),
        (("--ledger", "none.db"), "none.db"),
        (("--require", "within 5"), "within 1850 ft"),
        (("--require", "nearly private"), "epsilon <= 0.7/km"),
        (("--require", "epsilon <= much"), "not a number"),
        (("--user", "ada"), "--visits"),
        (("-o", "nowhere/r.html"), "no folder"),
        (("--require", "within 1 m: at most 10 %"), "0: at most"),
    ],
)
def test_what_does_not_fit_is_refused(run, more, needed):
    sf.save(sf.mechanisms.randomised_response(sf.Space(["a", "b"]), 1.0), "m.sfm")
    done = run("report", "m.sfm", *more)
    assert done.code == 1
    assert needed in done.err
    assert "Traceback" not in done.err


def test_designs_for_many_have_no_single_report(run, visits_file):
    done = run("design-users", visits_file, "--report", "r.html")
    assert done.code == 2
    assert "--report" in done.err


def test_an_audit_as_a_page(run, tmp_path):
    sf.save(sf.mechanisms.randomised_response(sf.Space(["<b>a", "b"]), 1.0), "m.sfm")
    done = run(
        "audit", "m.sfm", "-o", "audit.html", "--require", "bounded-range <= 1", "--require", "epsilon <= 2"
    )
    assert done.code == 1
    page = (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert "NOT KEPT: bounded-range &lt;= 1." in page
    assert "Kept: epsilon &lt;= 2." in page.partition("<h2")[0]
    assert "The requirement &#39;epsilon &lt;= 2&#39; HOLDS" in page
    assert "<b>a" not in page
    assert "Atlas of the notions" in page
    assert run("audit", "m.sfm", "-o", "audit.pdf").code == 1


def test_an_estimate_as_a_page(run, tmp_path):
    sf.save(sf.mechanisms.randomised_response(sf.Space(["<b>a", "b"]), 1.0), "m.sfm")
    (tmp_path / "answers.csv").write_text("answer\n" + "<b>a\nb\nb\n" * 40, encoding="utf-8")
    assert run("release", "m.sfm", "answers.csv", "private.csv", "--column", "answer").code == 0
    done = run("estimate", "m.sfm", "private.csv", "--intervals", "profile", "-o", "shares.html")
    assert done.code == 0, done.err
    page = (tmp_path / "shares.html").read_text(encoding="utf-8")
    assert "<b>a" not in page
    assert "&lt;b&gt;a" in page
    assert "95 % interval" in page
    assert "nothing here is proved" in page


@pytest.mark.slow
def test_the_built_in_city_has_a_name(run, monkeypatch):
    # All visits of the city are in each of the simulated cases.
    monkeypatch.setattr("sfumato.reports.facts.attacks._DRAWS", 200)
    done = run("design", "--spacing", "2.5 km", "--method", "table", "--no-picture")
    assert "For a page to sign, add --report city.html." in done.text
    done = run("report", "city.sfm", "--visits", "city", "--frontier-time", "0", "-o", "city.json")
    assert done.code == 0, done.err
    assert "of the true point at most" in done.text
    again = report_file("city.sfm", visits="city", frontier_time=0)
    told = json.loads(Path("city.json").read_text(encoding="utf-8"))
    assert json.loads(again.json())["risks"] == told["risks"]
