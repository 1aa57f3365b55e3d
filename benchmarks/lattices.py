"""Lattices of 100 places and more, by sfumato and by general solvers: ``python -m benchmarks.lattices``.

Each run has a process of its own. The general solvers get the same program: rows of neighbours only, which imply
all others. The results go to ``benchmarks/results``, the page is ``benchmarks/lattices.md``.
Check-ins are not part of the repository; without them only even priors are tried.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .registry import CHECK_INS, DATA, LIMIT_S, MIDDLES
from .run import ONE_THREAD, waited

_ROOT: Final = Path(__file__).resolve().parents[1]
TARGET: Final = _ROOT / "benchmarks" / "lattices.md"
_MOST_BYTES: Final = 14 * 2**30
_GRACE_S: Final = 300.0  # to build the program, and for sfumato to quantise and prove what it has
_KIB: Final = 1 if sys.platform == "darwin" else 1024

PRIORS: Final = ("gowalla", "even")
SIZES: Final = {
    "2 km, 250 m": (2.0, 250.0, 1e-4),
    "3 km, 250 m": (3.0, 250.0, 1e-4),
    "4 km, 250 m": (4.0, 250.0, 1e-4),
    "5 km, 250 m": (5.0, 250.0, 1e-4),
    "7 km, 250 m": (7.0, 250.0, 1e-4),
    "10 km, 250 m": (10.0, 250.0, 1e-4),
    "10 km, 172 m": (10.0, 172.0, 1e-3),
    "15 km, 165.2 m": (15.0, 165.2, 1e-2),
}
"""The side of the box and the spacing, with the kilometres, the metres and the gap that is asked for."""

SOLVERS: Final = ("generating", "structured", "HiGHS ipm", "Clarabel", "PDLP")
_MOST_KM: Final = {"generating": 15.0, "structured": 5.0, "HiGHS ipm": 5.0, "Clarabel": 5.0, "PDLP": 5.0}
_MOST_KM_EVEN: Final = {"generating": 7.0, "structured": 5.0, "HiGHS ipm": 3.0, "Clarabel": 3.0, "PDLP": 3.0}
_OTHERS: Final = {"HiGHS ipm": "raw_highs", "Clarabel": "raw_clarabel", "PDLP": "raw_pdlp"}

_PAGE: Final = """# Lattices by sfumato and by general solvers

Triangular lattices in New York with the promise of 1/km for points, loss the distance between vertices, prior
from visits (Gowalla) or even. **CPU s** and **wall s** are those of the solve alone; for sfumato they include
quantising to integers and the proof of everything. General solvers get the rows of neighbours only, and one
thread; sfumato's methods two. **Peak** is the memory of the whole process. `>` marks a run that did not finish:
it was ended after {limit:g} s (sfumato's after ten times that), or at {most} GiB, or by the solver itself.
**Proved gap** is the one that was proved; general solvers prove none, and their tolerance is the gap asked for.
**True epsilon** of theirs is recomputed from the matrix that came back, over all neighbours; *infinite* means
that some place gives a report that its neighbour never gives. **Status** is in the solver's own words.
Other work was running where the wall time is far above the CPU time.

Run again, and rewrite this page, with

    uv run --group bench python -m benchmarks.lattices

"""


@dataclass(frozen=True, slots=True)
class Run:
    """One run."""

    size: str
    prior: str
    solver: str

    @property
    def name(self) -> str:
        """The name in progress lines, which ``--only`` searches."""
        return f"{self.size}, {self.prior}: {self.solver}"


def runs() -> list[Run]:
    """Return all runs whose data is here."""
    there = (DATA / CHECK_INS["gowalla"]).is_file()
    return [
        Run(size, prior, solver)
        for size, (km, _, _) in SIZES.items()
        for prior in PRIORS
        for solver in SOLVERS
        if (km <= _MOST_KM_EVEN[solver] if prior == "even" else there and km <= _MOST_KM[solver])
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Built:
    """A problem as the general solvers are given it; see `benchmarks.instances.Built`."""

    instance: Any
    prior: Any
    loss_array: Any
    rows: tuple[Any, Any]

    def exponents(self) -> tuple[Any, Any]:
        """Return the pairs of neighbours (k, 2) and their exponents (k,)."""
        return self.rows


def solved(run: Run, limit_s: float) -> dict[str, Any]:
    """Return the record of a run, in this process."""
    import numpy as np

    import sfumato as sf
    from sfumato.geo.vertices import implying_pairs

    from .registry import Instance

    km, metres, gap = SIZES[run.size]
    box = f"{km:g} km x {km:g} km around {MIDDLES['gowalla']}"
    places = sf.Lattice.covering(box, f"{metres:g} m", kind="triangular")
    if run.prior == "even":
        prior = sf.Prior.uniform(places)
    else:
        prior = sf.Prior.from_visits(places, sf.read_visits(DATA / CHECK_INS[run.prior]))
    loss = places.metric("euclidean", unit="km")
    promise = sf.CoordinatePrivacy("1/km")
    found: dict[str, Any] = {"places": len(places), "gap": gap}
    if run.solver not in _OTHERS:
        cpu, wall = time.process_time(), time.perf_counter()
        made = sf.design(
            prior,
            loss=loss,
            guarantees=promise,
            solver=run.solver,
            gap=gap,
            method="table",
            tie_break=False,
            time_limit=limit_s,
        )
        proof = made.certificate
        return found | {
            "cpu_s": time.process_time() - cpu,
            "wall_s": time.perf_counter() - wall,
            "finished": made.status is sf.optimal.Status.OPTIMAL,
            "status": made.status.value,
            "cost": proof.loss,
            "proved_gap": proof.gap,
            "reports": int((made.mechanism.matrix.max(axis=0) > 1e-3).sum()),
            "epsilon": None,
        }
    from importlib import import_module

    s, t = implying_pairs(places.kind, places.vertices)
    bound: Any = sf.proofs.bound_to(places, [promise])[0]
    step = bound.epsilon
    exponents = step * places.steps().at(s, t)
    instance = Instance("gowalla 1", "euclidean", 1, len(places), gap=gap)
    built: Any = _Built(instance, prior, loss.array, (np.column_stack([s, t]), exponents))
    other = import_module(f"benchmarks.{_OTHERS[run.solver]}").solve
    answer = other(built, limit_s, **({"method": "ipm"} if run.solver == "HiGHS ipm" else {}))
    found |= {"cpu_s": answer.watch.cpu_s, "wall_s": answer.watch.wall_s, "finished": answer.finished}
    found["status"] = answer.status
    if answer.matrix is None:
        return found
    x = np.maximum(answer.matrix, 0.0)
    x /= x.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(x)
        worst = np.nanmax((log[s] - log[t]) / exponents[:, None])
    cost = float(prior.probabilities @ (x * loss.array).sum(axis=1))
    return found | {"cost": cost, "epsilon": float(worst) if np.isfinite(worst) else "infinite"}


def measured(run: Run, limit_s: float) -> dict[str, Any]:
    """Return the record of a run, made in a process of its own."""
    asked: dict[str, Any] = {"size": run.size, "prior": run.prior, "solver": run.solver}
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [
            sys.executable,
            "-m",
            "benchmarks.lattices",
            "--one",
            json.dumps(asked),
            str(limit_s),
            str(answer),
        ]
        environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
        begun = time.monotonic()
        process = subprocess.Popen(  # noqa: S603 (this module)
            command, cwd=_ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, usage = waited(process, begun + limit_s + _GRACE_S)
        ended = {"cpu_s": usage.ru_utime + usage.ru_stime, "wall_s": time.monotonic() - begun, "finished": False}
        found = json.loads(answer.read_text(encoding="utf-8")) if answer.is_file() else ended
    return asked | found | {"limit_s": limit_s, "peak_gib": usage.ru_maxrss * _KIB / 2**30}


def write(invocation: Any) -> Path:
    """Write the page of an invocation and return its path."""
    machine = invocation.machine
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    lines = [
        f"{invocation.started[:10]}, {machine['processor']}, {machine['cores']} cores, {machine['system']}, "
        f"Python {machine['python']}; {versions}.",
        "",
        "| Box, spacing | Places | Prior | Gap asked | Solver | CPU s | Wall s | Peak GiB | Loss, km | "
        "Proved gap | Reports used | True epsilon | Status |",
        "| :-- | --: | :-- | --: | :-- | --: | --: | --: | --: | --: | --: | --: | :-- |",
    ]
    sizes = {run["size"]: run["places"] for run in invocation.runs if "places" in run}
    for run in invocation.runs:
        more = "" if run["finished"] else "> "
        gap, epsilon, cost = run.get("proved_gap"), run.get("epsilon"), run.get("cost")
        shown = epsilon if isinstance(epsilon, str) else "" if epsilon is None else f"{epsilon:.6f}"
        cells = (
            run["size"],
            f"{sizes[run['size']]:,}" if run["size"] in sizes else "",
            run["prior"],
            f"{SIZES[run['size']][2]:.0e}",
            run["solver"],
            f"{more}{run['cpu_s']:,.1f}",
            f"{more}{run['wall_s']:,.1f}",
            f"{run['peak_gib']:.2f}",
            "" if cost is None else f"{cost:.6f}",
            "" if gap is None else f"{gap:.1e}",
            str(run.get("reports", "")),
            shown,
            run.get("status", "ended from outside"),
        )
        lines.append(f"| {' | '.join(cells)} |")
    limit_s = min(run["limit_s"] for run in invocation.runs)
    text = _PAGE.format(limit=limit_s, most=_MOST_BYTES // 2**30) + "\n".join(lines) + "\n"
    TARGET.write_text(text, encoding="utf-8")
    return TARGET


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all, keep the results and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.lattices", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--only", default="", help="only runs whose name contains this")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds of a run of a general solver")
    parser.add_argument("--most", type=float, default=15.0, help="kilometres of the largest box")
    parser.add_argument("--list", action="store_true", help="only name the runs")
    parser.add_argument("--render", action="store_true", help="only write the page of the newest results")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_BYTES, _MOST_BYTES))
        asked, limit_s, answer = given.one
        found = solved(Run(**json.loads(asked)), float(limit_s))
        Path(answer).write_text(json.dumps(found), encoding="utf-8")
        return
    chosen = [run for run in runs() if given.only in run.name and SIZES[run.size][0] <= given.most]
    if given.list:
        sys.stdout.writelines(f"{run.name}\n" for run in chosen)
        return
    # Loaded last: the parent of the runs must stay small (see registry).
    from .results import FOLDER, Invocation

    if given.render:
        newest = max(FOLDER.glob("*-lattices.json"))
        invocation = Invocation(**json.loads(newest.read_text(encoding="utf-8")))
    else:
        invocation = Invocation.new("lattices-part" if given.only else "lattices")
        for number, run in enumerate(chosen, 1):
            limit_s = given.limit if run.solver in _OTHERS else 10 * given.limit
            invocation.runs.append(measured(run, limit_s))
            invocation.write()
            sys.stdout.write(f"[{number}/{len(chosen)}] {run.name}: {json.dumps(invocation.runs[-1])}\n")
            sys.stdout.flush()
    if not given.only:
        sys.stdout.write(f"wrote {write(invocation)}\n")


if __name__ == "__main__":
    main()
