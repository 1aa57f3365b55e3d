import { client, unwrap } from "./calls";
import type { Mechanism, Workspace } from "./types";

/** What the page remembers on the server, so that a refresh finds it again. */
export interface Memory {
  mechanism?: Mechanism;
  at?: number;
  path?: number[];
  suspected?: { at: number; weight: number }[];
  /** The places or values that were open then: indices of others mean nothing. */
  laid?: string;
}

const LATER = 600; // milliseconds without a change before the server is informed

/** Return the identity of the places or values of a workspace. */
export function laidOf(site: NonNullable<Workspace["site"]>): string {
  const { kind, n, region, polygon, column, labels } = site;
  return JSON.stringify([kind, n, region, polygon, column, labels?.[0], labels?.at(-1)]);
}

/** Sends the server what to remember, some time after the last change. */
export class Remembering {
  #later = 0;
  #send: (() => void) | null = null;

  remember(id: string, view: Memory): void {
    clearTimeout(this.#later);
    this.#send = () => {
      this.forget();
      void unwrap(client.PATCH("/api/workspaces/{workspace}", {
        params: { path: { workspace: id } }, body: { view: view as Record<string, never> }, keepalive: true,
      })).catch(() => {});
    };
    this.#later = window.setTimeout(this.#send, LATER);
  }

  /** Send at once what was to be sent later. */
  now(): void {
    this.#send?.();
  }

  forget(): void {
    clearTimeout(this.#later);
    this.#send = null;
  }
}
