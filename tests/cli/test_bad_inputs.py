"""Bad inputs to every command and option, as a newcomer would try them.

Each line is a command, a bar, and what the message must name. Nothing may end in a
traceback, speak Python or write a file; every message says what to do.
"""

import contextlib
import re
import shlex
import signal
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.files import MechanismFile, save
from sfumato_papers.invented_city import invented_city
from tests.thinned import thinned

DESIGN = """
design nowhere.csv | nowhere.csv
design empty.csv | empty
design header.csv | header.csv
design names.csv | name, size
design words.csv | in row 1, which is not a number
design beyond.csv | latitude
design swapped.csv | swapped
design one.csv | nothing to hide
design twice.csv | lat
design data.json | data.json
design data.zip | data.zip
design noise.csv | noise.csv
design fake.parquet | fake.parquet
design fake.gpx | fake.gpx
design folder | folder
design dateline.csv | 180
design visits.csv --lat nowhere | nowhere
design visits.csv --lon nowhere | nowhere
design visits.csv --user-column nowhere | nowhere
design visits.csv --lat lat --lon lat | --lon
design visits.csv --user nobody | nobody
design nouser.csv --user ann | --user-column
design visits.csv --users 3 | an option of: sfumato sweep
sweep visits.csv | --epsilons
sweep visits.csv --epsilons 1/km --solver highs | an option of: sfumato design
design visits.csv extra | extra
design --unknown | --unknown
design --epsilon | --epsilon
design --epsilon -1/km | epsilon
design --epsilon 0/km | epsilon
design --epsilon 1 | --epsilon
design --epsilon nan/km | nan/km
design --epsilon inf/km | inf/km
design --epsilon 1/ | 1/
design --epsilon much | much
design --epsilon '1 km' | 1 km
design --epsilon 1/year | year
design --epsilon 1/hop | hop
design --epsilon 1,5/km | 1,5/km
design --epsilon 1/km/km | 1/km/km
design --epsilon '' | --epsilon
design --epsilon 1e400/km | 1e400/km
design --distortion 800 | --distortion
design --distortion '-5 m' | distortion
design --distortion '900 km' | 900 km
design --distortion 1/km | 1/km
design --distortion far | far
design --protect-within '3 km' --epsilon 1/km --cells 4x3 | 1/km
design --protect-within 500 --epsilon 1 | --protect-within
design --protect-within '1 m' --epsilon 1 --cells 4x3 | 1 m
design --protect-within near --epsilon 1 --cells 4x3 | near
design --protect-within '-1 km' --epsilon 1 --cells 4x3 | -1 km
design --max-loss 500 | --max-loss
design --max-loss '-1 m' | loss
design --max-loss '1 m' --epsilon 1/km | 1 m
design --max-loss some | some
design --loss hamming --max-loss '500 m' --cells 4x3 | a number between 0 and 1
sweep --epsilons 1/km --max-loss '500 m' | --max-loss
design --loss beauty | beauty
design --loss semantic | semantic
design --loss jaccard | jaccard
design --objective median | median
design --metric beauty --cells 4x3 | beauty
design --metric hamming --epsilon 1/km --cells 4x3 | 1/km
design --cell 500 | --cell
design --cell 0m | 0m
design --cell '-5 m' | -5 m
design --cell '50 km' | --cell
design --cell '1 m' | cells
design --cell '1 km x 2 km x 3 km' | one side or two
design --cell wide | wide
design --cell '1 km x' | 1 km x
design --cell '1/km' | 1/km
design --cell '1 km' --cells 3x3 | --cells
design --cell '1 km' --hexagons '1 km' | --hexagons
design --cells 3 | --cells
design --cells 0x3 | 0
design --cells 3x-3 | 3x-3
design --cells 1x1 | one cell
design --cells 500x500 | --cells
design --cells axb | axb
design --cells 1.5x3 | 1.5x3
design --hexagons 500 | --hexagons
design --hexagons '1 m' | cells
design --hexagons '9000 km' | --hexagons
design --hexagons big | big
design --hexagons '-1 km' | -1 km
design --region here | here
design --region 1,2,3 | 1,2,3
design --region 10,10,5,20 | south
design --region 10,20,20,10 | west
design --region 100,0,101,1 | globe
design --region 0,0,80,80 | wide
design --region '8 x 6 around 48.85,2.35' | 8
design --region '8 km x 6 km around 48.85' | around
design --region '8 km x 6 km around 148.85,2.35' | 148.85
design --region '8 km x 6 km around 89.99,2.35' | pole
design --region '8 km x 6 km around 10,179.99' | 180th
design --region '0 km x 0 km around 48.8,2.3' | 0 km
design --region '48.8;2.2;48.9;2.4' | 48.8;2.2
design --region -18,179.5,-16,-179.5 | 180
design --region 89,0,91,10 | globe
design --smoothing -1 | smoothing
design --smoothing nan | smoothing
design --smoothing much | --smoothing
design -o city.txt | .sfm
design -o no/such/city.sfm | no/such
design -o folder.sfm | folder.sfm
design -o visits.csv/city.sfm | visits.csv
design -o . | .sfm
design -o taken.sfm | taken.md
design --time-limit 0 | --time-limit
design --time-limit -1 | --time-limit
design --time-limit nan | --time-limit
design --time-limit long | --time-limit
design --gap 0 | gap
design --gap -1 | gap
design --gap nan | gap
design --gap small | --gap
design --pairs some | --pairs
design --solver nobody | nobody
sweep --epsilons 1 | --epsilons
sweep --epsilons 2..1/km:5 | 2..1/km:5
sweep --epsilons 1..2/km:1 | 1..2/km:1
sweep --epsilons 1..2/km | 1..2/km
sweep --epsilons 1/km --epsilon 1/km | --epsilon
sweep --epsilons 1/km --distortion '1 km' | --distortion
sweep --epsilons 1/km --within '1 km' | --within
sweep --epsilons 1/km --user u001 --users 2 | --users
sweep --epsilons 1/km --users 0 | --users
sweep --epsilons 1/km --users many | --users
sweep --epsilons '' | --epsilons
sweep --epsilons 0..1/km:3 | above 0
sweep --epsilons 1/km --distortions '0 m' | above 0
sweep --distortions 500 | --distortions
sweep --distortions '500 m, far' | far
sweep --epsilons 1/km -o folder.csv | folder
design --user nobody | nobody
design --user-column who | --user-column
design --lat lat | --lat
"""

AUDIT = """
audit | Missing argument 'file'
audit nowhere.sfm | nowhere.sfm
audit visits.csv | visits.csv
audit empty.csv | empty.csv
audit header.csv | header.csv
audit words.csv | words.csv
audit ragged.csv | row 2
audit sums.csv | sum
audit negative.csv | negative
audit broken.sfm | broken.sfm
audit cut.sfm | cut.sfm
audit data.zip | data.zip
audit fake.sfm | fake.sfm
audit fake.parquet | fake.parquet
audit pickled.npy | pickled.npy
audit flat.npy | flat.npy
audit folder | folder
audit folder.sfm | folder.sfm
audit-function m.sfm --secrets 0-3 --epsilon 1 | m.sfm
audit-function noise --secrets 0-3 --epsilon 1 | noise
audit-function nomodule:blur --secrets 0-3 --epsilon 1 | nomodule
audit-function noise:absent --secrets 0-3 --epsilon 1 | absent
audit-function noise:LIMIT --secrets 0-3 --epsilon 1 | noise:LIMIT
audit-function noise:blur --epsilon 1 | --secrets
audit-function noise:blur --secrets 0-3 | --epsilon
audit-function noise:blur --secrets 0 --epsilon 1 | secrets
audit-function noise:blur --secrets '' --epsilon 1 | secrets
audit-function noise:blur --secrets 0-3 --epsilon much | much
audit-function noise:blur --secrets 0-3 --epsilon -1 | epsilon
audit-function noise:blur --secrets 0-3 --epsilon 1 --limit 0 | limit
audit-function noise:blur --secrets 0-3 --epsilon 1 --failure 2 | 2
audit-function noise:fails --secrets 0-3 --epsilon 1 | noise:fails
audit-function os:getpid --secrets 0-3 --epsilon 1 | os:getpid
audit m.sfm --require nonsense | nonsense
audit m.sfm --require 'epsilon < 1' | epsilon < 1
audit m.sfm --require 'epsilon <= much' | much
audit m.sfm --require 'beauty <= 1' | beauty
audit m.sfm --require 'epsilon <= 1/year' | year
audit m.sfm --require 'epsilon <= 1/km' --promises | --require
audit m.sfm --metric beauty | beauty
audit m.sfm --metric euclidean --distances d.csv | --distances
audit m.sfm --distances nowhere.csv | nowhere.csv
audit m.sfm --distances words.csv | words.csv
audit m.sfm --distances d.csv | d.csv
audit m.sfm --unit year | year
audit m.sfm --prior nobody | nobody
audit m.sfm --prior words.csv | words.csv
audit m.sfm --prior wrong.csv | row 1 of the column secret
audit labels.sfm --prior text.csv | text.csv
audit labels.sfm --metric euclidean | euclidean
audit m.sfm --delta -1 | -1
audit m.sfm --delta 2 | 2
audit m.sfm --delta small | --delta
audit m.sfm --bins 3 | --bins
audit m.sfm --columns a,b | --columns
audit-samples samples.csv --columns secret | --columns
audit-samples samples.csv --columns a,b | a
audit-samples samples.csv --bins 0 | --bins
audit-samples samples.csv --bins 4 | number
audit-samples samples.csv --failure 0 | 0
audit-samples nowhere.csv | nowhere.csv
audit-samples header.csv --columns lat,lon | header.csv
audit m.sfm --output folder | folder
audit m.sfm --output no/such.json | no/such.json
audit m.sfm --figures visits.csv | visits.csv
audit m.sfm --promises --output x.json | --output
"""

ATTACK_RELEASE_ESTIMATE = """
attack | file
attack nowhere.sfm | nowhere.sfm
attack visits.csv | visits.csv
attack broken.sfm | broken.sfm
attack folder | folder
attack labels.sfm | prior
attack labels.sfm --visits visits.csv | --visits
attack m.sfm --user u001 | --user
attack m.sfm --visits nowhere.csv | nowhere.csv
attack m.sfm --visits visits.csv --user nobody | nobody
attack m.sfm --visits elsewhere.csv | of 3 visits none
attack m.sfm --distance beauty | beauty
attack m.sfm --sharper much | --sharper
attack m.sfm extra | extra
release | file
release m.sfm | source
release m.sfm visits.csv | target
release nowhere.sfm visits.csv out.csv | nowhere.sfm
release visits.csv visits.csv out.csv | visits.csv
release m.sfm nowhere.csv out.csv | nowhere.csv
release m.sfm empty.csv out.csv | empty.csv
release m.sfm words.csv out.csv | words.csv
release m.sfm names.csv out.csv | name, size
release m.sfm elsewhere.csv out.csv | --outside
release m.sfm elsewhere.csv out.csv --outside drop | no row
release m.sfm visits.csv out.csv --outside ignore | ignore
release m.sfm visits.csv out.txt | out.txt
release m.sfm visits.csv visits.csv | visits.csv
estimate labels.sfm reports.csv -o reports.csv | reports.csv
design visits.csv -o visits.csv.sfm --region here | here
release m.sfm visits.csv folder | folder
release m.sfm visits.csv folder.csv | folder.csv
release m.sfm visits.csv no/such.csv | no/such.csv
release m.sfm visits.csv visits.csv/out.csv | visits.csv
release m.sfm visits.csv out.csv --keep nowhere | nowhere
release m.sfm visits.csv out.csv --keep lat | lat
release m.sfm visits.csv out.csv --lat nowhere | nowhere
release m.sfm visits.csv out.csv --column nowhere | nowhere
release m.sfm visits.csv out.csv --column user --lat lat | --lat
release m.sfm visits.csv out.csv --column user | leave out --column
release labels.sfm visits.csv out.csv | --column
release labels.sfm samples.csv out.csv --column output --outside nearest | --outside
release labels.sfm visits.csv out.csv --column user | drop
release labels.sfm folder out.csv --column user | folder
estimate | file
estimate m.sfm | reports
estimate nowhere.sfm reports.csv | nowhere.sfm
estimate m.sfm nowhere.csv | nowhere.csv
estimate m.sfm empty.csv | empty.csv
estimate m.sfm visits.csv | --unmarked
estimate m.sfm visits.csv --unmarked | label
estimate m.sfm visits.csv --unmarked --column user | number 1)
estimate m.sfm data.json | data.json
estimate labels.sfm reports.csv --method magic | magic
estimate labels.sfm reports.csv --intervals wide | wide
estimate labels.sfm reports.csv --unmarked --intervals normal | normal
estimate labels.sfm reports.csv --failure 2 | 2
estimate labels.sfm reports.csv --failure 0 --intervals profile | 0
estimate labels.sfm reports.csv --seed one | --seed
estimate labels.sfm reports.csv --seed -1 --intervals bootstrap | seed
estimate labels.sfm reports.csv -o out.txt | out.txt
estimate labels.sfm reports.csv -o folder.csv | folder.csv
estimate labels.sfm reports.csv -o no/such.csv | no/such.csv
estimate labels.sfm header.csv --unmarked --column lat | no report
"""

LEDGER = """
ledger create | address
ledger create b.db | --budget
ledger create b.db --budget much | much
ledger create b.db --budget -1/km | -1
ledger create b.db --budget 0 | positive
ledger create b.db --budget '5/km per year' | 5/km per year
ledger create b.db --budget 5/day | 5 per day
ledger create b.db --budget '5 km' | 5 km
ledger create b.db --budget 1/km --budget 2/km | the same time
ledger create b.db --budget 1/km --budget 2 | 2/km
ledger create no/such.db --budget 1/km | no/such.db
ledger create folder --budget 1/km | folder
ledger create visits.csv --budget 1/km | visits.csv
ledger create :memory: --budget 1/km | memory
ledger create mysql://host/l --budget 1/km | mysql
ledger create b.db --budget 1/km --key-file visits.csv | visits.csv
ledger create b.db --budget 1/km --key-file no/such.key | no/such.key
ledger show | address
ledger show nowhere.db | sfumato ledger create
ledger show visits.csv | visits.csv
ledger show folder | folder
ledger check nowhere.db | nowhere.db
ledger check nowhere.db --head | --head
ledger check nowhere.db --key-file nowhere.key | nowhere.key
ledger check nowhere.db --key-file visits.csv | visits.csv
ledger migrate | old
ledger migrate nowhere.json b.db | nowhere.json
ledger migrate data.json b.db | data.json
ledger migrate visits.csv b.db | visits.csv
ledger remove b.db | create
release m.sfm visits.csv out.csv --ledger nowhere.db | nowhere.db
release m.sfm visits.csv out.csv --ledger visits.csv | visits.csv
release m.sfm visits.csv out.csv --ledger out.csv | out.csv
release m.sfm visits.csv out.csv --key-file nowhere.key | --ledger
"""

COMPARE_LEARN = """
tuple | file
tuple m.sfm | --output
tuple nowhere.sfm -o t.sfm --dummies 2 | nowhere.sfm
tuple visits.csv -o t.sfm --dummies 2 | visits.csv
tuple m.sfm -o t.sfm | --dummies
tuple m.sfm -o t.sfm --dummies many | --dummies
tuple m.sfm -o t.sfm --dummies 2 --epsilon 1 | --epsilon
tuple m.sfm -o t.sfm --epsilon 1 | --delta
tuple m.sfm -o t.sfm --epsilon -1 --delta 1e-3 | epsilon
tuple m.sfm -o t.sfm --epsilon 1 --delta 2 | delta
tuple m.sfm -o t.sfm --dummies 2 --dummies-from magic | magic
tuple m.sfm -o t.txt --dummies 2 | .sfm
tuple m.sfm -o folder.sfm --dummies 2 | folder.sfm
tuple m.sfm -o no/such.sfm --dummies 2 | no/such.sfm
tuple m.sfm -o m.sfm --dummies 2 | m.sfm
audit m.sfm --measure beauty | beauty
audit m.sfm --events nowhere.csv | nowhere.csv
audit m.sfm --family words.csv | words.csv
audit m.sfm --relation wrong.csv | wrong.csv
audit m.sfm --order much | --order
audit m.sfm --order -1 | -1
audit m.sfm --delta-at -1 | -1
audit m.sfm --curve nowhere.csv | nowhere.csv
audit m.sfm --curve mu=much | much
audit m.sfm --rivals d.csv | --events
audit m.sfm --interventions d.csv | d.csv
compare nowhere.csv | nowhere.csv
compare visits.csv --epsilons 1 | --epsilon
compare --epsilons 1/km --max-loss '500 m' | both --epsilons and --max-loss
compare --epsilons -1/km | epsilon
compare --epsilons much | much
compare --cells 100x100 | 10,000
compare --max-loss 500 | has no unit
compare --max-loss '-1 m' | -1
compare --max-loss '900 km' | 900 km
compare --metric beauty --cells 4x3 | beauty
compare --cell 500 | --cell
compare --cell '1 km' --cells 3x3 | --cells
compare --cells 3 | --cells
compare --region here | here
compare --user nobody | nobody
compare --smoothing -1 | smoothing
compare -o out.txt | .csv
compare -o folder.csv | folder.csv
compare -o no/such.csv | no/such.csv
compare --figure out.csv | .png
compare --figure folder.png | folder.png
compare --figure no/such.png | no/such.png
compare visits.csv --user-column nowhere | nowhere
learn | visits
learn visits.csv | --max-loss
learn nowhere.csv --max-loss '500 m' | nowhere.csv
learn visits.csv --max-loss 500 | --max-loss
learn visits.csv --max-loss much | much
learn visits.csv --max-loss '-5 m' | -5 m
learn visits.csv --max-loss 1/km | 1/km
learn visits.csv --max-loss '500 m' --sensitive nowhere | nowhere
learn nouser.csv --max-loss '500 m' | --sensitive
learn visits.csv --max-loss '500 m' --most 0 | --most
learn visits.csv --max-loss '500 m' --most 1 | --most
learn visits.csv --max-loss '500 m' --target beauty | beauty
learn visits.csv --max-loss '500 m' --epsilon 1 | --epsilon
learn visits.csv --max-loss '500 m' --epsilon much | much
learn visits.csv --max-loss '500 m' --epsilon -1/km | epsilon
learn visits.csv --max-loss '500 m' --cell 500 | --cell
learn visits.csv --max-loss '500 m' --cells 3 | --cells
learn visits.csv --max-loss '500 m' --region here | here
learn visits.csv --max-loss '500 m' --held-out 2 | --held-out
learn visits.csv --max-loss '500 m' --held-out 0 | --held-out
learn visits.csv --max-loss '500 m' --rounds 0 | --rounds
learn visits.csv --max-loss '500 m' --rounds -3 | --rounds
learn visits.csv --max-loss '500 m' --seed -1 | --seed
learn visits.csv --max-loss '500 m' --seed one | --seed
learn visits.csv --max-loss '500 m' --checkpoints no/such.pt | no/such
learn visits.csv --max-loss '500 m' --checkpoints folder | folder
learn visits.csv --max-loss '500 m' -o out.txt | .sfm
learn visits.csv --max-loss '500 m' -o no/such.sfm | no/such.sfm
learn visits.csv --max-loss '500 m' -o folder.sfm | folder.sfm
learn visits.csv --max-loss '500 m' --lat nowhere | nowhere
nothing | nothing
--nothing | --nothing
"""

TABLE = [
    tuple(part.strip() for part in line.rsplit(" | ", 1))
    for block in (DESIGN, AUDIT, ATTACK_RELEASE_ESTIMATE, LEDGER, COMPARE_LEARN)
    for line in block.strip().splitlines()
]
# What Python looks like; requirements have a language of their own, such as epsilon(delta=1e-6).
PYTHON = re.compile(
    r"[a-z_]\w*\((?!s\))[^)]*[=.'\"]|\b[a-z_]{2,}=(?!=)|\b(?:sf|np|pa)\.\w|\b[A-Z]\w+\.[a-z]\w+\b|\w\(\)|Error\("
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with files of many kinds, most of them bad."""
    place = tmp_path_factory.mktemp("inputs")
    city = invented_city(users=20, days=7)
    assert city.user is not None
    rows = [f"{u},{a:.6f},{b:.6f}" for u, a, b in zip(city.user, city.lat, city.lon, strict=True)]
    texts = {
        "visits.csv": "user,lat,lon\n" + "\n".join(rows),
        "nouser.csv": "lat,lon\n" + "\n".join(row.split(",", 1)[1] for row in rows),
        "elsewhere.csv": "lat,lon\n10,10\n10.1,10.1\n10.2,10.05\n",
        "empty.csv": "",
        "header.csv": "lat,lon\n",
        "names.csv": "name,size\na,1\n",
        "words.csv": "lat,lon\nnorth,east\nsouth,west\n",
        "beyond.csv": "lat,lon\n140.0,200.0\n",
        "swapped.csv": "lat,lon\n139.7,35.7\n139.8,35.6\n",
        "one.csv": "lat,lon\n48.85,2.35\n48.85,2.35\n",
        "twice.csv": "lat,lat,lon\n1,2,3\n",
        "dateline.csv": "lat,lon\n-17,179.9\n-17.1,-179.9\n-17.2,179.8\n",
        "data.json": '{"lat": 1}',
        "fake.parquet": "no parquet",
        "fake.gpx": "<gpx><trk>",
        "fake.sfm": "no mechanism",
        "ragged.csv": "0.5,0.5\n1\n",
        "sums.csv": "0.5,0.6\n0.5,0.5\n",
        "negative.csv": "1.5,-0.5\n0.5,0.5\n",
        "d.csv": "0,1\n1,0\n",
        "wrong.csv": "secret,probability\nelsewhere,1\n",
        "text.csv": "secret,probability\nred,much\n",
        "samples.csv": "secret,output\n" + "red,red\ngreen,red\nred,green\ngreen,green\n" * 20,
        "reports.csv": "label\n" + "red\ngreen\nred\n" * 20,
        "noise.py": "LIMIT = 3\n\ndef blur(secret):\n    return secret\n"
        "def fails(secret):\n    raise KeyError(secret)\n",
    }
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8")
    (place / "noise.csv").write_bytes(bytes(range(256)) * 4)
    np.save(place / "flat.npy", np.ones(3))
    np.save(place / "pickled.npy", np.array([{}], dtype=object), allow_pickle=True)
    for name in ("folder", "folder.sfm", "folder.csv", "folder.png", "taken.md"):
        (place / name).mkdir()
    with zipfile.ZipFile(place / "data.zip", "w") as archive:
        archive.writestr("visits.csv", texts["visits.csv"])
    grid = sf.Grid.covering(city, shape=(3, 2))
    prior = sf.Prior.from_visits(grid, city)
    metric = grid.metric("euclidean", unit="km")
    promise = sf.MetricPrivacy("1/km", metric)
    result = sf.design(prior, loss=metric, guarantees=[promise])
    save(MechanismFile(result.mechanism, prior, result.problem.loss, result.problem.guarantees), place / "m.sfm")
    whole = (place / "m.sfm").read_bytes()
    (place / "cut.sfm").write_bytes(whole[: len(whole) // 2])
    (place / "broken.sfm").write_bytes(whole[:200] + b"\0" * 20 + whole[220:])
    save(
        MechanismFile(sf.mechanisms.randomised_response(sf.Space(["red", "green", "blue"]), 1.0)),
        place / "labels.sfm",
    )
    return place


@contextlib.contextmanager
def within_cpu_seconds(limit):
    """Fail where a command works on what it should have refused, by CPU time, which load does not change."""

    def ring(*_):
        raise AssertionError(f"not refused within {limit} seconds of the processor")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def contents(place: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(place)): path.read_bytes() if path.is_file() else b""
        for path in place.rglob("*")
        if "__pycache__" not in path.parts
    }


def test_there_are_two_hundred():
    assert len(set(TABLE)) == len(TABLE) >= 200


@pytest.mark.parametrize(("command", "named"), thinned(TABLE, 4), ids=[command for command, _ in TABLE])
def test_the_message_says_what_is_wrong_and_what_to_do(run, folder, monkeypatch, command, named):
    monkeypatch.chdir(folder)
    before = contents(folder)
    with within_cpu_seconds(20):
        done = run(*shlex.split(command))
    sys.stdout.write(f"{command}\n{done.code}: {done.err}")  # the table: pytest -rP
    assert done.code in (1, 2), done
    assert done.err.startswith(("Error: ", "Note: ", "Usage: "))
    assert "Traceback" not in done.err
    assert named in done.err
    assert "\nHint: " in done.err or command == "--nothing"
    said = re.sub(r"\(\w+Error: .*\)", "", done.err)  # what a user's own function raised
    for given in shlex.split(command):
        said = said.replace(given, "")
    if "--require" not in command:
        assert not PYTHON.search(said), PYTHON.search(said)
    assert contents(folder) == before
