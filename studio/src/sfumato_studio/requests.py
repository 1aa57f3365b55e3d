"""Request models of the interface, with limits for every field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .errors import RefusedError
from .limits import LEAST_PLACES, LEVELS, MOST_PLACES, PATH_POINTS, PEOPLE, POLYGON_CORNERS, SHARES, USUAL_PLACES

Positive = Annotated[float, Field(gt=0, le=1e9)]
Share = Annotated[float, Field(ge=0, le=1)]
Index = Annotated[int, Field(ge=0, le=10_000)]
Latitude = Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)]
Longitude = Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)]
Corner = Annotated[list[Longitude], Field(min_length=2, max_length=2)]
Identity = Annotated[str, Field(pattern="^[0-9a-f]{8,40}$")]
LevelIndex = Annotated[int, Field(ge=0, lt=LEVELS)]
People = Annotated[int, Field(ge=1, le=10**9)]
Seconds = Annotated[float, Field(ge=1, le=86_400)]


class RequestBody(BaseModel):
    """The body of a request: fields that it does not have are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    def one_of(self, *names: str) -> tuple[str, Any]:
        """Return the one of several fields that is set, with its value; `RefusedError` for none or two."""
        fields = [(name, value) for name in names if (value := getattr(self, name)) is not None]
        if len(fields) != 1:
            hint = f"send {', '.join(names[:-1])} or {names[-1]}."
            raise RefusedError(422, "One of these fields is needed, and no other.", hint, names[0])
        return fields[0]


class RegionBody(RequestBody):
    """A rectangle on the map, degrees."""

    south: Latitude
    west: Longitude
    north: Latitude
    east: Longitude


class ChangeBody(RequestBody):
    """Changes of a workspace."""

    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    view: dict[str, Any] | None = Field(None, description="What the page keeps for itself, at most 64 kB.")


class ExampleBody(RequestBody):
    """The choice of an example."""

    example: Literal["city", "ages", "categories"]


class PlacesSiteBody(RequestBody):
    """The places that a map is divided into."""

    kind: Literal["places"]
    region: RegionBody | None = Field(None, description="What is served; by default where most visits are.")
    polygon: list[Corner] | None = Field(
        None,
        min_length=3,
        max_length=POLYGON_CORNERS + 1,
        description="Instead: the corners of an area, each longitude and latitude. Visits inside it count; the "
        "rectangle around it is served.",
    )
    detail: int = Field(USUAL_PLACES, ge=LEAST_PLACES, le=MOST_PLACES, description="About how many places.")
    radius_m: float = Field(250.0, gt=0, le=1e5, description="How near a guess counts as found, metres.")


class ValuesSiteBody(RequestBody):
    """The column, and those of its values, that are made private."""

    kind: Literal["values"]
    column: Annotated[str, Field(max_length=500)] | None = None
    first: Annotated[int, Field(ge=-(10**9), le=10**9)] | None = Field(None, description="The smallest number.")
    last: Annotated[int, Field(ge=-(10**9), le=10**9)] | None = Field(None, description="The largest number.")
    circular: Annotated[int, Field(ge=2, le=10_000)] | None = Field(
        None,
        description="The length of the circle that the numbers are on, such as 24 for hours; null for a line.",
    )
    goal: Literal["shares", "answers"] | None = Field(
        None, description="What counts: the accuracy of shares (by default of categories), or of single answers."
    )
    epsilon_per_unit: bool = Field(False, description="Whether epsilon counts per unit, where values are numbers.")


class MechanismBody(RequestBody):
    """A mechanism: that of a level, or a design."""

    level: LevelIndex | None = None
    design: Identity | None = Field(None, description="The id of a design.")


class PositionBody(RequestBody):
    """A position: the index of a place or value, or a point on the map."""

    at: Index | None = None
    lat: Latitude | None = None
    lon: Longitude | None = None


class ShareBody(MechanismBody, PositionBody):
    """Reports that are drawn."""

    times: int = Field(100, ge=1, le=SHARES)


class WalkBody(MechanismBody):
    """A walk, and what is reported on it."""

    path: list[PositionBody] = Field(min_length=1, max_length=PATH_POINTS)
    repeat: int = Field(1, ge=1, le=PATH_POINTS, description="How many reports at each stop.")
    near_m: Annotated[float, Field(ge=0, le=1e7)] | None = Field(
        None,
        description="How far apart the attacker thinks that two stops are, at most; by default the longest step.",
    )


class MainPlaceBody(RequestBody):
    """A place where a person often is."""

    at: Index
    weight: Share


class AttackBody(MechanismBody):
    """The belief of an attacker."""

    belief: list[Annotated[float, Field(ge=0, le=1e12)]] | None = Field(
        None, max_length=10_000, description="A weight for every place."
    )
    main: list[MainPlaceBody] | None = Field(
        None, max_length=100, description="Instead: places with their shares; the rest is as in the data."
    )


class ChooseBody(RequestBody):
    """An outcome that is wanted: one of these."""

    loss_at_most: Positive | None = None
    found_at_most: Share | None = None
    half_width_at_most: Share | None = Field(None, description="Of the 95 % interval of a share, for `people`.")
    people: People = PEOPLE


class CompareBody(MechanismBody):
    """A mechanism, and what others have in common with it."""

    equal: Literal["loss", "epsilon"] = "loss"


class OptimizeBody(RequestBody):
    """The time that the design of each level may take."""

    time_limit_s: Seconds | None = None


class DesignBody(RequestBody):
    """A design for one of epsilon and the two outcomes."""

    epsilon: Positive | None = None
    loss_at_most: Positive | None = None
    found_at_most: Share | None = None
    distortion: Positive | None = Field(
        None, description="The attacker's least average error, in the loss's unit."
    )
    thorough: bool = Field(False, description="A hundred times nearer to the best possible; takes longer.")
    time_limit_s: Seconds | None = None
