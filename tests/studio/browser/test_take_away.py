"""The third step: the mechanism file, the report, the script and the picture."""

import json

import pytest

import sfumato as sf

from .visitor import LONGEST

pytestmark = pytest.mark.slow

COAST = 'stroke="#6f7f8c"'


def downloaded(visitor, role, name, path):
    with visitor.page.expect_download(timeout=LONGEST) as download:
        visitor.page.get_by_role(role, name=name, exact=True).click()
    download.value.save_as(path)
    return path


@pytest.mark.parametrize("dark", [False, True])
def test_the_level_shown_is_taken_along(visit, city, tmp_path, dark):
    visitor = visit(workspace=city, view="choose", dark=dark)
    visitor.read("Proved")
    visitor.slider.press("Home")
    headline = visitor.studio.ask("GET", f"/workspaces/{city}/preview?level=0")["shown"]["headline"]
    visitor.turn("Take away")
    assert visitor.headline() == headline
    visitor.meets_no_barrier()
    mechanism = sf.load(downloaded(visitor, "link", "Mechanism file", tmp_path / "mechanism.sfm"))
    assert isinstance(mechanism, sf.Mechanism)
    assert mechanism.matrix.shape[0] >= 20
    script = downloaded(visitor, "link", "Script", tmp_path / "script.py").read_text(encoding="utf-8")
    compile(script, "script.py", "exec")
    visitor.page.locator("a[download='picture.svg'][href*=GSHHG]").wait_for()  # the map of the world has come
    picture = downloaded(visitor, "link", "Picture (SVG)", tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert headline.split()[0] in picture
    for part in (COAST, ">Chinatown</text>", "© OpenStreetMap contributors"):
        assert part in picture
    report = downloaded(visitor, "button", "Report", tmp_path / "report.html").read_text(encoding="utf-8")
    assert "</html>" in report
    facts = downloaded(visitor, "button", "Report as data", tmp_path / "report.json")
    assert json.loads(facts.read_text(encoding="utf-8"))
