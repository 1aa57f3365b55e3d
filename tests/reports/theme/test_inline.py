"""Figures in a page: text, ids of their own, the page's colours, and nothing from elsewhere."""

import re
from xml.etree import ElementTree

import pytest

import sfumato as sf
from sfumato.reports import DARK, LIGHT, as_svg, style_sheet
from sfumato.reports.theme import blank


def drawn(label="loss (km)"):
    figure = blank(4, 3)
    axes = figure.subplots()
    axes.fill_between([0, 1], [1, 2], color=LIGHT.series[2], alpha=0.3, hatch="//")
    axes.plot([1, 2], [3, 4], color=LIGHT.series[0], marker="o")
    axes.set_xlabel(label)
    return figure


def test_it_is_whole_and_refers_only_to_itself():
    text = as_svg(drawn(), title="Loss", description="What it costs.")
    root = ElementTree.fromstring(text)
    assert (root.tag, root.get("role"), root.get("width"), root.get("height")) == ("svg", "img", None, None)
    assert [child.text for child in root[:2]] == ["Loss", "What it costs."]
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    assert set(root.get("aria-labelledby", "").split()) <= set(ids)
    used = re.findall(r"url\(#([^)]+)\)", text) + [
        each.get("href", "")[1:] for each in root.iter() if each.get("href", "").startswith("#")
    ]
    assert used
    assert set(used) <= set(ids)
    assert not re.search(r"https?:|<script|@import|<style|<metadata|javascript", text)
    assert "loss (km)" in [each.text for each in root.iter("text")]


@pytest.mark.slow
def test_two_figures_on_a_page_share_no_id():
    one, two = as_svg(drawn(), title="a", description=""), as_svg(drawn(), title="b", description="")
    found = [set(re.findall(r' id="([^"]+)"', text)) for text in (one, two)]
    assert found[0]
    assert not found[0] & found[1]
    assert one == as_svg(drawn(), title="a", description="")


def test_colours_are_those_of_the_page():
    text = as_svg(drawn(), title="a", description="")
    for name in ("ink", "paper", "series-1", "series-3"):
        assert f"var(--{name}, {LIGHT.colours[name]})" in text
    assert not re.search(r"(?<!, )#(?:000000|ffffff)", text)
    sheet = style_sheet()
    for theme in (LIGHT, DARK):
        assert all(f"--{name}: {colour}" in sheet for name, colour in theme.colours.items())
    assert sheet.count("{") == sheet.count("}")


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", '" onload="x', "]]>&lt;", "\x00\x1b[31m", "$x^2$"]
)
def test_words_of_others_stay_words(hostile):
    label = sf.escaping.figure(hostile)
    root = ElementTree.fromstring(as_svg(drawn(label), title=hostile, description=hostile))
    assert not list(root.iter("script"))
    assert all(not key.startswith("on") for each in root.iter() for key in each.attrib)
    assert root[0].text == sf.escaping.plain(hostile)
