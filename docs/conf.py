"""Configuration of the documentation."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from _made import completed

from sfumato import __version__

project = "sfumato"
author = "The sfumato developers"
release = __version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinxcontrib.bibtex"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_js_files = ["here.js"]
html_title = f"sfumato {__version__}"
html_copy_source = False
html_show_copyright = False
html_split_index = True
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates"]
nitpicky = True
nitpick_ignore = [("py:class", "collections.abc.Callable")]  # the pages of Python are not at hand
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
napoleon_attr_annotations = False
autodoc_member_order = "bysource"
napoleon_use_ivar = True
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_in_temp = True  # tutorials write files
COPIED = {"papers/docs": "papers", "benchmarks": "benchmarks"}
COLON = "\ue000"  # no text holds this character
UNIT = re.compile(r"(\d) (?=(?:%|km|m|cm|mm|ft)(?![\w(/=]))")


def keep_absolute_values(*event: Any) -> None:
    """Escape bars, which mean absolute values in docstrings and substitutions in reStructuredText."""
    lines: list[str] = event[-1]
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(``.*?``)", line)
            lines[i] = "".join(part if part.startswith("``") else part.replace("|", r"\|") for part in parts)


def keep_colons(*event: Any) -> None:
    """Hide the colons of the first line of a value, before which napoleon would read a type."""
    kind, lines = event[1], event[-1]
    if kind in ("attribute", "data", "property"):
        first = next((at for at, line in enumerate(lines) if line), None)
        lines[:] = [line.replace(":", COLON) if at == first else line for at, line in enumerate(lines)]


def show_colons(*event: Any) -> None:
    """Show them again."""
    event[-1][:] = [line.replace(COLON, ":") for line in event[-1]]


def leave_out_first_line(*event: Any) -> None:
    """Leave the first line of a room's docstring out: its page begins with the same, and with links."""
    kind, lines = event[1], event[-1]
    if kind == "module":
        lines[:] = lines[next((at for at, line in enumerate(lines) if not line), len(lines)) :]


def leave_out_fields(*event: Any) -> bool | None:
    """Leave the fields of named tuples out: their class describes them, and Python only numbers them."""
    return True if type(event[3]).__name__ == "_tuplegetter" else None


def link_name(app: Any, env: Any, node: Any, shown: Any) -> Any:
    """Lead from a name in single backticks to the one thing whose dotted name ends so; arguments lead nowhere.

    A bare name is that of a field or method of its own class alone: other classes may have one of the same name.
    """
    if node.get("reftype") != "obj":
        return None
    name = node["reftarget"].removeprefix("sf.").removeprefix("sfumato.")
    found = [
        (dotted, entry)
        for dotted, entry in env.domains["py"].objects.items()
        if dotted.endswith(f".{name}") and not entry.aliased and entry.objtype != "module"
    ]
    if len(found) != 1:
        return shown
    from sphinx.util.nodes import make_refnode  # tests read this file without Sphinx

    ((dotted, entry),) = found
    own = node.get("py:class") or ""
    member = entry.objtype in ("attribute", "property", "method") and "." not in name
    if member and dotted.rpartition(".")[0].rpartition(".")[2] != own.rpartition(".")[2]:
        return shown
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, shown, dotted)


def copy_pages(app: Any, _config: Any) -> None:
    """Copy pages that lie elsewhere in the repository into the site; git ignores the copies."""
    for folder, name in COPIED.items():
        copies = Path(app.srcdir) / name
        shutil.rmtree(copies, ignore_errors=True)
        copies.mkdir()
        for page in (Path(app.srcdir).parent / folder).glob("*.md"):
            text = re.sub(r"\]\((?:\.\./)+docs/", "](../", page.read_text(encoding="utf-8"))
            (copies / page.name).write_text(text, encoding="utf-8")


def complete(app: Any, _page: str, source: list[str]) -> None:
    """Write what a page takes from the code, where it asks for it; such a page is read anew by every build."""
    text = completed(source[0])
    for folder, name in COPIED.items():
        text = re.sub(rf"\]\(((?:\.\./)*)\.\./{folder}/", rf"](\1{name}/", text)
    if text != source[0]:
        source[0] = text
        app.env.note_reread()


def link_proofs(_app: Any, _path: Any, _page: str, content: list[str]) -> None:
    """Lead from the folder of proofs, which the README names, to the page that lists them."""
    content[0] = (
        content[0].replace("](docs/proofs)", "](docs/proofs/index.md)").replace("](papers/docs/", "](docs/papers/")
    )


def keep_units(_app: Any, tree: Any) -> None:
    """Keep a number and its unit on one line."""
    from docutils import nodes  # tests read this file without Sphinx

    for text in list(tree.findall(nodes.Text)):
        kept = UNIT.sub("\\1\u00a0", text)
        if kept != text and not isinstance(text.parent, nodes.literal | nodes.literal_block | nodes.raw):
            text.parent.replace(text, nodes.Text(kept))


def leave_out_long_index(app: Any, _error: Any) -> None:
    """Remove the index on one page: its letters have pages of their own."""
    Path(app.outdir, "genindex-all.html").unlink(missing_ok=True)


def setup(app: Any) -> None:
    """Let Sphinx call them."""
    app.connect("config-inited", copy_pages)
    app.connect("autodoc-process-docstring", leave_out_first_line)
    app.connect("autodoc-skip-member", leave_out_fields)
    app.connect("autodoc-process-docstring", keep_absolute_values)
    app.connect("autodoc-process-docstring", keep_colons, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", show_colons, priority=600)  # after it
    app.connect("missing-reference", link_name)
    app.connect("source-read", complete)
    app.connect("include-read", link_proofs)
    app.connect("doctree-read", keep_units)
    app.connect("build-finished", leave_out_long_index)
