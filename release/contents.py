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

MOST_BYTES = 8 * 2**20
"""A wheel above this holds something that nobody meant to publish."""

_PAGE = "sfumato_studio/page"
NEEDED = {
    "sfumato": ("sfumato/py.typed", "sfumato/__init__.pyi", "sfumato/geo/world.bin", "sfumato/geo/world.txt"),
    "sfumato_papers": ("sfumato_papers/py.typed",),
    "sfumato_studio": ("sfumato_studio/py.typed", f"{_PAGE}/index.html", f"{_PAGE}/licences.txt"),
}
ALLOWED = {
    "sfumato": {".py", ".pyi", ".typed", ".html", ".css", ".json", ".bin", ".txt"},
    "sfumato_papers": {".py", ".typed"},
    "sfumato_studio": {".py", ".typed", ".html", ".css", ".js", ".mjs", ".txt"},
}
"""The kinds of files of each package: the map of the world and a schema are the only data; no pictures."""

SHIPPED = (
    *("pyproject.toml", "uv.lock", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md"),
    *(
        "conftest.py",
        "tests/conftest.py",
        "docs/index.md",
        "papers/pyproject.toml",
        "studio/pyproject.toml",
        "studio/web/build.py",
        "release/__main__.py",
        "release/index_page.py",
        ".ci/run",
    ),
)
"""Some files of each folder of the sdist: all tests ship, with what they read."""


def of_wheel(package: str, names: Collection[str], size: int) -> list[str]:
    """Return what is wrong with a wheel.

    Args:
        package: The package that it installs.
        names: The names of its files.
        size: Its size in bytes.
    """
    wrong = [f"has no {name}" for name in NEEDED[package] if name not in names]
    for name in names:
        path = PurePosixPath(name)
        if re.match(rf"{package}-[^/]+\.dist-info/", name):
            continue
        if path.parts[0] != package or "tests" in path.parts or path.suffix not in ALLOWED[package]:
            wrong.append(f"holds {name}")
    return wrong + ([f"has {size:,} bytes, more than {MOST_BYTES:,}"] if size > MOST_BYTES else [])


def of_page(names: Collection[str], page: str) -> list[str]:
    """Return what is wrong with the page of the studio, whose scripts and styles must be among these names."""
    paths = [
        f"{_PAGE}/{target.removeprefix('./').lstrip('/')}"
        for target in re.findall(r'(?:src|href)="([^"]+)"', page)
    ]
    assets = [name for name in paths if "/assets/" in name]
    wrong = [f"has no {name}" for name in assets if name not in names]
    return wrong + (["its page names no script"] if not assets else [])


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
    found = of_wheel(package, names, wheel.stat().st_size) + of_metadata(metadata, version, classifiers)
    found += of_page(names, page) if package == "sfumato_studio" else []
    wrong = [f"{wheel.name} {each}" for each in found]
    needed = SHIPPED if package == "sfumato" else ("pyproject.toml", "README.md", "LICENSE")
    wrong += [f"{sdist.name} has no {name}" for name in needed if name not in inside]
    ours = {f"src/{name}" for name in names if name.startswith(f"{package}/")}
    theirs = {name for name in inside if name.startswith(f"src/{package}/")}
    return wrong + [f"only one of wheel and sdist has {name}" for name in sorted(ours ^ theirs)]


def version_of_sources() -> str:
    """Return the version that the sources state."""
    text = (ROOT / "src" / "sfumato" / "_version.py").read_text(encoding="utf-8")
    (found,) = re.findall(r'__version__ = "(.+)"', text)
    return str(found)
