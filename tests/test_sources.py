"""Sources, each file parsed once: texts, docstrings, imports, names of classes, and hints that speak no Python."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .test_prose import avoided_words

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sfumato"
PAPERS = ROOT / "papers" / "src" / "sfumato_papers"
STUDIO = ROOT / "studio" / "src" / "sfumato_studio"
FOLDERS = ("src", "papers", "tests", "benchmarks", "examples", "studio")
QUESTIONS = ("What", "How", "Which", "Where", "Why", "Who")
# What commands call, next to the papers; the rest of the package is reached from Python only.
REACHED = (
    *("cli", "geo", "files", "reports", "comparison", "audits", "rounding", "core", "tables"),
    *(f"optimal/{name}.py" for name in ("design", "session", "problem", "sweep", "structured")),
    *("releases/release.py", "estimation", "attacks/known_prior.py", "statistics/hypothesis_tests.py"),
)
# Descriptions, coordinates and spaces are passed in Python only; requirements have a language of their own.
PYTHON_ONLY = {
    "core/metric.py": "np.minimum",
    "core/space.py": "crs=",
    "audits/requirement.py": "(delta=",
    "cli/audit_knowledge.py": "mu=1",
    "audits/request.py": "prior=every",
    "estimation/reports.py": "Reports.of",
    "files/matrix.py": "numpy.save",
    "geo/places.py": "covering()",
}
PYTHON = re.compile(
    r"\b[a-z_]+=(?![=<>])|\b[a-z_.]+\([^)]*[=.][^)]*\)|\b(?:np|sf|numpy)\.|\b[A-Z]\w+\.[a-z]\w+|\w\(\)"
)
# A text that is or begins with the name of a module: "sfumato.core", "..core.prior:Prior", f".commands.{name}".
MODULE = re.compile(r"(?P<dots>\.*)(?P<name>[A-Za-z_]\w*(?:\.\w+)*)[.:\w]*$")
# Participles and pronouns tell nothing of the thing that they name.
NAMELESS = re.compile(
    r"""_*(
    added|anything|asked|begun|broken|brought|built|chosen|counted|done|drawn|each|ended|everything|
    fixed|found|given|gone|grown|held|hidden|it|kept|lacking|lifted|lost|made|meant|measured|mended|
    merged|mine|missed|mixed|moved|named|needed|nothing|opened|others|ours|owed|own|paid|passed|placed|
    played|prepared|promised|proved|reached|received|reduced|refused|removed|repeated|required|restored|
    returned|said|seen|sent|served|settled|shared|shown|solved|some|something|spent|started|stated|
    stopped|stored|taken|tested|that|theirs|them|this|thrown|told|tried|turned|typed|unseen|wanted|
    weighed|what|which|who|whom|whose|wishes|withheld|worked|written
    )_*""",
    re.VERBOSE | re.IGNORECASE,
)
QUOTED = re.compile(r"""["'](?:sfumato\.|\.\.?\w)""")


class Source(NamedTuple):
    """Facts of a file; the trees of all files would take too much memory."""

    path: Path
    alone: list[int]  # lines of texts that are statements by themselves
    questions: list[str]
    imports: list[ast.Import | ast.ImportFrom]
    classes: list[str]
    hints: list[tuple[int, str]]
    modules: list[str]  # that texts name
    nameless: list[str]
    lines: int
    checks_of_types: int


@cache
def sources() -> list[Source]:
    return [read(path) for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def read(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    source = Source(path, [], [], [], [], [], [], [], len(text.splitlines()), text.count("isinstance("))
    for node in statements(tree):
        body = getattr(node, "body", [])
        source.alone.extend(each.lineno for place, each in enumerate(body) if stands_alone(each, node, place))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            words = (ast.get_docstring(node) or "").split()
            if words and words[0] in QUESTIONS:
                source.questions.append(getattr(node, "name", "the module"))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            source.imports.append(node)
    source.classes.extend(each.name for each in tree.body if isinstance(each, ast.ClassDef))
    if any(path.is_relative_to(part) for part in (PAPERS, *(PACKAGE / part for part in REACHED))):
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id.endswith("Error"):
                source.hints.append((call.lineno, " ".join(text for each in call.args for text in texts(each))))
    if package_of(path):
        source.nameless.extend(filter(NAMELESS.fullmatch, names_in(tree)))
    if path.is_relative_to(PACKAGE) and QUOTED.search(text):
        source.modules.extend(named_modules(tree, path))
    return source


def named_modules(tree: ast.Module, path: Path) -> Iterator[str]:
    """Yield the modules that texts name, absolutely or, as `import_module` takes them, from a file's folder."""
    room = ["sfumato", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(tree):
        found = (
            MODULE.match(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
        )
        if found:
            dots, name = len(found["dots"]), found["name"]
            yield ".".join([*room[: len(room) - dots + 1], name]) if dots else name


def names_in(tree: ast.Module) -> Iterator[str]:
    """Yield the names that definitions, arguments and assignments bind, but no fields of classes."""
    parts = [part for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body]
    targets = [target for part in parts if isinstance(part, ast.Assign) for target in part.targets]
    targets += [part.target for part in parts if isinstance(part, ast.AnnAssign)]
    fields = {target.id for target in targets if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr not in fields:
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in targets:
            yield node.id


def package_of(path: Path) -> Path | None:
    """Return the folder of the package that a file belongs to; None for tests, benchmarks and the like."""
    return next((package for package in (PACKAGE, PAPERS, STUDIO) if path.is_relative_to(package)), None)


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield a module and all its statements, handlers and cases, without their expressions."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting.extend(getattr(node, field, ()))


def stands_alone(statement: ast.stmt, above: ast.AST, place: int) -> bool:
    """Return whether a statement is a text that documents nothing."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant | ast.JoinedStr):
        return False
    text = statement.value.value if isinstance(statement.value, ast.Constant) else ""
    if text is ...:
        return False
    describes = isinstance(text, str) and text[:1].isupper()
    documents = isinstance(above, ast.Module | ast.ClassDef) or place == 0
    return not (describes and documents) and not (place == 0 and isinstance(text, str) and text)


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the literal text of an argument of an error, but not what `argument` and `python` translate."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("argument", "python"):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not isinstance(node, ast.FormattedValue):
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


def test_no_text_is_a_statement_by_itself() -> None:
    """None is cut in two by a bracket that was forgotten."""
    found = [f"{each.path.relative_to(ROOT)}:{line}" for each in sources() for line in each.alone]
    assert not found, f"these texts stand alone: {found}"


def test_no_docstring_begins_with_a_question() -> None:
    found = [f"{each.path.relative_to(ROOT)}: {name}" for each in sources() for name in each.questions]
    assert not found, f"begin with the thing: {found}"


def test_no_name_of_a_class_occurs_twice() -> None:
    places: dict[str, list[Path]] = {}
    for each in sources():
        for name in each.classes:
            if package_of(each.path) and not name.startswith("_"):
                places.setdefault(name, []).append(each.path.relative_to(ROOT))
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_hints_speak_no_python() -> None:
    """No hint that the command line can reach speaks Python, unless it says that it is for Python only."""
    assert all((PACKAGE / part).exists() for part in REACHED)
    found = []
    for each in sources():
        allowed = PYTHON_ONLY.get(each.path.as_posix().removeprefix(f"{PACKAGE.as_posix()}/"))
        for line, message in each.hints:
            if (allowed is None or allowed not in message) and PYTHON.search(message):
                found.append(f"{each.path.relative_to(ROOT)}:{line}: {message}")
    assert not found


def imported() -> dict[str, set[str]]:
    """Return which files each file of the packages imports, type checkers' imports included, by module name."""
    files = {}
    for source in sources():
        if package := package_of(source.path):
            parts = source.path.relative_to(package.parent).with_suffix("").parts
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = source
    found = {}
    for name, source in files.items():
        room = (name if source.path.name == "__init__.py" else name.rpartition(".")[0]).split(".")
        seen = set()
        for node in source.imports:
            if isinstance(node, ast.Import):
                seen |= {each.name for each in node.names}
            else:
                above = room[: len(room) - node.level + 1] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                names = {f"{base}.{each.name}" for each in node.names}
                seen |= {each if each in files else base for each in names}
        found[name] = seen & set(files) - {name}
    return found


def test_no_name_is_a_participle_or_a_pronoun() -> None:
    """Fields of classes may be: they are columns and keys of files. So may the two answers of `proofs.prove`."""
    names = {(str(each.path.relative_to(ROOT)), name) for each in sources() for name in each.nameless}
    assert not {(path, name) for path, name in names if name not in ("Proved", "Stated", "PROVED")}


def test_no_files_import_each_other() -> None:
    graph = imported()
    assert len(graph) > 200
    while leaves := {name for name, uses in graph.items() if not uses & set(graph)}:
        graph = {name: uses for name, uses in graph.items() if name not in leaves}
    assert not graph, f"in a circle, or above one: {sorted(graph)}"


def test_no_text_names_a_module_of_a_higher_floor() -> None:
    """Modules that are imported by their names keep the floors of import-linter, which does not see them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    floors = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    height = {f"sfumato.{room}": -place for place, floor in enumerate(floors) for room in floor.split(" | ")}
    found = []
    for each in sources():
        for name in each.modules:
            own, other = (
                ".".join(parts[:2])
                for parts in (("sfumato", *each.path.relative_to(PACKAGE).with_suffix("").parts), name.split("."))
            )
            if other in height and own in height and height[other] >= height[own] and other != own:
                found.append(f"{each.path.relative_to(ROOT)}: {name}")
    assert height["sfumato.core"] < height["sfumato.reports"]
    assert not found, f"these texts name modules above or beside their own floor: {found}"


def test_names_of_modules_are_found_in_texts() -> None:
    tree = ast.parse(
        """load("sfumato.reports.x"); load(f"..cli.{name}", __package__); load("..files:read"); say("of .csv")"""
    )
    modules = set(named_modules(tree, PACKAGE / "core" / "prior.py"))
    assert modules == {"sfumato.reports.x", "sfumato.cli", "sfumato.files"}


def public_modules() -> set[str]:
    """Return the packages of the library and what each lists: a name may be that of the module that it is from."""
    public = {"sfumato", *(f"sfumato.{path.stem}" for path in PACKAGE.glob("*.py"))}
    for path in PACKAGE.rglob("__init__.py"):
        package = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
        text = "".join(each.read_text(encoding="utf-8") for each in path.parent.glob("__init__.py*"))
        listed = re.findall(r" as (\w+)$|^    \"(\w+)\",$", text, re.MULTILINE)
        public |= {package, *(f"{package}.{one or other}" for one, other in listed)}
    return public


def test_nothing_imports_past_the_public_list_of_a_package() -> None:
    """Modules of other packages import from a package, or from a module that it lists."""
    public = public_modules()
    found: list[str] = []
    for name, uses in imported().items():
        own = name.split(".")[:2]
        past = {each for each in uses - public if each.startswith("sfumato.") and each.split(".")[:2] != own}
        found.extend(f"{name}: {each}" for each in sorted(past))
    assert {"sfumato.core.arrays", "sfumato.files.many"} <= public
    assert not found


def size() -> dict[str, int]:
    """Return the figures of `.ci/size`."""
    package = [each for each in sources() if package_of(each.path) == PACKAGE]
    companions = [each for each in sources() if package_of(each.path) in (PAPERS, STUDIO)]
    users: dict[str, list[str]] = {}
    for name, uses in imported().items():
        for module in uses:
            if name != module.rpartition(".")[0]:  # the package shows it, which is no use of it
                users.setdefault(module, []).append(name)
    modules = {
        name
        for name in users
        if name.startswith("sfumato.") and not (PACKAGE.parent / name.replace(".", "/")).is_dir()
    }
    names = (ROOT / "tests" / "doors" / "names.txt").read_text(encoding="ascii").splitlines()
    return {
        "files": len(package),
        "lines": sum(each.lines for each in package),
        "isinstance": sum(each.checks_of_types for each in package),
        "one-importer": sum(len(users[name]) == 1 for name in modules),
        "names": sum(name.startswith(" ") for name in names),
        "companion-files": len(companions),
        "companion-lines": sum(each.lines for each in companions),
        "avoided-words": sum(1 for _ in avoided_words()),
    }


def test_the_source_does_not_grow_without_a_reason() -> None:
    """A change that needs more writes the new number and its reason into `.ci/size`."""
    rows = (row.split(maxsplit=2) for row in (ROOT / ".ci" / "size").read_text(encoding="ascii").splitlines())
    limits = {row[0]: int(row[1]) for row in rows if row and row[0] != "#"}
    found = size()
    assert found.keys() == limits.keys()
    assert not {name: (number, limits[name]) for name, number in found.items() if number > limits[name]}
