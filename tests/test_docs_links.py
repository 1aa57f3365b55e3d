"""Links of the documents lead to files, headings and terms that exist, without a build of the pages."""

import re
from functools import cache
from pathlib import Path

import pytest
from docs._made import completed
from docs._made.atlas_drawing import atlas_drawing
from docs._made.notion_entries import notion_words

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "papers" / "docs").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
DEEPEST = 3
"""The deepest heading that a link may name; `myst_heading_anchors` of docs/conf.py says the same."""


@cache
def _text(path: Path) -> str:
    """Return a document with what is written from the code and without blocks of code."""
    page = completed(path.read_text(encoding="utf-8"))
    return re.sub(r"^ *```(?!\{include\}).*?^ *```", "", page, flags=re.DOTALL | re.MULTILINE)


@cache
def _anchors(path: Path) -> frozenset[str]:
    """Return the names that links to parts of a document may use."""
    text = _text(path)
    found = set(re.findall(r"^\(([\w-]+)\)=$", text, flags=re.MULTILINE))
    for marks, title in re.findall(r"^(#+) +(.+?) *$", text, flags=re.MULTILINE):
        if len(marks) <= DEEPEST:
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").lower()
            found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return frozenset(found)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(path):
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", _text(path)):
        place, _, anchor = target.partition("#")
        if place.startswith(("http:", "https:", "mailto:")):
            continue
        file = (path.parent / place).resolve() if place else path
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in _anchors(file)):
            wrong.append(target)
    assert not wrong, f"{path.name} leads nowhere: {wrong}"


def test_a_wrong_heading_would_be_found():
    assert "exit-codes" in _anchors(ROOT / "docs" / "reference" / "command-line.md")
    assert "exit-code" not in _anchors(ROOT / "docs" / "reference" / "command-line.md")
    assert "dp-to-kl" in _anchors(ROOT / "docs" / "proofs" / "atlas.md")


def test_boxes_of_the_drawing_lead_to_entries():
    places = set(re.findall(r'<a href="#([\w-]+)"', atlas_drawing()))
    assert places
    assert places == set(re.findall(r"^\(([\w-]+)\)=$", notion_words(), flags=re.MULTILINE))


def test_terms_are_in_the_glossary():
    glossary = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    terms = set(re.findall(r"^([A-Za-z][\w -]*)$", glossary.partition(":sorted:")[2], flags=re.MULTILINE))
    used = {
        (found[2] or found[1]).strip()
        for path in DOCUMENTS
        for found in re.finditer(r"\{term\}`([^`<]+)(?:<([^>]+)>)?`", path.read_text(encoding="utf-8"))
    }
    assert {term.lower() for term in used} <= {term.lower() for term in terms}
    assert len(terms) > 50


def test_pages_of_the_reference_are_listed():
    folder = ROOT / "docs" / "reference"
    listed = re.findall(r"^([a-z][\w-]*)$", (folder / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(listed) == sorted(path.stem for path in folder.glob("*.md") if path.stem != "index")
