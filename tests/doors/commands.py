"""Command lines of every command, in the order in which each finds what it reads."""

import csv
import json
import math
import re
import shlex
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import sfumato as sf

COMMANDS: Final = """
--version
--help
desing
design visits.csv --cells 3x2 -o m.sfm --no-picture
design visits.csv --spacing "3 km" --method noise -o n.sfm --no-picture
design visits.csv --hexagons "3 km" -o h.sfm --no-picture
design visits.csv --cells 3x2 --distortion "400 m" -o d.sfm --no-picture
design visits.csv --cells 3x2 --max-loss "1.3 km" -o x.sfm --no-picture
design visits.csv --cells 3x2 --loss "900 m" -o g.sfm --no-picture
design visits.csv --cells 3x2 --epsilon 1 --protect-within "2 km" -o w.sfm --no-picture
design nowhere.csv
design visits.csv --cells x
design --epsilon
design-column answers.csv --column answer --labels a,b,c --epsilon 1 -o a.sfm
design-column answers.csv --column age --numbers 18..47:5 --epsilon 0.1 -o b.sfm
design-column answers.csv --column hour --numbers 0..23:3 --circular 24 --epsilon 0.2 -o c.sfm
design-column answers.csv --column answer --column age --epsilon 2 --labels a,b,c --numbers age=18..47:10 -o both
design-column answers.csv --column nothing --labels a,b --epsilon 1
mechanism randomised-response --labels a,b,c --epsilon 1 -o r.sfm
mechanism geometric --numbers 0..9 --epsilon 1
sweep visits.csv --cells 3x2 --epsilons "0.5/km, 1/km" -o s.csv --no-picture
sweep visits.csv --users x
tuple m.sfm -o t.sfm --dummies 5
tuple m.sfm
audit m.sfm --promises
audit n.sfm --promises
audit t.sfm --promises
audit a.sfm -o a.json --require "epsilon <= 1"
audit a.sfm --require "epsilon <= 0.9"
audit coin.csv -o coin.json --prior uniform --delta 0.01
audit line.csv -o line.json --distances apart.csv --unit km --family family.csv
audit line.csv -o near.json --family family.csv --beliefs-within 0.05
audit line.csv --beliefs-within 0.05
convert "epsilon <= 1" --to rho --to "epsilon(delta=0.01)" -o convert.json
convert "epsilon <= 0.1/year" --numbers 18..99 --metric absolute -o metric.json
convert "epsilon >= 1"
distance family.csv --distances apart.csv --unit km -o distance.json
distance nowhere.csv
audit-samples samples.csv -o samples.json
audit-samples samples.csv --require "epsilon <= 9"
audit-function coin_of_doors:answer --secrets 0,1 --epsilon 3 --limit 3000
audit nowhere.sfm
attack m.sfm
attack m.sfm --visits visits.csv --within "800 m"
attack a.sfm --distance nothing
report a.sfm -o report.json --frontier-time 0 --require "within 0: at most 90 %"
release m.sfm visits.csv private.csv --receipt receipt.json
release m.sfm visits.csv again.csv
release n.sfm visits.csv noisy.csv --receipt noisy.json --again
release t.sfm visits.csv tuples.csv --again
release a.sfm answers.csv answered.csv --column answer
release both answers.csv columns.csv --again
release groups answers.csv groups.csv --column answer --by group --again
release groups answers.csv twice.csv --column answer --by age --again
ledger create budget.db --budget 1000/km
ledger create budget.db --budget 2000/km
release m.sfm visits.csv charged.csv --ledger budget.db --again --receipt charged.json
ledger show budget.db --user u1
ledger check budget.db
ledger check nowhere.db
track ride.gpx -o safe.gpx --home 48.86,2.35 --ledger budget.db
track ride.gpx -o safe.geojson --ledger budget.db --times drop
track ride.gpx -o ride.gpx --ledger budget.db
estimate a.sfm answered.csv -o shares.csv
estimate a.sfm answered.csv --method inversion --intervals normal -o normal.csv
estimate a.sfm answers.csv --column answer
accuracy --categories 8 --epsilon 1 --answers 1000 --mechanism optimised-unary
accuracy --sensitivity 10 --epsilon 0.1
accuracy --categories 8
compare visits.csv --cells 3x2 --no-remap -o compare.csv
compare visits.csv --cells 3x2 --time-limit 0.000001
sign m.sfm --key key.pem
verify m.sfm --key public.pem
verify a.sfm --key public.pem
release m.sfm visits.csv signed.csv --again --require-signature public.pem
release n.sfm visits.csv unsigned.csv --again --require-signature public.pem
learn visits.csv
learn nowhere.csv --max-loss "500 m"
studio --port 70000
reproduce
reproduce nothing
""".strip().splitlines()
"""Each as a line of a shell."""

LONGER: Final = """
design visits.csv --spacing "3 km" --method table -o p.sfm --no-picture
design-users visits.csv --least-visits 10 --processes 1 -o users
design visits.csv --cells 3x2 -o q.sfm --no-picture --require "epsilon <= 0.1/km" --frontier-time 0
report m.sfm -o cells.json --frontier-time 0 --visits visits.csv
report n.sfm -o noise.json --frontier-time 0
report a.sfm -o fails.json --frontier-time 0 --require "within 0: at most 5 %"
tuple m.sfm -o f.sfm --epsilon 1 --delta 0.05
release users visits.csv each.csv --by user --again
""".strip().splitlines()
"""Further ones, which read what those write and take longer."""


CHANCE: Final = re.compile(r"(seconds|bytes|gap)$")
"""Names of numbers that differ from run to run, or within the gap of a solver."""

PRIVATE_KEY: Final = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIEzNCJsoj/lq2dts4RTg9aCxulc1qTGqoE3tjPba2KBv
-----END PRIVATE KEY-----
"""
PUBLIC_KEY: Final = """-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA2k6/lZSPYnkvjKHddCsjRcikRnhAhFSUMLkvYTL+Wa0=
-----END PUBLIC KEY-----
"""


def prepare(folder: Path) -> None:
    """Write the files that the command lines read."""
    city = import_module("sfumato_papers.invented_city").invented_city(users=12, days=5)
    assert city.user is not None
    rows = zip(city.user, city.lat, city.lon, strict=True)
    _write(folder / "visits.csv", ["user,lat,lon", *(f"{user},{lat:.5f},{lon:.5f}" for user, lat, lon in rows)])
    people = [f"{'abc'[row * row % 3]},{18 + row * 7 % 30},{row * 5 % 24},{'xy'[row % 2]}" for row in range(600)]
    _write(folder / "answers.csv", ["answer,age,hour,group", *people])
    (folder / "groups").mkdir()
    for group, epsilon in (("x", 1.0), ("y", 2.0)):
        sf.save(sf.mechanisms.randomised_response(sf.Space("abc"), epsilon), folder / "groups" / f"{group}.sfm")
    _write(folder / "coin.csv", [",heads,tails", "a,0.75,0.25", "b,0.25,0.75"])
    _write(folder / "line.csv", [",x,y,z", "a,0.5,0.3,0.2", "b,0.3,0.4,0.3", "c,0.2,0.3,0.5"])
    _write(folder / "apart.csv", ["0,1,2", "1,0,1", "2,1,0"])
    family = ["u,a,0.6", "u,b,0.3", "u,c,0.1", "v,a,0.1", "v,b,0.3", "v,c,0.6"]
    _write(folder / "family.csv", ["distribution,secret,probability", *family])
    drawn = [f"{'ab'[row % 2]},{'xy'[int((row % 2) ^ (row % 4 == 3) ^ (row % 16 == 5))]}" for row in range(800)]
    _write(folder / "samples.csv", ["secret,output", *drawn])
    code = [
        "import numpy",
        "",
        "def answer(secret):",
        "    return int(secret) ^ (numpy.random.default_rng().random() < .3)",
    ]
    _write(folder / "coin_of_doors.py", code)
    points = [f'<trkpt lat="{48.86 + k / 5000:.4f}" lon="2.35"/>' for k in range(250)]
    _write(folder / "ride.gpx", ["<gpx><trk><trkseg>", *points, "</trkseg></trk></gpx>"])
    (folder / "key.pem").write_text(PRIVATE_KEY, encoding="ascii")
    (folder / "public.pem").write_text(PUBLIC_KEY, encoding="ascii")


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def facts(run: Callable[..., Any], folder: Path, line: str) -> dict[str, Any]:
    """Return the exit code of a command line, the files that it wrote, and the data in them."""
    before = _files(folder)
    code = run(*shlex.split(line)).code
    wrote = sorted(name for name, mark in _files(folder).items() if before.get(name) != mark)
    data = {name: _data(folder / name) for name in wrote if name.endswith((".json", ".csv"))}
    return {"code": code, "wrote": wrote, **{name: each for name, each in data.items() if each}}


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the files of a folder with their times and sizes, without what is hidden or beside a database."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not re.search(r"(^|/)[._]|-wal$|-shm$", name):
            found[name] = (path.stat().st_mtime_ns, path.stat().st_size)
    return found


def _data(path: Path) -> dict[str, Any]:
    """Return the keys and the numbers of a file, without its texts."""
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        few = rows if len(rows) < 20 else []
        table = {name: [number(row[k]) for row in few] for k, name in enumerate(header)}
        return {"columns": header, "rows": len(rows)} | {
            name: each for name, each in table.items() if each and None not in each and not CHANCE.search(name)
        }
    numbers: dict[str, list[float]] = {}
    _walk(json.loads(path.read_text(encoding="utf-8")), "", numbers)
    return numbers


def number(text: str) -> float | None:
    """Return a finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _walk(value: Any, key: str, numbers: dict[str, list[float]]) -> None:
    if isinstance(value, dict):
        for name, each in value.items():
            _walk(each, f"{key}.{name}" if key else name, numbers)
    elif isinstance(value, list):
        for each in value:
            _walk(each, f"{key}[]", numbers)
    else:
        found = numbers.setdefault(key, [])
        if isinstance(value, int | float) and not CHANCE.search(key):
            found.append(float(value))
