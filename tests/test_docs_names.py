"""Names in the documents exist: modules, functions, options, files, keys and exit codes."""

import importlib
import re
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer

from sfumato.cli.app import app

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "papers" / "docs").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
PACKAGES = ("src/sfumato", "papers/src/sfumato_papers", "studio/src/sfumato_studio")
# What docs/architecture.md invents, and names of others: LAPACK, uv and pip have options of their own.
INVENTED = (
    *("median-loss", "median_loss", "MedianLossPrivacy"),
    *("truncated_geometric", "TruncatedGeometric"),
    *("linprog", "Linprog"),
    *("geojson", "GEOJSON", "GeoJSON"),
    *("commands/show", "test_show"),
)
TOOLS = ("uv ", "pip ", "python3 -m pip ", "zcat ")
WORDS = {"right-to-left"}


def _blocks(text: str) -> list[tuple[str, str]]:
    """Return the language and the text of each fenced or indented block; cells that are run are Python."""
    found = re.findall(r"^ *```(\S*)[^\n]*\n(.*?)^ *```", text, flags=re.DOTALL | re.MULTILINE)
    fenced = [("python" if language == "{code-cell}" else language, block) for language, block in found]
    indented = re.findall(r"(?:^ {4}(?:sfumato|python3?|uv) .*\n?(?:^ {8}.*\n?)*)+", text, flags=re.MULTILINE)
    return [*fenced, *(("text", block) for block in indented)]


def _spans(text: str) -> list[str]:
    """Return what stands between single backticks, outside blocks."""
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    return [" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose)]


@cache
def _sources(folders: tuple[str, ...] = PACKAGES) -> str:
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


@cache
def _words() -> set[str]:
    """Return the words of the sources and of the examples: to search them for each name takes seconds."""
    return set(re.findall(r"\w+", _sources((*PACKAGES, "examples"))))


def _parameters(command: Any) -> list[Any]:
    """Return the parameters of a command, or of all commands of a group."""
    return [*command.params, *(each for part in getattr(command, "commands", {}).values() for each in part.params)]


@pytest.fixture(scope="module")
def known(load_example) -> dict[str, set[str]]:
    """The options of each command, and of each example."""
    group: Any = typer.main.get_command(app)
    found = {
        name: {"--help", *(o for p in _parameters(command) for o in (*p.opts, *p.secondary_opts) if o[0] == "-")}
        for name, command in group.commands.items()
    }
    everywhere = {option for parameter in group.params for option in parameter.opts} - {"--version"}
    found = {name: options | everywhere for name, options in found.items()}
    found["sfumato"] = {"--help", "--version", *everywhere}
    for path in (ROOT / "examples").glob("*.py"):
        with redirect_stdout(StringIO()) as said, pytest.raises(SystemExit):
            load_example(path.stem).main(["--help"])
        found[f"examples/{path.name}"] = set(re.findall(r"^  (?:-h, )?(--[\w-]+)", said.getvalue(), flags=re.M))
    return found


def _resolve(dotted: str) -> None:
    """Find an object by its dotted name, importing as far as that goes."""
    first, *rest = dotted.split(".")
    path = "sfumato" if first == "sf" else first
    value: Any = importlib.import_module(path)
    for name in rest:
        path = f"{path}.{name}"
        value = getattr(value, name) if hasattr(value, name) else importlib.import_module(path)


def _commands(text: str) -> list[str]:
    """Return the command lines in a text, continued lines joined."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [line.strip().removeprefix("$ ") for line in joined.splitlines()]


def _check_command(line: str, known: dict[str, set[str]]) -> None:
    for part in re.split(r" \| | && ", line):
        words = re.sub(r'"[^"]*"|\'[^\']*\'', "TEXT", part).split()
        options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        match words:
            case ["sfumato", "COMMAND", *_]:
                continue
            case ["sfumato", name, *_] if not name.startswith("-"):
                assert name in known, f"no command {name!r}: {line}"
                assert options <= known[name], f"{options - known[name]} of {line}"
            case ["python" | "python3", script, *_] if script.startswith("examples/"):
                assert script in known, f"no example {script!r}"
                assert options <= known[script], f"{options - known[script]} of {line}"
            case _:
                continue


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_in_a_document_exist(path, known):
    document = path.read_text(encoding="utf-8")
    check_names_of_python_exist(document)
    check_identifiers_occur_in_the_sources(document)
    check_commands_and_options_exist(document, known)
    check_files_that_are_named_exist(document)
    check_keys_with_hyphens_occur_in_the_sources(document)


def check_names_of_python_exist(document: str) -> None:
    code = [block for language, block in _blocks(document) if language == "python"]
    for part in [*_spans(document), *code]:
        for dotted in re.findall(r"(?<![\w./@-])((?:sf|sfumato(?:_papers|_studio)?)(?:\.[A-Za-z_]\w*)+)", part):
            if not re.search(r"\.(sfm|md|py|csv|png)$", dotted):
                _resolve(dotted)
    for block in code:
        for module, names in re.findall(r"^ *from (sfumato[\w.]*) import (.+)$", block, flags=re.MULTILINE):
            for name in re.findall(r"\w+", names):
                _resolve(f"{module}.{name}")
    for module, lines in re.findall(r"automodule:: (\S+)\n((?:   :.*\n)*)", document):
        _resolve(module)
        for name in re.findall(r"\w+", "".join(re.findall(r":members: *(.*)", lines))):
            _resolve(f"{module}.{name}")


def check_identifiers_occur_in_the_sources(document: str) -> None:
    for span in _spans(document):
        if span in INVENTED or any(word in span for word in INVENTED) or "/" in span or span.startswith("-"):
            continue
        bare = re.sub(r'"[^"]*"', "", span)
        for name in re.findall(r"(?<![\w./-])([A-Z][a-z]+\w*|[a-z]\w*_\w+)(?=[^\w]|$)", bare):
            assert name in _words(), f"{name} in `{span}`"


def check_commands_and_options_exist(document: str, known: dict[str, set[str]]) -> None:
    lines = [line for _, block in _blocks(document) for line in _commands(block)]
    every = set().union(*known.values())
    commands = "|".join(name for name in known if name.isalpha() and name != "sfumato")
    for line in [*lines, *_spans(document)]:
        if line.startswith("-") and re.match(r"--[a-z]", line):
            assert re.findall(r"--[\w-]+", line)[0] in every, line
        elif re.match(rf"({commands}) --?[a-z]", line):
            _check_command(f"sfumato {line}", known)
        else:
            _check_command(line, known)


def test_every_command_has_its_line(known):
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    table = page[: page.index("## Points or cells")]
    assert re.findall(r"^\| `(\w+)`", table, flags=re.MULTILINE) == [
        name for name in known if name.isalpha() and name != "sfumato"
    ]


def check_files_that_are_named_exist(document: str) -> None:
    text = re.sub(r"\(https?://[^)]*\)", "", document)
    for span in _spans(text):
        if any(word in span for word in INVENTED) or span.startswith(TOOLS):
            continue
        for path in re.findall(
            r"(?<![\w/])((?:src|docs|tests|examples|benchmarks|papers|studio)/[\w./*-]*)", span
        ):
            assert list(ROOT.glob(path.rstrip("/"))), path
        if re.fullmatch(r"[\w/]+\.py", span):
            assert list(ROOT.glob(span)) or any(list((ROOT / folder).rglob(span)) for folder in PACKAGES), span


def check_keys_with_hyphens_occur_in_the_sources(document: str) -> None:
    for span in _spans(document):
        if re.fullmatch(r"[a-z]+(-[a-z]+)+", span) and span not in INVENTED and span not in WORDS:
            assert span in _sources(), span


def test_links_lead_somewhere():
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if not target.startswith(("http", "mailto")):
                assert (path.parent / target).exists(), f"{target} in {path.name}"


def test_floors_are_those_of_the_import_contract():
    said = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.search(r"layers = \[\n(.*?)\]", project, flags=re.DOTALL)
    (listed,) = re.findall(r"\*\*Floors\.\*\* Imports go down only: (.*?)\. import-linter", said, flags=re.DOTALL)
    spans = re.findall(r"`([^`]+)`", listed)
    assert layers is not None
    assert spans == [line.strip().strip('",') for line in layers[1].splitlines() if line.strip()][::-1]
