"""The test vectors of the file format, read by two programs that share no code: sfumato and the example."""

import ast
import json
import math
import re
import secrets
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import FileError
from sfumato.files import archive, read_mechanism_file
from sfumato.proofs import prove_constraint, prove_metric_privacy
from tests.conftest import EXAMPLES

from .vectors.__main__ import FOLDER, write
from .vectors.kinds import KINDS, held_by, largest_ratio, numbers
from .vectors.refused import REFUSED, parts

EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="ascii"))
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "sfm-format.md"


@pytest.fixture(scope="module")
def reader(load_example) -> Any:
    return load_example("read_sfm")


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.sfm"


def test_the_vectors_come_out_in_the_same_bytes(tmp_path, monkeypatch, reader):
    writer = reader.Sfm(FOLDER / "coin.sfm").manifest["writer"]
    monkeypatch.setattr(archive, "__version__", writer.removeprefix("sfumato "))
    write(tmp_path)
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.*")}
    kept = [path for path in FOLDER.rglob("*.*") if path.suffix in (".sfm", ".json")]
    assert made == {path.relative_to(FOLDER): path.read_bytes() for path in kept}
    assert len(made) == len(KINDS) + len(REFUSED) + 2
    assert max(map(len, made.values())) < 20_000


@pytest.mark.parametrize("name", KINDS)
def test_sfumato_reads_what_is_expected(name):
    assert held_by(read_mechanism_file(path_of(name))) == EXPECTED[name]


@pytest.mark.parametrize("name", KINDS)
def test_the_example_reads_what_is_expected(name, reader):
    assert _held(reader, reader.Sfm(FOLDER / f"{name}.sfm")) == EXPECTED[name]


def _held(reader: Any, sfm: Any) -> dict[str, Any]:
    """The numbers that the example finds in a file, as `held_by` has them."""
    prior = None if sfm.prior is None else list(sfm.prior)
    if sfm.noise is not None:
        noise, table = sfm.noise, sfm.noise["table"]
        return {
            "epsilon_per_km": noise["epsilon_per_km"],
            "rate": list(map(str, noise["rate"])),
            "step_m": list(map(str, noise["step_m"])),
            "reach_m": noise["reach_m"],
            "places_of_table": None if table is None else list(map(list, sfm.arrays[table["targets"]].rows)),
            "prior": prior,
            "source": sfm.manifest["source"],
        }
    dummies = None
    if sfm.dummies is not None:
        dummies = {"count": sfm.manifest["tupling"]["dummies"], "weights": [list(map(str, sfm.dummies))]}
    return {
        "bits": sfm.manifest["mechanism"]["bits"],
        "secrets": [_as_json(each) for each in sfm.secrets],
        "observables": [_as_json(each) for each in sfm.observables],
        "weights": [list(map(str, row)) for row in sfm.weights],
        "dummies": dummies,
        "prior": prior,
        "loss": None if sfm.loss is None else [list(row) for row in sfm.loss],
        "promises": [_promise(each) for each in sfm.guarantees],
        "constraints": [
            {
                "coefficients": [list(row) for row in each["coefficients"]],
                "at_most": each["at_most"],
                "unit": each["unit"],
            }
            for each in sfm.constraints
        ],
        "largest_ratio": largest_ratio(sfm.weights),
    }


def _as_json(label: Any) -> Any:
    if isinstance(label, float) and not math.isfinite(label):
        return {"float": str(label)}
    if isinstance(label, tuple):
        return {"tuple": [_as_json(part) for part in label]}
    if isinstance(label, frozenset):
        return {
            "set": sorted((_as_json(part) for part in label), key=lambda part: json.dumps(part, sort_keys=True))
        }
    return label


def _promise(entry: dict[str, Any]) -> dict[str, Any]:
    keys = {
        "metric": ("epsilon", "unit", "distances"),
        "threshold": ("epsilon", "within", "distances"),
        "coordinates": ("epsilon", "unit"),
        "tuple": ("epsilon", "delta"),
    }.get(entry["kind"], ("minimum",))
    found = {key: entry[key] for key in keys}
    return found | (
        {"distances": numbers([list(row) for row in found["distances"]])} if "distances" in found else {}
    )


@pytest.mark.parametrize("name", [name for name in KINDS if name != "noise"])
def test_both_prove_the_same(name, reader):
    plain, ours = reader.Sfm(path_of(name)), read_mechanism_file(path_of(name))
    pairs = [(each, guarantee) for each, guarantee in zip(plain.guarantees, ours.guarantees, strict=False)]
    pairs = [(each, guarantee) for each, guarantee in pairs if "distances" in each]
    for each, guarantee in pairs:
        assert isinstance(guarantee, sf.MetricPrivacy)
        proof = prove_metric_privacy(ours.report_channel, guarantee)
        bound = reader.epsilon_above(plain.weights, each["steps"], each["epsilon"])
        assert (bound <= each["epsilon"]) == proof.holds == (name != "unproved")
        assert bound == pytest.approx(proof.upper, rel=1e-12)
    n = len(plain.secrets)
    proof = prove_metric_privacy(ours.report_channel, sf.MetricPrivacy(1, sf.hamming(ours.report_channel.secrets)))
    bound = reader.epsilon_above(plain.weights, [[float(s != t) for t in range(n)] for s in range(n)])
    assert bound == pytest.approx(proof.upper, rel=1e-12)
    ratio = EXPECTED[name]["largest_ratio"]
    largest = math.inf if ratio == "inf" else float(Fraction(ratio))
    assert math.exp(bound) == pytest.approx(largest, rel=1e-12)


def test_both_prove_the_same_of_noise(reader):
    ours = read_mechanism_file(path_of("noise"))
    bound = reader.noise_epsilon(reader.Sfm(path_of("noise")).noise)
    assert ours.noise_proof.holds
    assert bound <= Fraction(ours.noise.epsilon)
    assert float(bound) == pytest.approx(ours.noise_proof.upper, rel=1e-15)


def test_both_prove_the_same_of_linear_constraints(reader, capsys):
    ours, plain = read_mechanism_file(path_of("constrained")), reader.Sfm(path_of("constrained"))
    (constraint,) = ours.constraints
    (entry,) = plain.constraints
    assert reader.weighted_sum(plain.weights, entry["coefficients"]) == Fraction(1, 2)
    assert prove_constraint(ours.report_channel, constraint).upper == 0.5
    assert reader.main([str(path_of("constrained"))]) == 0
    assert "linear constraint: at most 0.5; proved: 0.5\n" in capsys.readouterr().out
    less = {**entry, "at_most": 0.4999}
    plain.constraints[:] = [less]
    assert "NOT PROVED: 0.5" in "\n".join(reader.described(plain, 0))


def test_the_example_does_not_prove_what_is_too_fast(reader, capsys):
    assert reader.main([str(FOLDER / "refused" / "faster.sfm")]) == 0
    assert "promised: epsilon 1.0/km; NOT PROVED: at most about 1.9999999" in capsys.readouterr().out


def test_rows_that_are_infinitely_far_apart_are_not_bounded(reader):
    rows, apart = [(1, 0), (0, 1)], [[0.0, 2.0], [2.0, 0.0]]
    assert reader.epsilon_above(rows, apart) == math.inf
    assert reader.epsilon_above(rows, [[0.0, math.inf], [math.inf, 0.0]]) == 0
    assert reader.epsilon_above([(1, 3), (3, 1)], [[0.0, 0.0], [0.0, 0.0]]) == math.inf


def test_exponentials_are_below_and_close(reader):
    assert reader.exp_below(Fraction(10**12)) == reader.exp_below(Fraction(100)) > 2**126
    for x in (0.0, 1e-18, 0.3, 1.0, 2.0, 50.0, 99.0):
        found = reader.exp_below(Fraction(x))
        finer = sum(Fraction(x) ** k / math.factorial(k) for k in range(60)) if x <= 2 else None
        assert finer is None or finer * (1 - Fraction(1, 2**250)) <= found <= finer + Fraction(1, 2**200)
        assert float(found) == pytest.approx(math.exp(x), rel=1e-13)


def test_reports_have_the_probabilities_of_their_integers(reader, monkeypatch):
    for word, position in enumerate([0, 1, 1, 3, 3, 3]):
        monkeypatch.setattr(secrets, "randbelow", {6: word}.__getitem__)
        assert reader.drawn((1, 2, 0, 3)) == position


@pytest.mark.parametrize("name", REFUSED)
def test_sfumato_refuses(name):
    with pytest.raises(FileError, match=REFUSED[name].says):
        read_mechanism_file(FOLDER / "refused" / f"{name}.sfm")


@pytest.mark.parametrize("name", REFUSED)
def test_the_example_refuses(name, reader, capsys):
    path = FOLDER / "refused" / f"{name}.sfm"
    assert reader.main([str(path)]) == int(REFUSED[name].alone)
    said = capsys.readouterr()
    assert (str(path) in said.err) == REFUSED[name].alone
    assert (said.out == "") == REFUSED[name].alone


@pytest.mark.parametrize("name", ["coin", "labels", "noise"])
def test_every_truncation_is_refused(name, reader, tmp_path):
    data, cut = (FOLDER / f"{name}.sfm").read_bytes(), tmp_path / "cut.sfm"
    for length in range(0, len(data), 7):
        cut.write_bytes(data[:length])
        with pytest.raises(reader.FormatError):
            reader.Sfm(cut)


def test_the_example_needs_the_standard_library_alone():
    tree = ast.parse((EXAMPLES / "read_sfm.py").read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
    path = str(FOLDER / "places.sfm")
    command = [sys.executable, "-I", "-S", str(EXAMPLES / "read_sfm.py"), path, "--secret", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("3 secrets: 'home', 'work', 'shop'\n2 reports: ")
    assert "promised: epsilon 0.2 per km; proved: at most 0.17328" in done.stdout
    assert "a report for 'shop': " in done.stdout


def test_a_secret_that_is_not_there(reader, capsys):
    assert reader.main([str(FOLDER / "coin.sfm"), "--secret", "2"]) == 1
    assert "no such secret" in capsys.readouterr().err


def test_the_page_shows_the_smallest_vector():
    page, data = PAGE.read_text(encoding="utf-8"), (FOLDER / "coin.sfm").read_bytes()
    found = re.findall(r"^([0-9a-f]{3})  ([0-9a-f ]{47})  \|(.{1,16})\|$", page, flags=re.MULTILINE)
    assert bytes.fromhex("".join(row for _, row, _ in found)) == data
    assert [int(at, 16) for at, _, _ in found] == list(range(0, len(data), 16))
    assert "".join(text for _, _, text in found) == "".join(chr(b) if 32 <= b < 127 else "." for b in data)
    (manifest,) = re.findall(r"^```json\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    assert json.loads(manifest) == parts(FOLDER, "coin")[0]
    for at, start in (
        (0x1EE, b"PK\3\4"),
        (0x219, b"\x93NUMPY"),
        (0x2B9, b"PK\1\2"),
        (0x2F4, b"PK\1\2"),
        (0x32F, b"PK\5\6"),
    ):
        assert data[at:].startswith(start), f"{at:03x}"
    assert (data[0x298:0x299], len(data[0x299:0x2B9])) == (b"\n", 32)


def test_the_page_lists_all_vectors_and_what_the_example_prints(reader):
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^\| ``([\w-]+)\.sfm`` \|", page, flags=re.MULTILINE) == [*KINDS, *REFUSED]
    for name, each in REFUSED.items():
        assert f"| ``{name}.sfm`` | {each.why} |" in page
    for line in reader.described(reader.Sfm(FOLDER / "places.sfm"), 0):
        assert line in page or "frozenset" in line
