"""What the wheel and the sdist must hold, and must not."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections.abc import Collection
from email import message_from_string
from email.message import Message
from pathlib import Path, PurePosixPath

from . import ROOT

MOST_BYTES = 4 * 2**20
"""A wheel above this holds something that nobody meant to publish."""

_PAGE = "sfumato/studio/page"
NEEDED = ("sfumato/py.typed", "sfumato/__init__.pyi", f"{_PAGE}/index.html", f"{_PAGE}/licences.txt")
ALLOWED = {".py", ".pyi", ".typed", ".html", ".css", ".js", ".mjs", ".txt"}
"""The kinds of files of the package: no data, no pictures, no maps of compiled code."""

SHIPPED = (
    *("pyproject.toml", "uv.lock", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md"),
    *(
        "conftest.py",
        "tests/conftest.py",
        "docs/index.md",
        "papers/pyproject.toml",
        "studio/build.py",
        "release/__main__.py",
        "release/index_page.py",
        ".ci/run",
    ),
)
"""Some files of each folder of the sdist: all tests ship, with what they read."""


def of_papers(names: Collection[str]) -> list[str]:
    """Return what is wrong with the wheel of the studies, which has files of these names."""
    source = re.compile(r"sfumato_papers/.*\.(py|typed)|sfumato_papers-[^/]+\.dist-info/.*")
    wrong = [] if "sfumato_papers/py.typed" in names else ["has no sfumato_papers/py.typed"]
    return wrong + [f"holds {name}" for name in names if not source.fullmatch(name)]


def of_wheel(names: Collection[str], page: str, size: int) -> list[str]:
    """Return what is wrong with a wheel.

    Args:
        names: The names of its files.
        page: The text of the studio's page, whose scripts and styles must be there.
        size: Its size in bytes.
    """
    package = [name for name in names if not re.match(r"sfumato-[^/]+\.dist-info/", name)]
    asked = [
        f"{_PAGE}/{target.removeprefix('./').lstrip('/')}"
        for target in re.findall(r'(?:src|href)="([^"]+)"', page)
    ]
    assets = [name for name in asked if "/assets/" in name]
    wrong = [f"has no {name}" for name in (*NEEDED, *assets) if name not in names]
    wrong += ["its page of the studio names no script"] if not assets else []
    for name in package:
        path = PurePosixPath(name)
        if path.parts[0] != "sfumato" or "tests" in path.parts or path.suffix not in ALLOWED:
            wrong.append(f"holds {name}")
    return wrong + ([f"has {size:,} bytes, more than {MOST_BYTES:,}"] if size > MOST_BYTES else [])


def of_metadata(metadata: Message, version: str, known: Collection[str]) -> list[str]:
    """Return what is wrong with the metadata of a wheel of this version, if these classifiers are known."""
    given = metadata.get_all("Classifier", [])
    wrong = [f"has the unknown classifier {each!r}" for each in given if each not in known]
    if metadata["Version"] != version:
        wrong.append(f"says version {metadata['Version']}, but the package is {version}")
    needed = ("Summary", "License-Expression", "License-File", "Requires-Python", "Keywords", "Author")
    wrong += [f"has no {name}" for name in needed if not metadata[name]]
    described = metadata.get_payload()
    links = re.findall(r"\]\((?!https?://|#|mailto:)([^)\s]+)\)", described if isinstance(described, str) else "")
    wrong += [f"has a description that links to {target}, which the index does not have" for target in links]
    wrong += [] if described else ["has no description"]
    floors = [each for each in given if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", each)]
    least = metadata["Requires-Python"].removeprefix(">=")
    if floors and min(floors, key=lambda each: int(each.rpartition(".")[2])).rpartition(" ")[2] != least:
        wrong.append(f"needs Python {least}, but its classifiers begin elsewhere")
    return wrong


def inspect(wheel: Path, sdist: Path, version: str) -> list[str]:
    """Return what is wrong with the two files of a distribution, in words that name them."""
    from trove_classifiers import classifiers

    package = wheel.name.partition("-")[0]
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        page = archive.read(f"{_PAGE}/index.html").decode() if f"{_PAGE}/index.html" in names else ""
        metadata = message_from_string(archive.read(f"{package}-{version}.dist-info/METADATA").decode())
    with tarfile.open(sdist) as source:
        inside = {name.partition("/")[2] for name in source.getnames()}
    library = package == "sfumato"
    found = of_wheel(names, page, wheel.stat().st_size) if library else of_papers(names)
    wrong = [f"{wheel.name} {each}" for each in found + of_metadata(metadata, version, classifiers)]
    needed = SHIPPED if library else ("pyproject.toml", "README.md", "LICENSE")
    wrong += [f"{sdist.name} has no {name}" for name in needed if name not in inside]
    ours = {f"src/{name}" for name in names if name.startswith(f"{package}/")}
    theirs = {name for name in inside if name.startswith(f"src/{package}/")}
    return wrong + [f"only one of wheel and sdist has {name}" for name in sorted(ours ^ theirs)]


def version_of_sources() -> str:
    """Return the version that the sources state."""
    text = (ROOT / "src" / "sfumato" / "_version.py").read_text(encoding="utf-8")
    (found,) = re.findall(r'__version__ = "(.+)"', text)
    return str(found)
