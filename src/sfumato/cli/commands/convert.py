"""``sfumato convert``: what a guarantee implies in other notions of privacy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InputError
from ..audit_knowledge import MetricOptions
from ..column_options import column_of
from ..messages import option, say
from ..options import options_of
from ..outputs import check_ending, check_outputs, finite, write_json

if TYPE_CHECKING:
    from ...audits import AuditInputs, Request, Requirement
    from ...core import Metric
    from ...privacy import Claim, Derivation, Notion


@dataclass(frozen=True, kw_only=True)
class ConvertOptions(MetricOptions):
    """The options of ``sfumato convert``."""

    guarantee: Annotated[str, typer.Argument(help="Such as 'epsilon <= 1', 'rho <= 0.5', 'mu <= 1'.")]
    to: Annotated[
        list[str] | None, typer.Option(help="gaussian, 'epsilon(delta=1e-6)', ... Repeatable. [default: all]")
    ] = None
    delta: Annotated[list[float] | None, typer.Option(help="Without --to. Repeatable. [default: 1e-6]")] = None
    order: Annotated[list[float] | None, typer.Option(help="Without --to. Repeatable. [default: 2]")] = None
    labels: Annotated[str | None, typer.Option(help="The secrets of --metric: a,b,c, or a file.")] = None
    numbers: Annotated[str | None, typer.Option(help="The secrets of --metric: 18..99, or 18..99:5.")] = None
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write all results (.json).")] = None


@options_of(ConvertOptions)
def command(options: ConvertOptions) -> None:
    """Convert a guarantee into other notions of privacy.

    The guarantee is written as for --require of 'sfumato audit'. With a unit, 'epsilon <= 0.1/year',
    it is metric privacy, which needs --metric and the secrets.
    With --to every step is shown with its condition and source. More: docs/reference/atlas.md.
    """
    from ...audits import AuditInputs, Requirement
    from ...privacy import convert

    check_ending(options.output, ".json")
    check_outputs([options.output])
    if options.to:
        options.refuse(("delta", "order"), "was given with --to, which names its numbers.", "leave it out.")
    guarantee = Requirement.parse(options.guarantee)
    inputs = AuditInputs(metric=_metric(options, guarantee.bound.partition("/")[2].strip()))
    claim = _claim(guarantee, inputs)
    chains: dict[str, list[Derivation]] = {}
    errors: dict[str, InputError] = {}
    for key, numbers in _goals(options, inputs):
        if key in chains and numbers.get("delta") and not (options.delta or options.to):
            continue  # delta 0 is enough
        try:
            chain = convert(claim, key, **numbers)
        except InputError as error:
            if options.to:
                raise
            errors[key] = error
        else:
            if str(chain) not in map(str, chains.setdefault(key, [])):
                chains[key].append(chain)
    missing = {key: error for key, error in errors.items() if key not in chains}
    implied = [chain for group in chains.values() for chain in group if chain.edges or options.to]
    _print(claim, implied, missing, steps=bool(options.to))
    if options.output is not None:
        reasons = {key: error.problem for key, error in missing.items()}
        content = {"guarantee": str(claim), "implied": list(map(_as_dict, implied)), "not_implied": reasons}
        write_json(content, options.output)
        say(f"Written: {options.output}")


def _metric(options: ConvertOptions, unit: str) -> Metric | None:
    if options.labels is None and options.numbers is None:
        names = ("metric", "distances", "asymmetric", "unit")
        options.refuse(names, "was given without the secrets.", "add --numbers 18..99.")
        return None
    space = column_of(None, "secret", options.labels, options.numbers, options.unit or unit).space
    if options.distances is not None:
        options = replace(options, unit=options.unit or unit)
    metric = options.metric_on(space)
    if metric is None:
        raise InputError("the secrets were given without distances.", "add --metric absolute, or leave them out.")
    return metric


def _claim(guarantee: Requirement, inputs: AuditInputs) -> Claim:
    from ...core import units
    from ...privacy import Claim

    notion = _notion(guarantee.request, inputs)
    if not guarantee.at_most:
        raise InputError(
            f"{guarantee.text!r} is not a guarantee.", f"state the largest {notion.parameter}: use <=."
        )
    per = "metric" in notion.settings
    bound = units.parse(guarantee.bound, per=per, unit=notion.unit, subject=notion.parameter)
    return Claim(notion.key, **{**notion.settings, notion.parameter: bound})


def _notion(request: Request, inputs: AuditInputs) -> Notion:
    notion = request.notion(inputs)
    if notion is None and request.name == "distortion":
        raise InputError(
            "distortion privacy needs a distance and a prior, which conversions do not take.",
            "'sfumato audit' measures the attacker's error with --prior and --metric.",
        )
    if notion is None:
        raise request.name_error()
    return notion


def _goals(options: ConvertOptions, inputs: AuditInputs) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the keys of notions with the numbers and the context to convert to."""
    from ...audits import Request
    from ...privacy import VOCABULARY

    for text in options.to or ():
        with option("--to"):
            notion = _notion(Request.parse(text), inputs)
        yield notion.key, notion.settings
    for key, word in () if options.to else VOCABULARY.items():
        axes = {
            "delta": (0.0, *(options.delta or inputs.deltas)),
            "order": options.order or inputs.orders,
            "divergence": inputs.divergences,
            "metric": (inputs.metric,),
        }
        names = [name for name in axes if name in (*word.numbers, *word.essentials)]
        for values in product(*(axes[name] for name in names)):
            yield key, dict(zip(names, values, strict=True))


def _print(claim: Claim, chains: list[Derivation], missing: dict[str, InputError], *, steps: bool) -> None:
    from ...privacy import VOCABULARY
    from ...rounding import at_most
    from ..screen import Screen, print_table

    console = Screen()
    if steps:
        for chain in chains:
            for line in (*str(chain).splitlines(), ""):
                console.print(line)
        return
    rows = []
    for chain in chains:
        word = VOCABULARY[chain.claim.notion]
        divergence: Any = chain.claim.context.get("divergence")
        numbers = [
            f"{name} {at_most(value)}"
            for name, value in chain.claim.numbers.items()
            if word.defaults.get(name) != value
        ]
        title = word.heading + (f" ({divergence.name})" if divergence else "")
        rows.append((title, ", ".join(numbers), ", ".join(edge.name for edge in chain.edges)))
    print_table(console, f"Implied by {claim}", ("notion", "value", "implications"), rows, text=(0, 1, 2))
    if missing:
        console.print(f"No implication is known to {', '.join(VOCABULARY[key].title for key in missing)}.")
    console.print("--to NOTION shows the steps, with their conditions and sources.")


def _as_dict(chain: Derivation) -> dict[str, Any]:
    from ...divergences import F_DIVERGENCES

    divergence = chain.claim.context.get("divergence")
    return {
        "notion": chain.claim.notion,
        "of": next((key for key, kind in F_DIVERGENCES.items() if kind is divergence), None),
        "numbers": {name: finite(value) for name, value in chain.claim.numbers.items()},
        "sentence": chain.claim.sentence,
        "steps": [
            {"name": edge.name, "rule": edge.rule, "condition": edge.needs, "source": edge.source}
            for edge in chain.edges
        ],
    }
