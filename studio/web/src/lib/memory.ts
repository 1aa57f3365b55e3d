import { client, told } from "./calls";
import type { Workspace } from "./types";

/** What the page remembers on the server, so that a refresh finds it again. */
export interface Memory {
  epsilon?: number;
  design?: string | null;
  at?: number;
  path?: number[];
  suspected?: { at: number; weight: number }[];
  /** The places or values that were open then: indices of others mean nothing. */
  laid?: string;
}

const LATER = 600; // milliseconds without a change before the server is told

/** The places or values of a workspace, in short. */
export function laidOf(site: NonNullable<Workspace["site"]>): string {
  const { kind, n, region, polygon, column, labels } = site;
  return JSON.stringify([kind, n, region, polygon, column, labels?.[0], labels?.at(-1)]);
}

/** Tells the server what to remember, some time after the last change. */
export class Remembering {
  #later = 0;
  #tell: (() => void) | null = null;

  remember(id: string, view: Memory): void {
    clearTimeout(this.#later);
    this.#tell = () => {
      this.forget();
      void told(client.PATCH("/api/workspaces/{workspace}", {
        params: { path: { workspace: id } }, body: { view: view as Record<string, never> }, keepalive: true,
      })).catch(() => {});
    };
    this.#later = window.setTimeout(this.#tell, LATER);
  }

  /** What was to be told later is told now. */
  now(): void {
    this.#tell?.();
  }

  forget(): void {
    clearTimeout(this.#later);
    this.#tell = null;
  }
}
