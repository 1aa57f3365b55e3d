import type { components } from "./schema";

type Schemas = components["schemas"];

export type About = Schemas["AboutAnswer"];
export type AttackResult = Schemas["AttackedAnswer"];
export type Box = Schemas["RegionAnswer"];
export type WorkspaceBrief = Schemas["WorkspaceBriefAnswer"];
export type Choice = Schemas["ChoiceAnswer"];
export type Column = Schemas["ColumnAnswer"];
export type Comparison = Schemas["ComparedAnswer"];
export type Example = Schemas["ExampleAnswer"];
export type Ground = Schemas["MapAnswer"];
export type Job = Schemas["JobAnswer"];
export type Ledger = Schemas["LedgerAnswer"];
export type Level = Schemas["LevelAnswer"];
export type Levels = Schemas["LevelsAnswer"];
export type Measurement = Schemas["MeasuredAnswer"];
export type Notions = Schemas["NotionsAnswer"];
export type Preview = Schemas["PreviewAnswer"];
export type ShareResult = Schemas["SharedAnswer"];
export type TakeAway = Schemas["TakeawayAnswer"];
export type Value = Schemas["ValueAnswer"];
export type WalkResult = Schemas["WalkedAnswer"];
export type Workspace = Schemas["WorkspaceAnswer"];

/** A mechanism: one of the levels, or a design of its own. */
export interface Mechanism {
  level?: number;
  design?: string;
}

/** A position of the slider. */
export interface Slot {
  mechanism: Mechanism;
  status: Level["status"];
  epsilon: number | null;
}
