import type { components } from "./schema";

type Said = components["schemas"];

export type About = Said["AboutAnswer"];
export type Adversary = Said["AdversaryAnswer"];
export type Atlas = Said["AtlasAnswer"];
export type Attacked = Said["AttackedAnswer"];
export type Box = Said["RegionAnswer"];
export type Brief = Said["WorkspaceBriefAnswer"];
export type Chosen = Said["ChoiceAnswer"];
export type Example = Said["ExampleAnswer"];
export type Frontier = Said["FrontierAnswer"];
export type Ground = Said["MapAnswer"];
export type Job = Said["JobAnswer"];
export type Measured = Said["MeasuredAnswer"];
export type Point = Said["FrontierPointAnswer"];
export type Preview = Said["PreviewAnswer"];
export type Shared = Said["SharedAnswer"];
export type Value = Said["ValueAnswer"];
export type Walked = Said["WalkedAnswer"];
export type Workspace = Said["WorkspaceAnswer"];

export type Mechanism = { epsilon: number } | { design: string };

/** One line of a comparison: what a job of that kind has in its result. */
export interface Row {
  name: string;
  epsilon: number | null;
  loss: Measured | null;
  error: Measured | null;
  promise: string;
  detail: string;
  problem: string;
}
