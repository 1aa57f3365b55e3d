import { client, Refused, told } from "./calls";
import { Latest } from "./turns";
import type { Job, Workspace } from "./types";

/** The part of the page that drafts are about. */
interface Page {
  readonly workspace: Workspace | null;
  /** The level that has no design of its own yet; null: no draft is wanted. */
  readonly undesigned: number | null;
  problem: Refused | null;
  refresh(): Promise<void>;
  showDraft(): void;
}

const REST = 900; // milliseconds without a move before the level of the slider is designed

/** Whether a job is at work, or waits for it. */
export function isOpen(job: Job): boolean {
  return job.status === "queued" || job.status === "running";
}

/** The job that makes the design of the level on which the slider rests: a workspace has one at most. */
export function draftOf(workspace: Workspace | null): Job | null {
  return workspace?.jobs.findLast((job) => job.request.draft === true) ?? null;
}

/** The design that a draft made, while it is there. */
export function designOf(workspace: Workspace, draft: Job): string | null {
  return workspace.designs.find((one) => draft.status === "done" && one.id === draft.result?.design)?.id ?? null;
}

/** Lets the server make a design of the level on which the slider rests, and of no other. */
export class Drafts {
  #resting = 0;
  readonly #latest = new Latest();

  constructor(readonly page: Page) {}

  /** The slider moved: every key of the keyboard is a move, so wait for the last. */
  later(): void {
    this.stop();
    this.#resting = window.setTimeout(() => this.#latest.do(() => this.#agree()), REST);
  }

  stop(): void {
    clearTimeout(this.#resting);
  }

  /** Keep the design that is shown: the next draft does not replace it. */
  async keep(design: string): Promise<void> {
    const { workspace } = this.page;
    const draft = draftOf(workspace);
    if (workspace && draft && designOf(workspace, draft) === design) await this.#forget(workspace, draft, false);
  }

  /** Make what the server makes, and what is shown, agree with the level as it is now. */
  async #agree(): Promise<void> {
    const { workspace, undesigned } = this.page;
    if (!workspace) return;
    const draft = draftOf(workspace);
    try {
      if (undesigned === null) {
        if (draft && isOpen(draft)) await this.#forget(workspace, draft, true);
        return;
      }
      if (draft?.request.epsilon === undesigned) {
        if (designOf(workspace, draft)) this.page.showDraft();
        if (isOpen(draft) || draft.status === "failed" || designOf(workspace, draft)) return;
      }
      await told(client.POST("/api/workspaces/{workspace}/designs", {
        params: { path: { workspace: workspace.id } }, body: { epsilon: undesigned, draft: true, thorough: false },
      }));
      await this.#refresh(workspace);
    } catch (problem) {
      if (problem instanceof Refused && this.page.workspace?.id === workspace.id) this.page.problem = problem;
    }
  }

  async #forget(workspace: Workspace, draft: Job, designs: boolean): Promise<void> {
    await told(client.DELETE("/api/workspaces/{workspace}/jobs/{job}", {
      params: { path: { workspace: workspace.id, job: draft.id }, query: { designs } },
    })).catch(() => {});
    await this.#refresh(workspace);
  }

  async #refresh(of: Workspace): Promise<void> {
    if (this.page.workspace?.id === of.id) await this.page.refresh();
  }
}
