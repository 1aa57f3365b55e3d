import { client, unwrap } from "./calls";
import type { Mechanism, Workspace } from "./types";

/** What the page remembers on the server, so that a refresh finds it again. */
export interface ViewState {
  mechanism?: Mechanism;
  at?: number;
  path?: number[];
  suspected?: { at: number; weight: number }[];
  /** The places or values that were open then: indices of others mean nothing. */
  laid?: string;
}

const DELAY = 600; // milliseconds without a change before the server is informed

/** Return the identity of the places or values of a workspace. */
export function siteKey(site: NonNullable<Workspace["site"]>): string {
  const { kind, n, region, polygon, column, labels } = site;
  return JSON.stringify([kind, n, region, polygon, column, labels?.[0], labels?.at(-1)]);
}

/** Sends the server what to remember, some time after the last change. */
export class ViewStateSaver {
  #timer = 0;
  #send: (() => void) | null = null;

  remember(id: string, view: ViewState): void {
    clearTimeout(this.#timer);
    this.#send = () => {
      this.cancel();
      void unwrap(client.PATCH("/api/workspaces/{workspace}", {
        params: { path: { workspace: id } }, body: { view: view as Record<string, never> }, keepalive: true,
      })).catch(() => {});
    };
    this.#timer = window.setTimeout(this.#send, DELAY);
  }

  /** Send at once what was to be sent later. */
  flush(): void {
    this.#send?.();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#send = null;
  }
}
