"""The page: one sound file that loads nothing, says nothing that a label smuggled in, and is well built."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from html.parser import HTMLParser

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.files import MechanismFile
from sfumato.mechanisms.tupling import Tupling
from sfumato.releases import read_mark
from sfumato.reports.document import Origin, OtherDesigns, report_file
from sfumato.reports.document import report as drawn_report
from sfumato.reports.document.figures import map_figures
from sfumato.reports.facts.mechanism import radius_of

from .conftest import FEW, KINDS, held, report_of, report_without_drawings, visits_of, without_drawings

VOID = {"meta", "link", "br", "img", "input", "hr"}
report = partial(report_without_drawings, designs=OtherDesigns(0))
"""Without designs of other epsilons, which have tests of their own, and without drawings."""
DRAWN = ("numbers", "unused", "one")
"""Files whose bars differ in kind; maps are drawn with visits."""

FRONTIER = "What more or less privacy would cost"

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style><iframe src='http://evil.example'>",
    "\u202eesrever",
    "=1+1",
    "a\nPROVED: all",
    "{{ 7 * 7 }}{% raw %}",
    "x" * 5000,
    "\x1b[2J",
)


class Outline(HTMLParser):
    """Tags, attributes and headings of a page; fails where tags do not close."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.headings, self.ids, self.words = [], [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *each) for each in attributes]
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID and (self.get_starttag_text() or "  ")[-2] != "/":
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_endtag(self, tag):
        if tag not in VOID and tag in self.open:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style",):
            self.words.append(data)


def outline(page):
    found = Outline()
    found.feed(page)
    found.close()
    assert found.open == []
    return found


def sound(page):
    """Hold a page against what every page must be."""
    found = outline(page)
    assert len(page.encode()) < 2_000_000
    assert not {"script", "iframe", "object", "embed", "link", "base", "form"} & set(found.tags)
    assert not [each for each in found.attributes if each[1].startswith("on")]
    for tag, name, value in found.attributes:
        if name in ("href", "src", "xlink:href", "action", "data"):
            assert value.startswith(("#", "data:image/png;base64,")), (tag, name, value)
    assert "@import" not in page
    assert not re.search(r"url\((?!#|[\"']?#)", page)
    assert found.headings[0] == 1
    assert set(found.headings[1:]) <= {2}
    assert len(found.ids) == len(set(found.ids))
    assert found.tags.count("main") == 1
    for figure in re.findall(r"<svg[^>]*>", page):
        assert 'role="img"' in figure
        assert "aria-labelledby" in figure
    named = {value for _, name, value in found.attributes if name in ("aria-labelledby",)}
    assert {part for each in named for part in each.split()} <= set(found.ids)
    assert ("html", "lang", "en") in found.attributes
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_has_a_sound_page(kind):
    found = report_of(kind)
    if kind in DRAWN:
        found = replace(found, maps=map_figures(held(kind)))
    sound(found.html())
    json.loads(found.json())


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", ["cells", "points", "noise"])
def test_pages_with_visits(kind):
    maps = map_figures(held(kind), None, visits_of(kind))
    assert maps
    found = sound(replace(report_of(kind, visits=True), maps=maps).html())
    assert "svg" in found.tags


@pytest.mark.slow
def test_hostile_labels_are_only_text_in_drawings():
    space = sf.Space(HOSTILE)
    coin = sf.mechanisms.randomised_response(space, 1.0)
    found = drawn_report(MechanismFile(coin, sf.Prior.uniform(space)), designs=OtherDesigns(0))
    (figure,) = found.maps
    assert figure.svg.count("{{ 7 * 7 }}") == 3  # in each drawing
    page = found.html()
    sound(page)
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "<script>" not in page


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_only_text(name, tmp_path):
    labels = [name, "b", f"c{name}"]
    space = sf.Space(labels)
    metric = sf.Metric(1.0 - np.eye(3), name=name, triangle=True)
    mechanism = sf.Mechanism([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]], space, space)
    file = MechanismFile(
        mechanism,
        sf.Prior.uniform(space),
        metric,
        sf.MetricPrivacy(1.0, metric),
        {name[:99]: name, "proved": True},
    )
    found = report(file, origin=Origin(source=name, designed=f"sfumato design {name!r}"), remarks=[name])
    page = found.html()
    text = " ".join(sound(page).words)
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "{{" not in name or name in text
    assert not re.search(r"(?m)^PROVED: all", text)
    assert "<script>" not in page
    json.loads(found.json())


def test_the_page_says_what_the_facts_say():
    page = report_of("points", visits=True).page
    words = " ".join(" ".join(sound(page.html()).words).split())
    for section in page.sections:
        for sentence in (*section.sentences, *section.items):
            assert " ".join(sentence.split()) in words
    for needed in ("Signature", "Role", "Date", "Name"):
        assert needed in words


def test_prints_and_follows_the_colours_of_the_reader():
    page = report_of("categories").html()
    assert "@media print" in page
    assert "prefers-color-scheme: dark" in page
    assert "Content-Security-Policy" in page
    assert "width=device-width" in page


@without_drawings()
def test_the_report_is_made_again_by_its_script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sf.files.save(held("numbers"), "it's mine.sfm")
    first = report_file("it's mine.sfm", require=["within 1 year: at most 90 %"], source="a survey")
    assert "sfumato report" in first.facts.file.command
    exec(compile(first.facts.file.script, "script", "exec"), {})
    again = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    before = json.loads(first.json())
    for each in (again, before):
        each["file"].pop("written")
    assert again == before
    assert len(again["file"]["sha256"]) == 64
    assert (tmp_path / "report.html").stat().st_size > 1000
    with pytest.raises(InputError, match="neither"):
        first.save("report.pdf")


@without_drawings()
def test_the_report_names_the_mark_of_the_tables_that_its_mechanism_released(tmp_path):
    sf.files.save(held("numbers"), tmp_path / "mine.sfm")
    (tmp_path / "true.csv").write_text("age\n0\n1\n")
    found = report_file(tmp_path / "mine.sfm")
    sf.release(sf.load(tmp_path / "mine.sfm"), tmp_path / "true.csv", tmp_path / "private.parquet", column="age")
    mark = read_mark(tmp_path / "private.parquet")
    assert mark is not None
    assert list(mark.mechanisms) == [json.loads(found.json())["file"]["mark"]]
    assert mark.mechanisms[0] in found.html()


def test_the_date_is_the_one_given():
    when = datetime(2026, 5, 4, 12, tzinfo=UTC)
    assert report(held("categories"), when=when).facts.file.written == "2026-05-04T12:00:00+00:00"


@pytest.mark.slow
def test_designs_have_reports():
    space = sf.Space.numbers(range(3), unit="year")
    metric = space.metric("absolute")
    made = sf.design(sf.Prior.uniform(space), loss=metric, guarantees=sf.MetricPrivacy("1/year", metric))
    assert report(made).facts.promises[0].holds
    noise = sf.design(
        sf.Prior.from_visits(lattice := sf.Lattice.covering(FEW, "2 km"), FEW),
        loss=lattice.loss(FEW),
        guarantees=sf.CoordinatePrivacy("2/km"),
        medians=FEW,
        method="noise",
    )
    assert report(noise, visits=FEW).facts.subject.kind == "noise"


@pytest.mark.slow
def test_a_sweep_is_drawn_and_not_believed(tmp_path):
    (tmp_path / "swept.csv").write_text("prior,epsilon,loss\nall,1,0.9\nall,2,0.4\nall,nan,\n", encoding="utf-8")
    found = report(held("cells"), sweep=tmp_path / "swept.csv")
    assert [each.this for each in found.facts.frontier].count(True) == 1
    (section,) = (each for each in found.page.sections if each.title == FRONTIER)
    said = " ".join(section.sentences)
    assert "Nothing here proves them" in said
    (table,) = section.tables
    assert table.headings[1] == "loss, at most, as the table states it"
    assert ("2/km", "400 m") in table.rows
    assert "smaller epsilon" not in said
    sound(found.html())
    (tmp_path / "empty.csv").write_text("epsilon,loss\n,\n", encoding="utf-8")
    with pytest.raises(DataError, match="holds no designs"):
        report(held("cells"), sweep=tmp_path / "empty.csv")
    for row in ("-3,1", "0,1", "1,-4"):
        (tmp_path / "none.csv").write_text(f"epsilon,loss\n{row}\n", encoding="utf-8")
        with pytest.raises(DataError, match="no design has"):
            report(held("cells"), sweep=tmp_path / "none.csv")


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("row", "possible"), [("0.01,0.0001", False), ("1e3,0.0001", True), ("0.01,1e3", True)])
def test_a_table_of_another_design_is_found_out(tmp_path, row, possible):
    (tmp_path / "swept.csv").write_text(f"epsilon,loss\n{row}\n", encoding="utf-8")
    found = report(held("cells"), sweep=tmp_path / "swept.csv")
    (section,) = (each for each in found.page.sections if each.title == FRONTIER)
    said = " ".join(section.sentences)
    assert ("or it is wrong" not in said) == possible


def test_reports_among_dummies_say_what_a_tuple_guarantees():
    inner = sf.Mechanism([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
    tupling = Tupling(inner, 3, [0.25] * 4)
    prior = sf.Prior.uniform(inner.secrets)
    found = report(MechanismFile(tupling, prior))
    section = next(each for each in found.page.sections if each.title == "Reports among dummies")
    text = " ".join(section.sentences)
    assert "A tuple has 4 reports in any order" in text
    hit = sum(max(column) for column in tupling.channel().matrix.T.tolist()) / 2
    (shown,) = re.findall(r"From a tuple instead of one report[^%]* at most ([\d.]+) % of the time", text)
    assert float(shown) / 100 >= hit - 1e-12
    assert float(shown) / 100 <= hit + 0.01
    assert found.outcome.value == "holds"
    assert json.loads(found.json())["tuples"]["queries"] == 4


def test_a_tuple_of_places_has_no_error_radius():
    single = held("cells")
    tupling = Tupling(single.mechanism, 2, np.full(single.mechanism.shape[1], 1 / single.mechanism.shape[1]))
    assert radius_of(single) is not None
    assert radius_of(MechanismFile(tupling, single.prior)) is None


@pytest.mark.parametrize(
    "text",
    [
        "within 5: 10 %",
        "within: at most 5 %",
        "within 5 m at most 4 %",
        "within 5 m: at most 101 %",
        "",
        "epsilon at most 1",
    ],
)
def test_requirements_of_another_form_are_refused(text):
    with pytest.raises(InputError):
        report(held("categories"), require=[text])


def test_a_radius_is_never_written_larger_than_it_is():
    """A proof for 563.6 m is none for 564 m."""
    texts = ["within 563.6 m: at most 90 %", "within 1850 ft: at most 90 %"]
    said = report(held("points"), require=texts).html()
    assert "within 563.6 m of the true point" in said
    assert "within 1850 ft (563.88 m) of the true point" in said
    assert "564 m" not in said


@pytest.mark.slow
def test_radii_that_fit_no_secret_are_refused():
    for kind, text in (
        ("categories", "within 5 m: at most 10 %"),
        ("numbers", "within 5 m: at most 10 %"),
        ("numbers", "within -1 year: at most 10 %"),
        ("points", "within 0 m: at most 10 %"),
        ("noise", "within 5 year: at most 10 %"),
    ):
        with pytest.raises(InputError):
            report(held(kind), require=[text])
