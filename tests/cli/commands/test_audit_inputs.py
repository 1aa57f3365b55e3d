"""Poor inputs of ``sfumato audit``, as a new user gives them: an exit code, a hint, no traceback, no Python."""

import re
import shlex

import numpy as np
import pytest

from tests.thinned import thinned

FILES = {
    "coin.csv": ",heads,tails\na,0.75,0.25\nb,0.25,0.75\n",
    "negative.csv": "s,x,y\na,1.2,-0.2\nb,0.5,0.5\n",
    "sums.csv": "s,x,y\na,0.6,0.6\nb,0.5,0.5\n",
    "ragged.csv": "s,x,y\na,0.6\nb,0.5,0.5\n",
    "words.csv": "s,x,y\na,hello,0.6\nb,0.5,0.5\n",
    "empty.csv": "",
    "names.csv": "s,x,y\n",
    "junk.sfm": "junk",
    "unknown.csv": "secret,probability\na,0.5\nc,0.5\n",
    "short.csv": "secret,probability\na,0.5\nb,0.4\n",
    "letters.csv": "secret,probability\na,x\nb,0.4\n",
    "d.csv": "0,1\n1,0\n",
    "d3.csv": "0,1,2\n1,0,1\n2,1,0\n",
    "dnegative.csv": "0,-1\n-1,0\n",
    "dnames.csv": "a,b\n0,1\n1,0\n",
    "seen.csv": "secret,output\na,x\na,y\nb,x\nb,y\n",
    "one.csv": "secret,output\na,x\na,y\n",
    "box_of_inputs.py": "def keep(secret):\n    return secret\n",
}
CALL = "-function box_of_inputs:keep --secrets a,b --epsilon 1 --limit 500"
LINES = f"""
coin.csv --require "epsilon"
coin.csv --require "epsilon <= 1 <= 2"
coin.csv --require "epsilon => 1"
coin.csv --require "epsilon(delta=-1) <= 1"
coin.csv --require "epsilon(delta=1e-6) <= 1 km"
coin.csv --require "epsilon <= 1/km" --metric hamming
coin.csv --require "epsilon <= 1/km" --distances d.csv
coin.csv --require "error >= 1 km"
coin.csv --require "bayes-vulnerability <= 80 km" --prior uniform
coin.csv --require "bits <= 1"
coin.csv --require "epsilon(of=kl) <= 1"
coin.csv --require "(order=2) <= 1"
coin.csv --metric euclidean
coin.csv --metric nonsense
coin.csv --metric hamming --distances d.csv
coin.csv --distances d3.csv
coin.csv --distances dnegative.csv
coin.csv --distances dnames.csv
coin.csv --distances nowhere.csv
coin.csv --distances folder
coin.csv --unit km
coin.csv --unit km --metric hamming
coin.csv --prior unknown.csv
coin.csv --prior short.csv
coin.csv --prior letters.csv
coin.csv --prior unifrm
coin.csv --prior folder
coin.csv --delta 2
coin.csv --delta nan
coin.csv --delta-at nan
coin.csv --order 0
coin.csv --order nan
coin.csv --output folder
coin.csv --output nowhere/x.json
coin.csv --figures coin.csv
-samples coin.csv
negative.csv
sums.csv
ragged.csv
words.csv
empty.csv
names.csv
junk.sfm
folder
nowhere.sfm
letters.npy
row.npy
mine.txt
-samples seen.csv --columns secret
-samples seen.csv --columns a,b
-samples seen.csv --columns secret,secret
-samples seen.csv --failure 0
-samples seen.csv --failure 2
-samples seen.csv --bins 3
-samples one.csv
-samples seen.csv --delta -1
-samples seen.csv --require "gaussian <= 1"
-samples seen.csv --measure "renyi-privacy(order=2)"
-samples seen.csv --prior unknown.csv
{CALL} --require "mu <= 1"
{CALL} --epsilon 1/km
{CALL} --epsilon -1
{CALL} --secrets a,a
{CALL} --secrets ,
{CALL} --secrets 9-0
{CALL} --limit 5
{CALL} --failure 0
{CALL} --failure 1
{CALL} --delta 1
"""
CASES = [line for line in LINES.splitlines() if line]
PYTHON = re.compile(r"Traceback|\bsf\.|\w\(\)|\bNone\b|\b(?:prior|metric|family|events|deltas|cells)=(?!every)")


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder").mkdir()
    np.save(tmp_path / "letters.npy", np.array(["a", "b"]))
    np.save(tmp_path / "row.npy", np.array([0.5, 0.5]))


def audited(run, line):
    """Run audit, or audit-samples and audit-function where a line begins with the rest of their names."""
    return run(*shlex.split(f"audit{line}" if line.startswith(("-samples", "-function")) else f"audit {line}"))


@pytest.mark.parametrize("line", thinned(CASES, 3))
def test_a_poor_input_is_told_with_a_hint(run, folder, line):
    done = audited(run, line)
    assert done.code == 1
    assert done.err.startswith("Error: ")
    assert "\nHint: " in done.err
    assert not PYTHON.search(done.err)
    if "--require" not in line or "<= 1 <= 2" in line:  # whether a unit fits is known of what was found
        assert not done.out


def test_the_limit_that_a_hint_names_is_enough(run, folder):
    done = audited(run, CALL.replace("500", "5"))
    (enough,) = re.findall(r"--limit (\d+)", done.err)
    done = audited(run, CALL.replace("500", enough))
    assert done.code == 1
    assert "the claim is violated" in done.text
