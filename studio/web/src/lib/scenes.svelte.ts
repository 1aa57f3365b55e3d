import { EMPTY, type Box, type Scene } from "../map/scene";

export type Action = "here" | "report" | "walk" | "attack" | "compare";

/** What the picture shows: each panel sets it, the map or the bars draw it. */
class Showing {
  scene = $state.raw<Scene>(EMPTY);
  /** The open panel of the step Choose. */
  action = $state<Action>("here");
  /** Answers a click on a place; null where a click means nothing. */
  pick = $state.raw<((index: number) => void) | null>(null);
  /** What is being drawn on the map: a box by dragging, or a polygon corner by corner. */
  drawing = $state<"box" | "corners" | null>(null);
  /** Takes a box that was drawn. */
  boxed = $state.raw<((box: Box) => void) | null>(null);
  /** Takes a corner that was set, longitude first; null takes the last one away. */
  cornered = $state.raw<((corner: [number, number] | null) => void) | null>(null);

  show(scene: Partial<Scene>): void {
    this.scene = { ...EMPTY, ...scene };
  }
}

export const showing = new Showing();
