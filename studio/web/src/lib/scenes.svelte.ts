import { EMPTY, type Box, type Scene } from "../map/scene";

export type Action = "appear" | "report" | "walk" | "attack" | "compare";

/** What the picture shows: each panel sets it, the map or the bars draw it. */
class Stage {
  scene = $state.raw<Scene>(EMPTY);
  /** The open panel of the step Choose. */
  action = $state<Action>("appear");
  /** Answers a click on a place; null where a click means nothing. */
  onpick = $state.raw<((index: number) => void) | null>(null);
  /** What is being drawn on the map: a box by dragging, or a polygon corner by corner. */
  drawMode = $state<"box" | "corners" | null>(null);
  /** Takes a box that was drawn. */
  onbox = $state.raw<((box: Box) => void) | null>(null);
  /** Takes a corner that was set, longitude first; null takes the last one away. */
  oncorner = $state.raw<((corner: [number, number] | null) => void) | null>(null);

  show(scene: Partial<Scene>): void {
    this.scene = { ...EMPTY, ...scene };
  }
}

export const stage = new Stage();
