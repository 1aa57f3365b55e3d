"""Entries of the public registry of differential-privacy deployments, from the facts of a report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

from ...errors import DataError, InputError, argument
from .. import sentences as words
from ..facts import ReportFacts

_SCHEMA: Final = Path(__file__).with_name("templates") / "registry.json"
_FILL_IN: Final = "FILL IN"
_HEADER: Final = f"""\
# An entry for the Differential Privacy Deployments Registry: https://github.com/opendp/deployments-registry-data
# Replace every text that begins with {_FILL_IN}. Check publication_date, which is the day of this report, and
# data_curator_type: Government, Industry or Nonprofit.
"""
_TYPES: Final = {"object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float)}


def registry_entry(facts: ReportFacts) -> dict[str, Any]:
    """Return the entry of a deployment; what a file does not say is left to be filled in.

    Raises `InputError` if a guarantee is not proved, or the file guarantees no epsilon. Raises `DataError` if the
    entry does not fit the schema of the registry.
    """
    rated = [fact for fact in facts.promises if fact.rates_secrets]
    if not facts.holds or not rated:
        why = (
            "the file guarantees no epsilon between true values"
            if facts.holds
            else "not every guarantee of the file is proved"
        )
        raise InputError(
            f"{why}, so there is no entry for the registry.", f"leave out {argument('registry', 'entry.yaml')}."
        )
    subject, file, review, promise = facts.subject, facts.file, words.review_words(facts), rated[0]
    pure = promise.kind == "values" and not promise.unit and not promise.unprotected
    pure = pure and all(belief.distance.value == 1 for belief in promise.beliefs)
    entry = {
        "url_slug": f"sfumato-{file.sha256[:12] or 'draft'}",
        "deployment": {
            "basic": {
                "name": f"{_FILL_IN}: the name of the data product",
                "data_curators": [
                    {"data_curator_name": f"{_FILL_IN}: who publishes it", "data_curator_type": "Industry"}
                ],
                "description": " ".join(words.protected_words(subject)),
                "intended_use": f"{_FILL_IN}: what it is for",
                "data_product_type": "Dataset",
                "data_product_region": words.region_words(subject) if subject.region else f"{_FILL_IN}: where",
                "publication_date": f"{file.day:%Y-%m-%d}",
            },
            "dp_variant": {
                "variant_name": "Pure DP" if pure else "Custom",
                "data_domain": words.protected_words(subject)[0],
                "unprotected_quantities": " ".join(words.limit_words(facts)),
            },
            "privacy_loss": {
                "privacy_unit": review["Unit of privacy"],
                "privacy_unit_details": " ".join(words.formal_words(promise, subject)),
                "privacy_parameters": {"epsilon": promise.claimed.value},
                "privacy_parameters_details": " ".join(words.odds_words(fact, subject) for fact in facts.promises),
            },
            "deployment_model": {
                "model_name": "Local",
                "trust_assumptions": review["Trust model"],
                "access_type": "Non-interactive",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": review["Prior"],
                "mechanisms": f"{review['Mechanism and solver']} {review['Random numbers']}",
                "composition": f"{review['Composition']} {review['Budget']}",
                "justification": review["Why this epsilon"],
                "utility": " ".join((*words.cost_words(facts.cost, subject), review["Largest error"])),
                "additional_information": f"{words.verified_words(facts)} SHA-256 of its file: {file.sha256}.",
            },
            "administrative": {
                "status": "Draft",
                "registry_authors": [f"{_FILL_IN}: who writes this entry"],
                "tier": 2,
            },
        },
    }
    faults = list(registry_faults(entry))
    if faults:
        raise DataError(f"the entry does not fit the schema of the registry: {faults[0]}.")
    return entry


def registry_faults(entry: object) -> Iterator[str]:
    """Yield where an entry does not fit the schema of the registry."""
    return _faults(entry, json.loads(_SCHEMA.read_text(encoding="utf-8")), "the entry")


def _faults(value: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    kind, enum = schema.get("type", ""), schema.get("enum", ())
    if kind and type(value) not in _TYPES[kind]:
        yield f"{where} is no {kind}"
        return
    if enum and value not in enum:
        yield f"{where} is none of {', '.join(map(str, enum))}"
    if schema.get("format") == "date":
        try:
            date.fromisoformat(value)
        except ValueError:
            yield f"{where} is no date"
    if kind == "array":
        if len(value) < schema.get("minItems", 0):
            yield f"{where} has too few items"
        for item in value:
            yield from _faults(item, schema["items"], f"an item of {where}")
    if kind == "object":
        fields = schema.get("properties", {})
        yield from (f"{where} lacks {name}" for name in schema.get("required", ()) if name not in value)
        if not schema.get("additionalProperties", True):
            yield from (f"{where} has no field {name}" for name in value if name not in fields)
        for name in value.keys() & fields.keys():
            yield from _faults(value[name], fields[name], name)


def registry_text(facts: ReportFacts) -> str:
    """Return the entry of a deployment as YAML; raise as `registry_entry`."""
    return _HEADER + "".join(_lines(registry_entry(facts), ""))


def _lines(content: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in content.items():
        if type(value) is dict:
            yield f"{indent}{name}:\n"
            yield from _lines(value, f"{indent}  ")
        else:  # JSON is YAML, but numbers such as 1e-05 are texts in YAML 1.1
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            number = type(value) is float and "." not in text
            yield f"{indent}{name}: {text.replace('e', '.0e') if number else text}\n"
