"""Configuration of the documentation."""

from sfumato import __version__

project = "sfumato"
author = "The sfumato developers"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"sfumato {__version__}"
exclude_patterns = ["_build"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_use_ivar = True
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]
