import { client, Refused } from "./calls";
import { designOf, Drafts, isOpen } from "./drafts";
import { laidOf, Remembering } from "./memory";
import { State } from "./state.svelte";
import { Latest } from "./turns";
import type { Frontier } from "./types";

const POLL = 1000; // milliseconds between two looks at jobs that run

/** What happens while one workspace is open: jobs go on, the slider moves, the picture follows. */
export class Playing extends State {
  protected readonly drafts = new Drafts(this);
  protected readonly memory = new Remembering();
  protected polling = 0;
  readonly #previews = new Latest();
  #unseen: Refused | null = null; // why there is no preview
  #refreshed = 0;
  #newest = 0;

  async resume(job: string): Promise<void> {
    const params = { path: { workspace: this.id, job } };
    await this.turns.now()(client.POST("/api/workspaces/{workspace}/jobs/{job}/resume", { params }));
    await this.refresh();
  }

  async cancel(job: string): Promise<void> {
    const params = { path: { workspace: this.id, job } };
    await this.turns.now()(client.POST("/api/workspaces/{workspace}/jobs/{job}/cancel", { params }));
    await this.refresh();
  }

  /** Forget a job that ended; the designs that it made stay. */
  async dismiss(job: string): Promise<void> {
    const params = { path: { workspace: this.id, job } };
    await this.turns.now()(client.DELETE("/api/workspaces/{workspace}/jobs/{job}", { params }));
    await this.refresh();
  }

  async begin(): Promise<void> {
    await this.attempt("Starting", async () => {
      await this.turns.now()(client.POST("/api/workspaces/{workspace}/frontier", { ...this.here, body: {} }));
      await this.refresh();
    });
  }

  /** See how far jobs are, and take in what they made. */
  async refresh(): Promise<void> {
    if (!this.workspace) return;
    const ask = this.turns.now();
    const number = (this.#refreshed += 1);
    const now = await ask(client.GET("/api/workspaces/{workspace}", this.here));
    const more = now.frontier && now.frontier.ready !== (this.frontier?.ready ?? 0);
    const levels = more ? await ask(client.GET("/api/workspaces/{workspace}/frontier", this.here)) : null;
    if (number < this.#newest) return; // it was overtaken
    this.#newest = number;
    this.workspace = now;
    if (levels) this.take(levels);
    this.showDraft();
    this.watch();
  }

  /** Take in the levels that are there; the slider stays among them. */
  protected take(levels: Frontier): void {
    this.frontier = levels;
    if (!this.ready) return;
    const known = levels.points.map((point) => point.epsilon);
    const within = Math.min(Math.max(this.epsilon, Math.min(...known)), Math.max(...known));
    if (!this.design) this.epsilon = within;
    this.look();
  }

  /** Ask again every second while a job runs. */
  watch(): void {
    clearTimeout(this.polling);
    if (this.workspace?.jobs.some(isOpen)) this.polling = window.setTimeout(() => void this.refresh().catch(() => this.watch()), POLL);
  }

  /** Move "how private": the screen follows at once, the server remembers later and designs where it rests. */
  move(epsilon: number): void {
    this.epsilon = epsilon;
    this.design = null;
    this.drafts.later();
    this.look();
    this.remember();
  }

  /** Show the certified design of this very level as soon as it is there. */
  showDraft(): void {
    const draft = this.draft;
    const design = draft && designOf(this.workspace!, draft);
    if (!design) return;
    this.design = design;
    this.look();
    this.remember();
  }

  /** Keep the design that is shown: the slider's next one does not replace it. */
  keep(): void {
    if (this.design) void this.drafts.keep(this.design).catch(() => {});
    this.remember();
  }

  be(at: number): void {
    this.at = at;
    this.look();
    this.remember();
  }

  /** Ask for the preview of what is chosen now; of several wishes during one question only the last is asked. */
  look(): void {
    if (!this.ready || !this.id) return;
    const ask = this.turns.now();
    const query = { at: this.at, ...this.mechanism };
    const params = { path: { workspace: this.id }, query };
    this.#previews.do(async () => {
      try {
        this.preview = await ask(client.GET("/api/workspaces/{workspace}/preview", { params }));
        if (this.problem === this.#unseen) this.problem = null;
      } catch (problem) {
        if (problem instanceof Refused) this.problem = this.#unseen = problem;
      }
    });
  }

  remember(): void {
    const site = this.workspace?.site;
    if (!site) return;
    const { epsilon, design, at, path, suspected } = this;
    this.memory.remember(this.id, { epsilon, design, at, path, suspected, laid: laidOf(site) });
  }

  /** The page goes: what was to be told later is told now. */
  leave(): void {
    this.memory.now();
  }
}
