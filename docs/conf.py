"""Configuration of the documentation."""

import re
from typing import Any

from sfumato import __version__
from sfumato.studies.reproduction import paper_words

project = "sfumato"
author = "The sfumato developers"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_title = f"sfumato {__version__}"
exclude_patterns = ["_build"]
autodoc_typehints = "none"
napoleon_attr_annotations = False
autodoc_member_order = "bysource"
napoleon_use_ivar = True
myst_heading_anchors = 3
PAPERS = "<!-- papers: written here by conf.py -->\n"
suppress_warnings = ["myst.xref_missing"]


def keep_absolute_values(*event: Any) -> None:
    """Escape bars, which mean absolute values in docstrings and substitutions in reStructuredText."""
    lines: list[str] = event[-1]
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(``.*?``)", line)
            lines[i] = "".join(part if part.startswith("``") else part.replace("|", r"\|") for part in parts)


def list_papers(_app: Any, _page: str, source: list[str]) -> None:
    """Write the papers that can be reproduced, from the code, where a page asks for them."""
    if PAPERS in source[0]:
        source[0] = source[0].replace(PAPERS, paper_words())


def setup(app: Any) -> None:
    """Let Sphinx call them."""
    app.connect("autodoc-process-docstring", keep_absolute_values)
    app.connect("source-read", list_papers)
