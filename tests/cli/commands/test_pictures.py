"""Pictures of the command line: where they go, in which format, and on which outline."""

import json

import pytest

from tests.thinned import thinned

FAST = ("--cells", "4x3", "--epsilon", "1/km", "-o", "m.sfm")
SHORE = {
    "type": "Polygon",
    "coordinates": [[[-122.6, 37.6], [-122.3, 37.6], [-122.3, 37.9], [-122.6, 37.9], [-122.6, 37.6]]],
}


@pytest.mark.parametrize(
    ("name", "start"), thinned([("a.svg", b"<?xml"), ("a.pdf", b"%PDF"), ("a.PNG", b"\x89PNG")], 3)
)
def test_a_picture_has_the_format_of_its_name(run, tmp_path, name, start):
    done = run("design", *FAST, "--figure", name)
    assert done.code == 0
    assert name in done.out
    assert (tmp_path / name).read_bytes().startswith(start)
    assert not (tmp_path / "m.png").exists()


@pytest.mark.parametrize("command", ["design", "sweep", "compare"])
def test_other_formats_are_refused_before_the_work(run, tmp_path, command):
    epsilons = ("--epsilons", "1/km") if command == "sweep" else ()
    done = run(command, *epsilons, "--figure", "a.jpg")
    assert done.code == 1
    assert "'a.jpg' does not end in .png, .svg or .pdf" in done.err
    assert "a.png" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_picture_that_is_not_wanted_is_not_asked_for(run):
    for option in (("--figure", "a.png"), ("--outline", "o.geojson")):
        done = run("design", *FAST, *option, "--no-picture")
        assert done.code == 1
        assert f"{option[0]} was given with --no-picture" in done.err


@pytest.mark.slow
def test_a_dark_picture_has_dark_paper(run, tmp_path):
    assert run("design", *FAST, "--figure", "a.svg", "--dark").code == 0
    assert "#15181d" in (tmp_path / "a.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("design", *FAST, "--no-picture"), "--dark was given with --no-picture"),
        (("sweep", "--epsilons", "1/km", "--no-picture"), "--dark was given with --no-picture"),
        (("compare",), "no figure is drawn"),
        (("design-column", "t.csv", "--column", "age", "--epsilon", "1"), "--dark was given, but no figure"),
    ],
)
def test_dark_without_a_picture_is_refused(run, tmp_path, words, said):
    (tmp_path / "t.csv").write_text("age\na\nb\n")
    done = run(*words, "--dark")
    assert done.code == 1
    assert said in done.err


@pytest.mark.slow
def test_the_built_in_city_has_its_shore_and_names(run, tmp_path):
    assert run("design", *FAST, "--figure", "a.svg").code == 0
    assert ">San Francisco</text>" in (tmp_path / "a.svg").read_text()


@pytest.mark.slow
def test_a_map_is_drawn_on_the_outline_of_a_file(run, tmp_path):
    feature = {"type": "Feature", "properties": {"name": "Isle"}, "geometry": SHORE}
    (tmp_path / "o.geojson").write_text(json.dumps(feature))
    done = run("design", *FAST, "--outline", "o.geojson", "--figure", "a.svg")
    assert done.code == 0
    text = (tmp_path / "a.svg").read_text()
    assert ">Isle</text>" in text
    assert ">Old Town</text>" not in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("PK", "is not GeoJSON"),
        (
            json.dumps({"type": "LineString", "coordinates": [[9e5, 6e6], [1, 2]]}),
            "longitude and a latitude",
        ),
        (json.dumps({"type": "LineString", "coordinates": [[2, 48], [3, 49]]}), "lies elsewhere"),
    ],
)
def test_a_wrong_outline_is_refused_before_the_work(run, tmp_path, content, said):
    (tmp_path / "o.geojson").write_text(content)
    done = run("design", *FAST, "--outline", "o.geojson")
    assert done.code == 1
    assert said in done.err
    assert not (tmp_path / "m.sfm").exists()


def test_an_outline_is_not_replaced(run, tmp_path):
    (tmp_path / "m.sfm").write_text("{}")
    done = run("design", *FAST, "--outline", "m.sfm")
    assert done.code == 1
    assert "would replace a file that is read" in done.err


@pytest.mark.parametrize(
    "extra",
    [("design-users", "--figure", "a.png"), ("design-column", "--column", "area", "--outline", "o.geojson")],
)
def test_options_of_one_map_are_refused_elsewhere(run, extra):
    done = run(*extra, "--epsilon", "1")
    assert done.code == 2
    assert "No such option" in done.err


AGES = ("design-column", "t.csv", "--column", "age", "--numbers", "1..3", "--epsilon", "1", "-o", "m.sfm")


@pytest.fixture
def ages(tmp_path):
    (tmp_path / "t.csv").write_text("age,sex\n1,f\n2,m\n3,f\n")


@pytest.mark.slow
def test_bars_of_a_column_are_drawn_where_they_are_asked_for(run, tmp_path, ages):
    done = run(*AGES, "--figure", "bars.svg", "--dark")
    assert done.code == 0, done.err
    assert "Written: m.sfm, m.md, bars.svg" in done.out
    text = (tmp_path / "bars.svg").read_text(encoding="utf-8")
    assert "What they believe" in text
    assert "#15181d" in text
    assert run(*AGES).code == 0
    assert not (tmp_path / "m.png").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--figure", "bars.gif"), "does not end in .png, .svg or .pdf"),
        (("--figure", "bars.png", "--no-picture"), "--figure was given with --no-picture"),
        (("--figure", "t.csv"), "does not end in"),
        (("--figure", "bars.png", "--column", "sex", "--labels", "sex=f,m"), "--figure is for one mechanism"),
        (("--figure", "bars.png", "--numbers", "1..200"), "bars are drawn for 120 at most"),
    ],
)
def test_bars_that_cannot_be_drawn_are_refused_before_the_work(run, tmp_path, ages, words, said):
    asked = [*AGES, *words]
    if "--labels" in words:
        asked[asked.index("1..3")] = "age=1..3"
        asked[asked.index("m.sfm")] = "folder"
    if words.count("--numbers"):
        del asked[4:6]
    done = run(*asked)
    assert done.code == 1
    assert said in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]
