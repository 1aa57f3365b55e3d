"""Response models of the interface, with units."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

Kind = Literal["places", "values"]
Attacker = Literal["expected", "mistaken", "right"]
LevelStatus = Literal["closed form", "running", "optimized"]


class ColumnAnswer(BaseModel):
    """One column of a table that could not be read."""

    name: str
    examples: list[str]


class JobErrorAnswer(BaseModel):
    """The reason why a job failed, and what to do."""

    message: str
    hint: str


class ErrorTextAnswer(JobErrorAnswer):
    """The error in words, and what to do."""

    field: str = Field(description="The field of the request that is meant; empty for none.")
    columns: list[ColumnAnswer] = Field(description="Of a file whose columns have to be chosen.")


class ErrorAnswer(BaseModel):
    """An error."""

    error: ErrorTextAnswer


class MeasuredAnswer(BaseModel):
    """A number between two bounds, with what it would be without the mechanism or without a report."""

    lower: float | None
    value: float
    upper: float | None
    unit: str
    text: str = Field(description="The number, rounded toward the weaker claim.")
    sentence: str = Field(description="To be shown as it stands. It is text, not HTML.")
    baseline: float | None = None
    baseline_sentence: str = ""


class RegionAnswer(BaseModel):
    """A rectangle on the map, degrees."""

    south: float
    west: float
    north: float
    east: float


class LimitsAnswer(BaseModel):
    """The most that can be requested."""

    upload_bytes: int


class ExampleAnswer(BaseModel):
    """Data that is built in."""

    key: Literal["city", "ages", "categories"]
    title: str
    kind: Kind
    sentence: str


class AboutAnswer(BaseModel):
    """The studio."""

    version: str
    studio: int
    limits: LimitsAnswer
    formats: list[str]
    examples: list[ExampleAnswer]
    ledger: bool = Field(description="Whether there is a page of budgets.")
    basemap: bool = Field(description="Whether there is a file for the basemap.")


class ProgressAnswer(BaseModel):
    """One line of a running job."""

    seconds: float
    value: float | None
    bound: float | None
    gap: float | None
    rows: int
    step: int


class SharesAnswer(BaseModel):
    """The accuracy of the shares that are estimated from many reports."""

    people: int
    half_width: MeasuredAnswer | None = Field(description="Of the widest 95 % interval; null where there is none.")
    estimable: bool
    sentence: str


class LevelAnswer(BaseModel):
    """One level of privacy, with the mechanism shown for it and what is proved of that mechanism."""

    level: int | None = Field(
        description="Its place on the slider, 0 for the least private; null for other designs."
    )
    design: str
    epsilon: float = Field(description="As proved of the mechanism.")
    status: LevelStatus
    name: str
    useful: bool = Field(description="Whether it loses less than the same report for everyone, by 0.5 % or more.")
    finished: bool
    gap: float | None
    headline: str
    sentences: list[str]
    loss: MeasuredAnswer
    error: MeasuredAnswer | None
    found: MeasuredAnswer
    shares: SharesAnswer | None = Field(description="Only for values.")


class LevelsAnswer(BaseModel):
    """The levels that are there, the least private first."""

    levels: list[LevelAnswer]
    start: int = Field(description="The level to begin with.")
    total: int
    progress: JobAnswer | None = Field(description="The last job that optimizes the levels.")


class ContourAnswer(BaseModel):
    """The fewest places that hold a share of the reports."""

    share: float
    cells: list[int]


class HereAnswer(BaseModel):
    """The reports of a person at a position."""

    at: int
    lat: float | None
    lon: float | None
    reports: list[float]
    contours: list[ContourAnswer]
    mean_loss: float
    sentence: str


class BeliefAnswer(BaseModel):
    """The attacker's belief after a report."""

    report: int
    before: list[float]
    after: list[float]
    guess: int
    sentence: str


class PreviewAnswer(BaseModel):
    """A level, the reports from one position, and what one report reveals."""

    shown: LevelAnswer
    here: HereAnswer | None
    belief: BeliefAnswer | None


class ChoiceAnswer(BaseModel):
    """The level that an outcome needs."""

    possible: bool
    level: int | None
    design: str | None
    sentence: str


class NotionAnswer(BaseModel):
    """One definition of privacy."""

    key: str
    title: str
    plain: str = Field(description="Its idea in plain words.")
    meaningful: bool = Field(description="Whether its number is a useful limit at this level.")
    value: str = Field(description="Its numbers; empty where it does not follow from the guarantee.")
    sentence: str


class NotionsAnswer(BaseModel):
    """The definitions of privacy that a level satisfies."""

    notions: list[NotionAnswer]
    sentence: str


class CountAnswer(BaseModel):
    """The times that something was reported."""

    at: int
    count: int


class SharedAnswer(BaseModel):
    """Reports that were drawn."""

    reports: list[int]
    counts: list[CountAnswer]
    mean_loss: float
    sentence: str


class StepAnswer(BaseModel):
    """One report of a walk, and what the attacker believes then."""

    stop: int
    report: int
    belief: list[float]
    guess: int
    truth: int
    chance: float
    off: float
    sentence: str


class WalkedAnswer(BaseModel):
    """A walk."""

    steps: list[StepAnswer]
    sentence: str


class AttackerAnswer(BaseModel):
    """The success of one attacker."""

    name: Attacker
    who: str = Field(description="What the attacker knows, in a sentence.")
    error: MeasuredAnswer | None
    found: MeasuredAnswer


class AttackedAnswer(BaseModel):
    """Three attackers who differ in what they know."""

    attackers: list[AttackerAnswer]
    sentences: list[str]


class ComparedRowAnswer(BaseModel):
    """One of several compared mechanisms."""

    name: str
    yours: bool = Field(description="Whether it is the mechanism of the level.")
    explanation: str
    epsilon: float | None
    loss: MeasuredAnswer | None
    error: MeasuredAnswer | None
    promise: str
    detail: str
    problem: str


class ComparedAnswer(BaseModel):
    """The result of a comparison; another level makes it stale."""

    design: str
    level: int | None
    epsilon: float
    equal: Literal["loss", "epsilon"]
    sentence: str
    rows: list[ComparedRowAnswer]


class JobAnswer(BaseModel):
    """Long work in a process of its own."""

    id: str
    kind: Literal["levels", "design", "compare"]
    status: Literal["queued", "running", "done", "cancelled", "interrupted", "failed"]
    title: str
    created: str
    changed: str
    done: float
    total: float
    seconds_left: float | None = Field(description="An estimate; null where none can be made.")
    best: str = Field(description="The best mechanism so far, in a sentence; empty where there is none.")
    progress: list[ProgressAnswer]
    unit: str
    error: JobErrorAnswer | None
    result: ComparedAnswer | dict[str, Any] | None
    request: dict[str, Any]


class TakeawayAnswer(BaseModel):
    """Facts to know before a mechanism is downloaded."""

    sentences: list[str]
    warnings: list[str]
    shares: SharesAnswer | None


class GeometryAnswer(BaseModel):
    """A GeoJSON geometry, degrees: longitude, then latitude."""

    type: Literal["Polygon"]
    coordinates: list[list[list[float]]]


class CellPropertiesAnswer(BaseModel):
    """One place of the map."""

    name: str
    visits: float
    share: float
    lat: float
    lon: float


class CellAnswer(BaseModel):
    """A GeoJSON feature: one place of the map."""

    type: Literal["Feature"]
    id: int
    geometry: GeometryAnswer
    properties: CellPropertiesAnswer


class CellsAnswer(BaseModel):
    """A GeoJSON collection of places."""

    type: Literal["FeatureCollection"]
    features: list[CellAnswer]


class MapAnswer(BaseModel):
    """The map of a workspace."""

    cells: CellsAnswer
    outline: dict[str, Any] | None
    bounds: list[float] = Field(description="West, south, east, north.")


class ValueAnswer(BaseModel):
    """One value of a column."""

    index: int
    label: str
    count: float
    share: float


class ValuesAnswer(BaseModel):
    """The values of a column."""

    values: list[ValueAnswer]


class WorkspaceFields(BaseModel):
    """Fields of every workspace."""

    id: str
    title: str
    created: str
    changed: str


class WorkspaceBriefAnswer(WorkspaceFields):
    """One workspace of several."""

    kind: Kind | None


class WorkspacesAnswer(BaseModel):
    """All workspaces, the last changed first."""

    workspaces: list[WorkspaceBriefAnswer]


class DataAnswer(BaseModel):
    """The data that the workspace is about."""

    kind: Kind
    source: Literal["city", "ages", "categories", "file", "mechanism"]
    title: str
    rows: int
    users: int | None
    notes: list[str]
    columns: list[str]
    region: RegionAnswer | None = Field(description="Where most visits are.")
    sentence: str


class SiteAnswer(BaseModel):
    """The secrets of the workspace: places on the map, or values of a column."""

    kind: Kind
    n: int
    spacing_m: float | None = None
    region: RegionAnswer | None = None
    polygon: list[list[float]] | None = Field(None, description="The corners of the area: longitude, latitude.")
    radius_m: float | None = None
    column: str | None = None
    labels: list[str] | None = None
    ordered: bool | None = None
    circular: int | None = Field(None, description="The length of the circle that the numbers are on.")
    epsilon_per_unit: bool | None = None
    goal: Literal["shares", "answers"] = Field("answers", description="What the mechanisms are best for.")
    optimizable: bool = Field(description="Whether optimized designs can replace the closed forms.")
    loss_unit: str
    sentences: list[str]


class WorkspaceAnswer(WorkspaceFields):
    """All that a page shows of a workspace."""

    data: DataAnswer | None
    site: SiteAnswer | None
    jobs: list[JobAnswer]
    outline: bool = Field(description="Whether a visitor gave an outline to draw the map on.")
    view: dict[str, Any]


class LedgerDayAnswer(BaseModel):
    """The charges of one day (UTC)."""

    day: str
    spent: float
    spent_text: str
    reports: int
    users: int
    refused: int = Field(description="Refused requests.")
    renewed: bool = Field(description="Whether a daily or weekly limit was renewed at its start.")


class LedgerClassAnswer(BaseModel):
    """Users who have spent about the same share of their limit."""

    name: str
    users: int
    spent_text: str
    share: float = Field(description="Of all users.")


class NearLimitAnswer(BaseModel):
    """One user who is near the limit, under a pseudonym."""

    user: str
    spent_text: str
    left_text: str
    share: float


class LedgerAnswer(BaseModel):
    """The budgets of a ledger."""

    address: str
    limits: list[str]
    days: list[LedgerDayAnswer]
    classes: list[LedgerClassAnswer]
    near: list[NearLimitAnswer]
    exhausted: int = Field(description="Users to whom a report like the last one would be refused now.")
    sentences: list[str]
