"""Plain English: words of `.ci/words` in docs, and in docstrings and other strings of the source."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCES = ("src/sfumato", "studio/src", "papers/src", "examples")
PAGES = ("README.md", "CONTRIBUTING.md", "docs", "papers/docs", "benchmarks")
COPIES = (ROOT / "docs" / "papers", ROOT / "docs" / "benchmarks")
PATTERN = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")
FENCED = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`|\]\([^)]*\)|https?://\S+")


class Text(NamedTuple):
    """A piece of prose and where it begins."""

    path: Path
    line: int
    text: str


@cache
def avoided() -> re.Pattern[str]:
    rows = (ROOT / ".ci" / "words").read_text(encoding="ascii").splitlines()
    phrases = [re.split(r"\s{2,}|\t", row)[0] for row in rows if row and not row.startswith("#")]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(phrases)})(?![\w-])", re.IGNORECASE)


def strings(path: Path) -> Iterator[Text]:
    """Yield the strings of a Python file that have at least two words, without examples of code."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield Text(path, node.lineno, re.sub(r"^\s*(?:>>>|\.\.\.) .*$", "", node.value, flags=re.MULTILINE))


def prose(path: Path) -> Iterator[Text]:
    """Yield the prose of a Python file or of a page of Markdown; code in it is left out."""
    if path.suffix == ".py":
        yield from strings(path)
    else:
        text = path.read_text(encoding="utf-8")
        yield Text(path, 1, FENCED.sub(lambda match: "\n" * match[0].count("\n"), text))


def files(names: tuple[str, ...], suffix: str) -> Iterator[Path]:
    for name in names:
        path = ROOT / name
        paths = sorted(path.rglob(f"*{suffix}")) if path.is_dir() else [path]
        yield from (each for each in paths if each.parent not in COPIES)


def all_paths(names: tuple[str, ...] = (*SOURCES, *PAGES)) -> list[Path]:
    """Return the files below some folders, or the files themselves, in which prose is read."""
    folders = tuple(each for each in names if (ROOT / each).is_dir())
    return list(dict.fromkeys([*files(names, ".py"), *files(folders, ".md")]))


def avoided_words(paths: list[Path] | None = None) -> Iterator[tuple[Text, int, str]]:
    """Yield each avoided word, with its text and its line."""
    for path in all_paths() if paths is None else paths:
        for each in prose(path):
            text = CODE.sub(lambda match: " " * len(match[0]), each.text)
            for match in avoided().finditer(text):
                yield each, each.line + text.count("\n", 0, match.start()), match[0]


def test_words_are_found_in_prose_and_not_in_code() -> None:
    path = ROOT / "tests" / "test_prose.py"
    assert avoided().search("No one errs")
    assert avoided().search("They\ntell it")
    assert avoided().search("tellurium, retold, would-be-thing") is None
    assert next(strings(path)).text.startswith("Plain English")


def main(names: tuple[str, ...]) -> None:
    paths = all_paths(names or (*SOURCES, *PAGES))
    count = sum(len(PATTERN.findall(each.text)) for path in paths for each in prose(path))
    total = 0
    for each, line, word in avoided_words(paths):
        text = " ".join(each.text.splitlines()[line - each.line].split())
        sys.stdout.write(f"{each.path.relative_to(ROOT)}:{line}: {word}: {text[:100]}\n")
        total += 1
    sys.stdout.write(f"{total} in {count} words: {1e4 * total / max(count, 1):.1f} per 10,000\n")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
