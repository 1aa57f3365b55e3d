"""The README as the package index shows it: no link in it leads nowhere.

In the repository links and pictures are relative. The index knows no other file, so they become addresses in the
repository as soon as ``[project.urls]`` names one (``Repository``), in GitHub's form; until then links are plain
words and pictures are left out. Hatchling loads this file by its path, so it imports nothing of its own folder.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")
"""A relative link or picture: an exclamation mark or nothing, its words, and its target."""


class IndexPage(MetadataHookInterface):
    """Gives the index the README of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README to the metadata of the project."""
        root = Path(self.root)
        (version,) = re.findall(r'__version__ = "(.+)"', (root / "src/sfumato/_version.py").read_text("utf-8"))
        address = metadata.get("urls", {}).get("Repository", "")
        text = for_index((root / "README.md").read_text("utf-8"), address, version)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


CODE = re.compile(r"(^```.*?^```$|^    .*?$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
"""Code, in which nothing is a link."""


def for_index(text: str, address: str, version: str) -> str:
    """Return a README whose relative links and pictures are addresses, or plain words and nothing.

    Args:
        text: The README.
        address: The address of the repository; "" where there is none.
        version: The version, whose tag has the files; those of a development version are on the branch ``main``.
    """
    state = "main" if ".dev" in version else f"v{version}"

    def replaced(found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        if not address:
            return "" if picture else words
        return f"{picture}[{words}]({address.rstrip('/')}/{'raw' if picture else 'blob'}/{state}/{target})"

    parts = CODE.split(text)
    parts[::2] = [re.sub(r"\n{3,}", "\n\n", LINK.sub(replaced, part)) for part in parts[::2]]
    return "".join(parts)
