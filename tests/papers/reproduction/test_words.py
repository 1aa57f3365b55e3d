"""The page of all papers: its tables come from the studies, when the documentation is built."""

import importlib.util
import re
from importlib import import_module
from pathlib import Path

import pytest

from sfumato_papers.reproduction import NAMES, paper_of, paper_words

DOCS = Path(__file__).parents[3] / "docs"
STUDIES = Path(__file__).parents[3] / "papers" / "src" / "sfumato_papers"


def test_every_equation_and_figure_of_every_paper_is_listed():
    words = paper_words()
    for name in NAMES:
        paper = paper_of(name)
        _, _, section = words.partition(f"### {name}\n")
        section = section.partition("\n### ")[0]
        assert paper.title in section
        for each in paper.equations:
            assert f"| `{each.call}` |" in section
            assert not each.file or f"| `{each.file}` |" in section
        for figure in paper.captions:
            assert f"| `{figure}.svg` |" in section


def test_the_documentation_puts_them_into_the_page():
    spec = importlib.util.spec_from_file_location("conf", DOCS / "conf.py")
    assert spec is not None
    assert spec.loader is not None
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    source = [(DOCS.parent / "papers" / "docs" / "index.md").read_text(encoding="utf-8")]
    asked = "<!-- papers: written here by conf.py -->"
    assert asked in source[0]
    assert paper_words() in conf.completed(source[0])
    assert asked not in conf.completed(source[0])
    assert conf.completed("nothing") == "nothing"


@pytest.mark.parametrize("name", NAMES)
def test_an_equation_points_to_what_its_file_is_made_with(name):
    """The call is public, and the study itself uses it where a file of the run is named."""
    paper = paper_of(name)
    folder = STUDIES / paper.claims.__module__.split(".")[1]
    texts = (path.read_text(encoding="utf-8") for path in folder.rglob("*.py") if path.name != "__init__.py")
    sources = re.sub(r'"[^"]*"', "", " ".join(texts))  # the equations themselves are texts
    assert len({(each.number, each.topic) for each in paper.equations}) == len(paper.equations)
    for each in paper.equations:
        room, _, call = each.call.rpartition(".")
        assert call in import_module(re.sub(r"^sf\b", "sfumato", room)).__all__, each.call
        assert not each.file or re.search(rf"\b{call}\b", sources), f"{each.number}: {each.call}"


def test_equations_point_to_what_the_papers_number():
    """By the papers' own numbers: privacy games (10) and section 9.2, AIPO's steps, reports that add up."""
    calls = {
        (name, each.number): each.call for name in NAMES for each in paper_of(name).equations
    }  # the last of each number
    assert calls["privacy-games", "(10), (22)"] == "sf.core.MetricPrivacy"
    assert ("privacy-games", "(2), (10)") not in calls  # (2) is the mechanism itself
    assert calls["privacy-games", "Section 9.2"] == "sf.attacks.optimal"
    assert calls["follow-ups", "AIPO, steps 1 to 3"] == "sfumato_papers.follow_ups.anchor_noise"
    assert calls["repeated-releases", "Composition"] == "sf.ledgers.Scheme"
