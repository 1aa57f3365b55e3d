"""``sfumato mechanism``, ``sign`` and ``verify``: mechanism files by a formula, and their signatures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...errors import InputError
from ..column_options import column_of, promise_for
from ..messages import option, say
from ..options import Cell, Cells, CommandOptions, Hexagons, MechanismOutput, Region, options_of
from ..outputs import check_ending, check_outputs
from ..place_options import cells_over, promise_of, region_of

if TYPE_CHECKING:
    from ...core import Mechanism, Metric, MetricPrivacy, Space

_REGION: Final = "add --region '8 km x 6 km around 48.85,2.35'."
_VALUES: Final = ("labels", "numbers")
_CELLS: Final = ("region", "cells", "cell", "hexagons")
_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "randomised-response": _VALUES,
    "exponential": (*_VALUES, *_CELLS),
    "tight-constraints": (*_VALUES, *_CELLS),
    "geometric": ("numbers",),
    "staircase": ("numbers", "sensitivity"),
    "discrete-gaussian": ("numbers", "sensitivity", "delta"),
    "planar-geometric": _CELLS,
    "planar-noise": ("region",),
}
"""The formulas, and the options that each takes in addition to epsilon."""


@dataclass(frozen=True, kw_only=True)
class FormulaOptions(CommandOptions):
    """The options of ``sfumato mechanism``."""

    formula: Annotated[str, typer.Argument(help=f"{', '.join(_OPTIONS)}.")]
    epsilon: Annotated[
        str, typer.Option(help="The epsilon to guarantee: 1, 0.1/year for numbers, 1/km for places.")
    ]
    labels: Annotated[str | None, typer.Option(help="Possible values: a,b,c, or a file.")] = None
    numbers: Annotated[str | None, typer.Option(help="18..99, or 18..99:5 in bins of five.")] = None
    region: Region = None
    cells: Cells = None
    cell: Cell = None
    hexagons: Hexagons = None
    sensitivity: Annotated[
        int | None,
        typer.Option(help="Of staircase and discrete-gaussian: the largest difference that epsilon hides.", min=1),
    ] = None
    delta: Annotated[float | None, typer.Option(help="Of discrete-gaussian: the delta to guarantee.")] = None
    output: MechanismOutput = None


@options_of(FormulaOptions)
def command(options: FormulaOptions) -> None:
    """Write the mechanism file of a formula, without data.

    Categories (--labels) take randomised-response, exponential or tight-constraints. Numbers (--numbers)
    also take geometric (discrete Laplace noise), staircase and discrete-gaussian.
    Cells (--region with --cells) take exponential, tight-constraints and planar-geometric;
    planar-noise takes --region alone. 'sfumato design' and 'design-column' find mechanisms that lose less.
    """
    from ...core import Prior
    from ...files import MechanismFile, save
    from ...geo import Projection
    from ...mechanisms.planar import CoordinateNoise
    from ...reports import summarise_noise
    from ..mechanism_files import print_promises
    from ..screen import print_summary

    if options.formula not in _OPTIONS:
        raise InputError(f"no formula is called {options.formula!r}.", f"use one of {', '.join(_OPTIONS)}.")
    check_ending(options.output, ".sfm")
    target = options.output or Path(f"{options.formula}.sfm")
    check_outputs([target])
    other = {name for names in _OPTIONS.values() for name in names} - {*_OPTIONS[options.formula]}
    options.refuse(sorted(other), f"was given, but {options.formula} has no such option.", "leave it out.")
    if options.formula == "planar-noise":
        area = region_of(options.region)
        if area is None:
            raise InputError("planar-noise was given without --region.", _REGION)
        with option("--epsilon"):
            file = MechanismFile(CoordinateNoise(options.epsilon, projection=Projection(*area.centre)))
        print_summary(summarise_noise(file))
    else:
        mechanism, loss = _build_mechanism(options)
        file = MechanismFile(mechanism, Prior.uniform(mechanism.secrets), loss)
        if mechanism.guarantees:
            print_promises(file)
    save(file, target)
    say(f"Written: {target}")
    say(f"Next: sfumato audit {shlex.quote(str(target))}.")


def _build_mechanism(options: FormulaOptions) -> tuple[Mechanism, Metric]:
    from ... import mechanisms

    if options.formula in ("staircase", "discrete-gaussian"):
        return _integer_noise(options)
    space, promise = _secrets(options)
    epsilon, metric = promise.epsilon, promise.metric
    per_unit = {"randomised-response": False, "geometric": True}.get(options.formula)
    if per_unit is not None and per_unit != ("/" in options.epsilon):
        form = "it per unit: --epsilon 0.1/year." if per_unit else "a pure number: --epsilon 1."
        raise InputError(f"--epsilon {options.epsilon} does not fit {options.formula}.", f"write {form}")
    with option("--epsilon"):
        match options.formula:
            case "randomised-response":
                return mechanisms.randomised_response(space, epsilon), metric
            case "geometric":
                return mechanisms.geometric(space, epsilon), metric
            case "exponential":
                return mechanisms.exponential(space, metric, epsilon), metric
            case "tight-constraints":
                return mechanisms.tight_constraints(space, metric, epsilon), metric
        return mechanisms.planar_geometric(space, f"{epsilon!r}/km").promising(promise), metric


def _integer_noise(options: FormulaOptions) -> tuple[Mechanism, Metric]:
    """Return integer noise on a range, which hides differences up to the sensitivity, and its loss."""
    from ...core import ThresholdPrivacy
    from ...mechanisms import DiscreteGaussian, Staircase
    from ...rounding import at_most, exactly

    if options.numbers is None:
        raise InputError(f"{options.formula} was given without --numbers.", "name the range: --numbers 0..20.")
    if ":" in options.numbers:
        raise InputError(f"--numbers {options.numbers} has bins.", "leave out their width.")
    space = column_of(None, "secret", None, options.numbers).space
    metric = space.metric("absolute")
    sensitivity = 1 if options.sensitivity is None else options.sensitivity
    with option("--epsilon"):
        promise = ThresholdPrivacy(options.epsilon, metric, sensitivity)
    if options.formula == "staircase":
        return Staircase(promise.epsilon, sensitivity).on_range(space).promising(promise), metric
    if options.delta is None:
        raise InputError("discrete-gaussian was given without --delta.", "add --delta 1e-6.")
    noise = DiscreteGaussian.calibrate(promise.epsilon, options.delta, sensitivity)
    delta = noise.delta(promise.epsilon) + (1 + exp(promise.epsilon)) * 2.0**-40  # of probabilities as integers
    say(
        f"Guarantee: epsilon {exactly(promise.epsilon)} with delta at most {at_most(delta)}, for numbers that "
        f"differ by at most {sensitivity}. A file holds no guarantee with a delta; --delta of 'sfumato audit' "
        "measures epsilon for any two numbers."
    )
    return noise.on_range(space), metric


def _secrets(options: FormulaOptions) -> tuple[Space, MetricPrivacy]:
    if options.region is None:
        options.refuse(("cells", "cell", "hexagons"), "was given without --region.", _REGION)
        column = column_of(
            None, "secret", options.labels, options.numbers, options.epsilon.partition("/")[2].strip()
        )
        return column.space, promise_for(column, options.epsilon)
    options.refuse(("labels", "numbers"), "was given with --region.", "leave one of them out.")
    area: Any = region_of(options.region)  # which cells cover as they cover visits
    cells = cells_over(area, options.region, options.cell, options.cells, options.hexagons)
    return cells, promise_of(options.epsilon, cells.metric("euclidean", unit="km"), "--epsilon")


def sign(
    files: Annotated[list[Path], typer.Argument(help="The mechanism files (.sfm).")],
    key: Annotated[Path, typer.Option(help="The Ed25519 private key: PEM, or of 'ssh-keygen -t ed25519'.")],
) -> None:
    """Sign mechanism files.

    Writes FILE.sig next to each; keep the two together. Others check it with 'sfumato verify', or with
    'sfumato release --require-signature'. They need the public key, from you and not from where the file is.
    A signature shows who signed, and that the file is unchanged. 'sfumato audit' proves its guarantees.
    """
    from ...files import read_mechanism_file
    from ...files import sign as sign_file

    @cache
    def password() -> str:
        return str(typer.prompt(f"Password of {key}", hide_input=True, err=True))

    for file in files:
        read_mechanism_file(file)
    for file in files:
        fingerprint = sign_file(file, key, password=password)
        say(f"Written: {file}.sig (key {fingerprint})")


def verify(
    files: Annotated[list[Path], typer.Argument(help="The mechanism files (.sfm), each with its FILE.sig.")],
    key: Annotated[Path, typer.Option(help="The Ed25519 public key: PEM, or such as team.pub of ssh-keygen.")],
) -> None:
    """Check who signed mechanism files.

    Exit code 1 at the first file that is not signed with the key. 'sfumato audit' proves its guarantees.
    """
    from ...files import verify as verify_file

    for file in files:
        fingerprint = verify_file(file, key)
        say(f"{file} is signed with the key {fingerprint}, and unchanged.")
