"""Figures that are drawn a second time for a narrow screen."""

import re

from .conftest import report_of

_SIZE = re.compile(r'viewBox="0 0 (\S+) (\S+)"')


def test_the_atlas_stands_in_one_column_on_a_phone():
    (figure,) = next(
        each.figures for each in report_of("numbers").page.sections if each.title.startswith("Every notion")
    )
    sizes = [tuple(map(float, _SIZE.findall(svg)[0])) for svg in (figure.svg, figure.narrow)]
    (wide, low), (narrow, high) = sizes
    assert narrow < 330 < 900 < wide
    assert low < high
    boxes = [sorted(re.findall(r">([^<]+)</text>", svg)) for svg in (figure.svg, figure.narrow)]
    assert boxes[0] == boxes[1]
    at = [float(y) for y in re.findall(r'<rect x="\S+" y="(\S+)"', figure.narrow)]
    assert len(set(at)) == len(at)  # none over another
    assert max(at) + 38 <= high


def test_a_page_shows_one_of_the_two_drawings():
    page = report_of("numbers").html()
    assert page.count('<div class="narrow">') == 1
    ids = re.findall(r'id="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    assert re.search(r"@media screen and \(max-width: 34rem\) \{\s*\.broad \{ display: none; \}", page)
