"""The page of all papers: its tables come from the studies, when the documentation is built."""

import importlib.util
from pathlib import Path

from sfumato.studies.reproduction import NAMES, paper_of, paper_words

DOCS = Path(__file__).parents[3] / "docs"


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
    source = [(DOCS / "reproduce.md").read_text(encoding="utf-8")]
    asked = "<!-- papers: written here by conf.py -->"
    assert asked in source[0]
    assert paper_words() in conf.completed(source[0])
    assert asked not in conf.completed(source[0])
    assert conf.completed("nothing") == "nothing"
