"""All ordered pairs of mechanisms with 400 secrets and observables: ``python -m benchmarks.notions``.

One process measures, one after the other, on the integers of a mechanism: pure epsilon, the
privacy profile at 50 epsilons, the tightest mu, and membership privacy of every single secret.
Another goes pair by pair, for pairs drawn at random: the privacy loss distribution of
dp-accounting, and its delta at the same epsilons. Its seconds are extrapolated to all pairs.
The results go to ``benchmarks/results``, the page is ``benchmarks/notions.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

import sfumato as sf
from sfumato.core.arrays import Floats
from sfumato.divergences import Profile
from sfumato.privacy import DifferentialPrivacy, GaussianPrivacy, MembershipPrivacy, Priors, PrivacyProfile

from .raw import Stopwatch
from .results import FOLDER, Invocation

TARGET: Final = Path(__file__).resolve().parents[1] / "benchmarks" / "notions.md"
SIDE: Final = 20
EPSILONS: Final = 50
SPACING: Final = 1e-4  # of dp-accounting's losses; its default
MOST_WALL_S, MOST_GIB = 60, 4  # what the four notions together may take
_KIB: Final = 1 if sys.platform == "darwin" else 1024  # the unit of ru_maxrss, in bytes
_ONE_THREAD: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

_FOUND: Final = {
    "pure epsilon": "epsilon {:.4f}",
    "profile": "{:.0f} lines",
    "tightest mu": "mu {:.4f}",
    "membership": "epsilon {:.4f}",
}

_PAGE: Final = """# All notions of 400 secrets

Time and memory to measure a mechanism of 400 secrets and 400 observables under four notions, over all 159,600
ordered pairs of secrets. The limits for the whole process, libraries included, are {most_s} s of wall time and
{most_gib} GiB. One thread each; the machine was shared.

- **pure epsilon**, with the pair and the report that attain it;
- **profile**: the exact privacy profile (all its lines), read off at {points} epsilons from 0 to the pure one;
- **tightest mu** of Gaussian differential privacy;
- **membership** privacy of every single secret, against every prior and against the uniform one.

The mechanisms are *planar*, the exponential mechanism of rate 0.35 on 20 x 20 cells, and *random*, whose rows are
drawn from a Dirichlet distribution (shape 3), where it is not clear beforehand which pair is the worst.

For comparison, dp-accounting goes pair by pair: one privacy loss distribution for each ordered pair (losses
rounded up to multiples of {spacing:g}) and its delta at the same epsilons, for {pairs} pairs drawn at random.
That is the profile alone, so only the ratio to our profile is a fair comparison; the seconds for all
pairs are **extrapolated**. The last column says how far its delta was above the exact one of the same pair.

Measure again, and rewrite this page, with

    uv run --group bench --group peers python -m benchmarks.notions

"""


def mechanism(name: str) -> sf.Mechanism:
    """Return one of the mechanisms that are measured."""
    n = SIDE * SIDE
    if name == "planar":
        x, y = np.divmod(np.arange(n), SIDE)
        rows = np.exp(-0.35 * np.hypot(x[:, None] - x, y[:, None] - y))
    else:
        rows = np.random.Generator(np.random.PCG64(1)).dirichlet(np.full(n, 3.0), n)
    return sf.Mechanism(rows / rows.sum(axis=1, keepdims=True))


def measured(name: str) -> dict[str, Any]:
    """Return what the four notions found of a mechanism, and what each took."""
    subject = mechanism(name)
    found: dict[str, Any] = {}

    def timed(title: str, work: Callable[[], float]) -> float:
        with Stopwatch() as watch:
            value = work()
        found[title] = {"cpu_s": watch.cpu_s, "wall_s": watch.wall_s, "value": value}
        return value

    def profile() -> float:
        lines = PrivacyProfile(subject)
        deltas = lines.delta_upper(at)
        found["deltas"] = deltas.tolist()
        return float(len(lines.epsilons))

    def membership() -> float:
        uniform = sf.Prior.uniform(subject.secrets)
        return max(MembershipPrivacy(each).measure(subject).upper for each in (Priors.all(), Priors.of(uniform)))

    epsilon = timed("pure epsilon", lambda: DifferentialPrivacy().measure(subject).upper)
    at = np.linspace(0, epsilon, EPSILONS)
    timed("profile", profile)
    timed("tightest mu", lambda: GaussianPrivacy().measure(subject).upper)
    timed("membership", membership)
    return {**found, "peak_gib": _peak_gib()}


def by_pairs(name: str, epsilon: float, pairs: int) -> dict[str, Any]:
    """Return what dp-accounting takes for pairs drawn at random, and how far above the exact delta it is."""
    library = import_module("dp_accounting.pld.privacy_loss_distribution")
    matrix, at = mechanism(name).matrix, np.linspace(0, epsilon, EPSILONS)
    drawn = np.random.Generator(np.random.PCG64(2))
    chosen = [drawn.choice(len(matrix), 2, replace=False) for _ in range(pairs)]
    theirs: list[Floats] = []
    with Stopwatch() as watch:
        for s, t in chosen:
            lower, upper = (dict(enumerate(np.log(matrix[row]).tolist())) for row in (t, s))
            loss = library.from_two_probability_mass_functions(lower, upper, True, SPACING)
            theirs.append(np.asarray(loss.get_delta_for_epsilon(at)))
    peak = _peak_gib()
    exact = [Profile(matrix[s], matrix[t]).delta(at) for s, t in chosen]
    above = np.array(theirs) - np.array(exact)
    return {
        "version": version("dp-accounting"),
        "pairs": pairs,
        "cpu_s": watch.cpu_s,
        "wall_s": watch.wall_s,
        "peak_gib": peak,
        "most_above": float(above.max()),
    }


def _peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB / 2**30


def _apart(part: str, name: str, epsilon: float, pairs: int) -> dict[str, Any]:
    """Return what a part reports from a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        asked = json.dumps([part, name, epsilon, pairs, str(answer)])
        environment = {**os.environ, **dict.fromkeys(_ONE_THREAD, "1")}
        subprocess.run(  # noqa: S603 (this module)
            [sys.executable, "-m", "benchmarks.notions", "--part", asked],
            cwd=TARGET.parents[1],
            env=environment,
            check=True,
        )
        return dict(json.loads(answer.read_text(encoding="utf-8")))


def write(invocation: Invocation) -> Path:
    """Write the page of an invocation and return its path."""
    machine, runs = invocation.machine, invocation.runs
    versions = {**machine["versions"], "dp-accounting": runs[0]["dp_accounting"]["version"]}
    shown = ", ".join(f"{key} {versions[key]}" for key in ("sfumato", "numpy", "scipy", "dp-accounting"))
    where = (
        f"{invocation.started[:10]}, {machine['processor']}, {machine['cores']} cores, {machine['system']}, "
        f"Python {machine['python']}; {shown}."
    )
    pairs = runs[0]["dp_accounting"]["pairs"]
    page = _PAGE.format(most_s=MOST_WALL_S, most_gib=MOST_GIB, points=EPSILONS, spacing=SPACING, pairs=pairs)
    ours = ["| Mechanism | Measured | CPU s | Wall s | Found |", "| :-- | :-- | --: | --: | :-- |"]
    theirs = [
        "| Mechanism | Pairs | CPU s | CPU s, all pairs | To our profile | To all four | Above the exact delta |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
    ]
    for run in runs:
        ours += _ours(run)
        theirs.append(_theirs(run))
    parts = [
        page + where,
        "",
        "## sfumato, all pairs",
        "",
        *ours,
        "",
        "## dp-accounting, pair by pair",
        "",
        *theirs,
    ]
    TARGET.write_text("\n".join(parts) + "\n", encoding="utf-8")
    return TARGET


def _ours(run: dict[str, Any]) -> list[str]:
    name, found = run["mechanism"], run["ours"]
    lines = []
    for title, words in _FOUND.items():
        each = found[title]
        lines.append(
            f"| {name} | {title} | {each['cpu_s']:.2f} | {each['wall_s']:.2f} | {words.format(each['value'])} |"
        )
    cpu_s, wall_s = _sums(found)
    kept = "kept" if wall_s <= MOST_WALL_S and found["peak_gib"] <= MOST_GIB else "**not kept**"
    whole = f"peak {found['peak_gib']:.2f} GiB; the bounds are {kept}"
    return [*lines, f"| {name} | **all four** | {cpu_s:.2f} | {wall_s:.2f} | {whole} |"]


def _theirs(run: dict[str, Any]) -> str:
    found, n = run["dp_accounting"], SIDE * SIDE
    whole_s = found["cpu_s"] / found["pairs"] * n * (n - 1)
    cpu_s, _ = _sums(run["ours"])
    return (
        f"| {run['mechanism']} | {found['pairs']} | {found['cpu_s']:.2f} | {whole_s:.0f} "
        f"| {whole_s / run['ours']['profile']['cpu_s']:.0f} x | {whole_s / cpu_s:.0f} x "
        f"| {found['most_above']:.1e} |"
    )


def _sums(found: dict[str, Any]) -> tuple[float, float]:
    return sum(found[title]["cpu_s"] for title in _FOUND), sum(found[title]["wall_s"] for title in _FOUND)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both mechanisms, keep the results and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.notions", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--pairs", type=int, default=200, help="how many pairs dp-accounting is given")
    parser.add_argument("--render", action="store_true", help="only write the page of the newest results")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.part:
        part, name, epsilon, pairs, answer = json.loads(given.part)
        found = measured(name) if part == "ours" else by_pairs(name, epsilon, pairs)
        Path(answer).write_text(json.dumps(found), encoding="utf-8")
        return
    if given.render:
        newest = max(FOLDER.glob("*-notions.json"))
        invocation = Invocation(**json.loads(newest.read_text(encoding="utf-8")))
    else:
        invocation = Invocation.new("notions")
        for name in ("planar", "random"):
            ours = _apart("ours", name, 0.0, 0)
            theirs = _apart("theirs", name, ours["pure epsilon"]["value"], given.pairs)
            invocation.runs.append({"mechanism": name, "ours": ours, "dp_accounting": theirs})
            invocation.write()
            sys.stdout.write(f"{name}: measured\n")
    sys.stdout.write(f"wrote {write(invocation)}\n")


if __name__ == "__main__":
    main()
