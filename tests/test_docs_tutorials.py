"""Tutorials and the gallery: each runs from top to bottom in an empty folder, is short and leads on to guides."""

import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

from .test_prose import CODE, PATTERN, prose

DOCS = Path(__file__).parents[1] / "docs"
TUTORIALS = tuple(
    f"tutorials/{name}" for name in ("choose-epsilon", "protect-a-table", "share-my-day", "study-a-mechanism")
)
CELL = re.compile(r"^```\{code-cell\}\n(?:---\n.*?^---\n)?(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
MAGIC = re.compile(r"^%.*$", flags=re.MULTILINE)
MOST_WORDS = {**dict.fromkeys(TUTORIALS, 900), "gallery": 500}
MOST_ENTRIES, LONGEST_ENTRY = 12, 4  # of the side bar: entries, and words of one


@pytest.fixture
def canvas():
    """Figures that need no window, and none that stay open."""
    matplotlib.use("Agg")
    yield
    plt.close("all")


def run_cells(page: Path) -> None:
    """Run the cells of a page in one namespace; an error names the page and the line."""
    text = page.read_text(encoding="utf-8")
    known: dict[str, object] = {"__name__": "__page__"}
    for match in CELL.finditer(text):
        before = "\n" * text.count("\n", 0, match.start(1))
        exec(compile(before + MAGIC.sub("", match[1]), page.name, "exec"), known)


@pytest.mark.parametrize(
    "name",
    [
        "tutorials/share-my-day",
        "tutorials/study-a-mechanism",
        "gallery",
        *(  # ten designs; a design of medians and its report
            pytest.param(f"tutorials/{name}", marks=pytest.mark.slow)
            for name in ("choose-epsilon", "protect-a-table")
        ),
    ],
)
def test_the_notebook_runs(name, tmp_path, monkeypatch, canvas):
    monkeypatch.chdir(tmp_path)
    run_cells(DOCS / f"{name}.md")


@pytest.mark.parametrize("name", MOST_WORDS)
def test_the_notebook_is_short(name):
    words = (PATTERN.findall(CODE.sub(" ", each.text)) for each in prose(DOCS / f"{name}.md"))
    assert sum(map(len, words)) <= MOST_WORDS[name]


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_ends_with_guides(name):
    _, _, end = (DOCS / f"{name}.md").read_text(encoding="utf-8").partition("\n## Next\n")
    assert len(re.findall(r"^- \[.+\]\(\.\./how-to/", end, flags=re.MULTILINE)) >= 3


def test_every_tutorial_is_listed():
    listed = re.findall(r"^([a-z-]+)$", (DOCS / "tutorials" / "index.md").read_text("utf-8"), flags=re.MULTILINE)
    assert {f"tutorials/{name}" for name in listed} == set(TUTORIALS)


def test_the_side_bar_is_short():
    front = (DOCS / "index.md").read_text(encoding="utf-8")
    entries = front.rpartition(":hidden:\n\n")[2].removesuffix("```\n").split()
    assert entries[0] == "tutorials/index"
    assert entries.index("gallery") == entries.index("how-to/index") + 1
    assert len(entries) <= MOST_ENTRIES
    copies = {"papers/index": "../papers/docs/index", "benchmarks/index": "../benchmarks/index"}
    for entry in entries:
        path = DOCS / f"{copies.get(entry, entry)}.md"
        path = DOCS.parent / "CONTRIBUTING.md" if entry == "CONTRIBUTING" else path
        (title, *_) = re.findall(r"^# (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert len(title.split()) <= LONGEST_ENTRY, title
