"""What importing costs, and what it pulls in."""

import json
import subprocess
import sys

import pytest

EXTRAS = {"matplotlib", "h3", "torch", "sklearn", "pyspark", "fastapi", "ot", "opendp", "dp_accounting", "qif"}
HEAVY = {"scipy", "pyarrow", "pyproj", "highspy", "clarabel", "flint", "rich"}

PROBE = """
import json, resource, sys
before = resource.getrusage(resource.RUSAGE_SELF)
{action}
after = resource.getrusage(resource.RUSAGE_SELF)
spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(json.dumps([spent, sorted({{name.split(".")[0] for name in sys.modules}})]), file=sys.stderr)
"""

IMPORT = "import sfumato"
HELP = """
sys.argv = ["sfumato", "--help"]
from sfumato.cli import main
try:
    main()
except SystemExit:
    pass
"""


def probe(action: str, times: int = 3) -> tuple[float, set[str]]:
    """Return the processor seconds of an action in a fresh interpreter, the least of so many, and its modules."""
    found = []
    for _ in range(times):
        done = subprocess.run(
            [sys.executable, "-c", PROBE.format(action=action)], capture_output=True, text=True, check=True
        )
        seconds, modules = json.loads(done.stderr.splitlines()[-1])
        found.append((seconds, set(modules)))
    return min(found, key=lambda pair: pair[0])


@pytest.mark.parametrize("action", [IMPORT, HELP], ids=["import sfumato", "sfumato --help"])
def test_fast_and_light(action):
    seconds, modules = probe(action)
    assert seconds < 0.3
    assert not modules & (EXTRAS | HEAVY)


def test_public_names_resolve():
    import sfumato as sf

    for name in sf.__all__:
        assert getattr(sf, name) is not None
    assert set(sf.__all__) <= set(dir(sf))
    with pytest.raises(AttributeError, match="no attribute 'desing'"):
        sf.desing  # noqa: B018


def test_the_whole_package_imports_no_extra():
    action = "import importlib, sfumato\nfor name in sfumato._HOMES: getattr(sfumato, name)"
    _, modules = probe(action, times=1)
    assert not modules & EXTRAS
