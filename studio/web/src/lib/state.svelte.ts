import { Refused } from "./calls";
import { draftOf } from "./drafts";
import { placeNames } from "./names";
import { Left, Turns } from "./turns";
import type { About, Brief, Frontier, Ground, Job, Mechanism, Preview, Value, Workspace } from "./types";

export type ViewName = "data" | "private" | "share" | "walk" | "compare" | "attack" | "atlas" | "design";

/** What is open, what is chosen, and what the server last said about it. */
export class State {
  about = $state.raw<About | null>(null);
  all = $state.raw<Brief[]>([]);
  workspace = $state.raw<Workspace | null>(null);
  ground = $state.raw<Ground | null>(null);
  values = $state.raw<Value[]>([]);
  frontier = $state.raw<Frontier | null>(null);
  preview = $state.raw<Preview | null>(null);
  view = $state<ViewName>("data");
  epsilon = $state(0);
  at = $state(0);
  design = $state<string | null>(null);
  path = $state.raw<number[]>([]);
  suspected = $state.raw<{ at: number; weight: number }[]>([]);
  problem = $state.raw<Refused | null>(null);
  busy = $state("");

  protected readonly turns = new Turns();

  get id(): string {
    return this.workspace?.id ?? "";
  }

  get places(): boolean {
    return this.workspace?.site?.kind === "places";
  }

  #placeNames = $derived(this.ground ? placeNames(this.ground) : []);

  /** The names of the places or values, in the order of their indices. */
  get names(): string[] {
    return this.places ? this.#placeNames : this.values.map((one) => one.label);
  }

  get shares(): number[] {
    return this.places ? (this.ground?.cells.features.map((one) => one.properties.share) ?? []) : this.values.map((one) => one.share);
  }

  get mechanism(): Mechanism {
    return this.design ? { design: this.design } : { epsilon: this.epsilon };
  }

  get ready(): boolean {
    return (this.frontier?.points.length ?? 0) >= 2;
  }

  get frontierJob(): Job | null {
    return this.workspace?.jobs.find((job) => job.id === this.workspace?.frontier?.job) ?? null;
  }

  /** The level that has no design of its own yet; null where one is shown, or is part of the frontier. */
  get undesigned(): number | null {
    if (!this.ready || this.design || this.frontier!.points.some((point) => point.epsilon === this.epsilon)) return null;
    return this.epsilon;
  }

  /** The job that makes a design of just this level. */
  get draft(): Job | null {
    const job = draftOf(this.workspace);
    return job && this.undesigned !== null && job.request.epsilon === this.undesigned ? job : null;
  }

  protected get here() {
    return { params: { path: { workspace: this.id } } };
  }

  /** Do something and show what the server has against it; undefined where it failed, or where the visitor is elsewhere by then. */
  async attempt<T>(what: string, task: () => Promise<T>): Promise<T | undefined> {
    this.busy = what;
    this.problem = null;
    try {
      const doing = task(); // what opens something else says so at once
      const still = this.turns.mark();
      const done = await doing;
      return still() ? done : undefined;
    } catch (problem) {
      if (problem instanceof Left) return undefined;
      this.problem = problem instanceof Refused ? problem : new Refused(String(problem), "Load the page again; nothing is lost.", 0);
      return undefined;
    } finally {
      if (this.busy === what) this.busy = "";
    }
  }
}
