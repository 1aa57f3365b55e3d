"""Requests that a description allows, with values that exist where fields depend on the data or on each other.

Whole numbers are sent as such: for JSON Schema 21.0 is one, too, which the studio refuses.
"""

from collections.abc import Callable, Mapping
from typing import Any

from .conftest import Visitor

Fields = dict[str, Any]
NAMED = ("notions", "takeaway", "mechanism.sfm", "script.py", "report.html", "report.json")
"""Routes with nothing but the mechanism in their query."""
REPORTS = 1_000
"""Of a walk, at most."""


class Fitted:
    """Fits requests to a workspace of values.

    Args:
        target: The workspace, with levels.
    """

    def __init__(self, target: Visitor) -> None:
        levels = target.levels()["levels"]
        self._values = len(target.get("/values")["values"])
        self._designs = [each["design"] for each in levels]
        self._useful = [each["level"] for each in levels if each["useful"]]

    def fit(self, path: str, fields: Mapping[str, Any]) -> Fields:
        """Return the fields of a request that the workspace accepts, as near to those given as may be."""
        ways: dict[str, Callable[[Fields], Fields]] = {
            "preview": self._preview,
            "share": self._share,
            "walk": self._walk,
            "attack": self._attack,
            "choose": self._choose,
            "compare": self._compare,
            "designs": self._design,
            "site": self._site,
            **dict.fromkeys(
                ("notions", "takeaway", "mechanism.sfm", "script.py", "report.html", "report.json"),
                self._mechanism,
            ),
        }
        way = ways.get(path.rpartition("/")[2])
        named = {name: value for name, value in fields.items() if value != "null"}  # which a query has for None
        return named if way is None else way(named)

    def _mechanism(self, fields: Fields) -> Fields:
        """Name either a level or a design that is there."""
        if fields.get("design") is not None:
            fields["design"] = self._designs[len(fields["design"]) % len(self._designs)]
            fields.pop("level", None)
        else:
            fields.pop("design", None)
            fields["level"] = int(fields.get("level") or 0)
        if "people" in fields:
            fields["people"] = int(fields["people"])
        return fields

    def _here(self, fields: Fields) -> Fields:
        """Name a value, and no point on a map."""
        fields.pop("lat", None)
        fields.pop("lon", None)
        fields["at"] = int(fields.get("at") or 0) % self._values
        return fields

    def _preview(self, fields: Fields) -> Fields:
        if fields.get("report") is not None:
            fields["report"] = int(fields["report"]) % self._values
        return self._mechanism(self._here(fields))

    def _share(self, fields: Fields) -> Fields:
        fields["times"] = int(fields.get("times", 100))
        return self._mechanism(self._here(fields))

    def _walk(self, fields: Fields) -> Fields:
        fields["path"] = [self._here(dict(each)) for each in fields["path"]]
        fields["repeat"] = min(int(fields.get("repeat", 1)), REPORTS // len(fields["path"]))
        fields.pop("near_m", None)  # too small a one makes the walk impossible
        return self._mechanism(fields)

    def _attack(self, fields: Fields) -> Fields:
        main, belief = fields.pop("main", None), fields.pop("belief", None)
        if main:
            share = max(1.0, sum(each["weight"] for each in main))
            fields["main"] = [
                {"at": int(each["at"]) % self._values, "weight": each["weight"] / share * (1 - 1e-12)}
                for each in main
            ]
        else:
            weights = [1.0, *(belief or ())][: self._values]
            fields["belief"] = weights + [0.0] * (self._values - len(weights))
        return self._mechanism(fields)

    @staticmethod
    def _one_of(fields: Fields, *names: str) -> str:
        """Keep one of several fields, the first that is there, and return its name."""
        kept = next((name for name in names if fields.get(name) is not None), "")
        for name in names:
            if name != kept:
                fields.pop(name, None)
        return kept

    def _choose(self, fields: Fields) -> Fields:
        if not self._one_of(fields, "loss_at_most", "found_at_most", "half_width_at_most"):
            fields["found_at_most"] = 0.5
        if "people" in fields:
            fields["people"] = int(fields["people"])
        return fields

    def _compare(self, fields: Fields) -> Fields:
        fields.pop("design", None)
        fields["level"] = self._useful[int(fields.get("level") or 0) % len(self._useful)]
        return fields

    def _design(self, fields: Fields) -> Fields:
        fields.pop("found_at_most", None)  # of values it cannot be searched for
        kept = self._one_of(fields, "epsilon", "loss_at_most")
        if not kept:
            fields["epsilon"] = 1.0
        elif kept == "loss_at_most":
            fields.pop("distortion", None)
        return fields

    @staticmethod
    def _site(fields: Fields) -> Fields:
        """Values, of the column that there is, in a range that they have."""
        site: Fields = {"kind": "values"}
        if isinstance(fields.get("epsilon_per_unit"), bool):
            site["epsilon_per_unit"] = fields["epsilon_per_unit"]
        if fields.get("goal") is not None:
            site["goal"] = fields["goal"]
        if fields.get("circular") is not None:
            site["circular"] = 76 + int(abs(fields["circular"])) % 100
        if fields.get("column") is not None:
            site["column"] = "age"
        if fields.get("first") is not None:
            site["first"] = 18 + int(abs(fields["first"])) % 20
        if fields.get("last") is not None:
            site["last"] = 40 + int(abs(fields["last"])) % 20
        return site
