import { client, Refused, unwrap, upload } from "./calls";
import { carry, nearest, sameName, type Selection } from "./carry";
import { laidOf, Remembering, type Memory } from "./memory";
import { placeNames } from "./names";
import { Latest, Left, Turns, type Ask } from "./turns";
import type { About, Brief, Column, Example, Ground, Job, Level, Levels, Mechanism, Preview, Slot, Value, Workspace } from "./types";

export { client };
export type ViewName = "data" | "choose" | "take" | "budgets";

const POLL = 1000; // milliseconds between two looks at jobs that run
const VIEWS: readonly string[] = ["data", "choose", "take", "budgets"];

/** Whether a job runs, or waits to run. */
export function isOpen(job: Job | null | undefined): boolean {
  return job?.status === "queued" || job?.status === "running";
}

/** The identity of a mechanism. */
export function key(mechanism: Mechanism): string {
  return mechanism.design ?? `level ${mechanism.level}`;
}

function same(mechanism: Mechanism, level: Level): boolean {
  return mechanism.design === undefined ? mechanism.level === level.level : mechanism.design === level.design;
}

/** The one state of the page: what is open, what is chosen, and what the server last answered about it. */
class Studio {
  about = $state.raw<About | null>(null);
  all = $state.raw<Brief[]>([]);
  workspace = $state.raw<Workspace | null>(null);
  ground = $state.raw<Ground | null>(null);
  values = $state.raw<Value[]>([]);
  levels = $state.raw<Levels | null>(null);
  preview = $state.raw<Preview | null>(null);
  view = $state<ViewName>("data");
  /** The mechanism that is shown: one of the levels, or a design of its own. */
  mechanism = $state.raw<Mechanism>({ level: 0 });
  at = $state(0);
  path = $state.raw<number[]>([]);
  suspected = $state.raw<{ at: number; weight: number }[]>([]);
  /** A file whose columns the visitor has to name. */
  unnamed = $state.raw<{ file: File; columns: Column[] } | null>(null);
  problem = $state.raw<Refused | null>(null);
  busy = $state("");

  readonly #turns = new Turns();
  readonly #previews = new Latest();
  readonly #memory = new Remembering();
  #polling = 0;
  #refreshed = 0;
  #newest = 0;
  #unseen: Refused | null = null; // why there is no preview
  #names = $derived(this.ground ? placeNames(this.ground) : []);

  get id(): string {
    return this.workspace?.id ?? "";
  }

  get places(): boolean {
    return this.workspace?.site?.kind === "places";
  }

  /** Categories are neither near nor far: an answer is right or wrong. */
  get categories(): boolean {
    return this.workspace?.site?.kind === "values" && !this.workspace.site.ordered;
  }

  /** The names of the places or values, in the order of their indices. */
  get names(): string[] {
    return this.places ? this.#names : this.values.map((one) => one.label);
  }

  get shares(): number[] {
    return this.places ? (this.ground?.cells.features.map((one) => one.properties.share) ?? []) : this.values.map((one) => one.share);
  }

  /** What is proved of the mechanism that is shown; null while it is made. */
  get shown(): Level | null {
    const { mechanism, preview } = this;
    return this.levels?.levels.find((one) => same(mechanism, one)) ?? (preview && same(mechanism, preview.shown) ? preview.shown : null);
  }

  /** The positions of the slider, the least private first: each level, and the designs of their own between them. */
  get slots(): Slot[] {
    const known = this.levels?.levels ?? [];
    const slots: Slot[] = Array.from({ length: this.levels?.total ?? 0 }, (_, level) => ({
      mechanism: { level }, status: known.find((one) => one.level === level)?.status ?? "closed form",
      epsilon: known.find((one) => one.level === level)?.epsilon ?? null,
    }));
    for (const one of known) {
      if (one.level !== null) continue;
      const before = slots.findIndex((slot) => slot.epsilon !== null && slot.epsilon < one.epsilon);
      slots.splice(before < 0 ? slots.length : before, 0, { mechanism: { design: one.design }, status: one.status, epsilon: one.epsilon });
    }
    return slots;
  }

  /** The position of the slider. */
  get slot(): number {
    return this.slots.findIndex((slot) => key(slot.mechanism) === key(this.mechanism));
  }

  get here() {
    return { params: { path: { workspace: this.id } } };
  }

  async start(): Promise<void> {
    await this.attempt("Opening", async () => {
      this.about = await unwrap(client.GET("/api/about"));
      this.all = (await unwrap(client.GET("/api/workspaces"))).workspaces;
      const address = new URLSearchParams(location.hash.slice(1));
      const [id, view] = [address.get("workspace"), address.get("view") ?? ""];
      if (id && this.all.some((one) => one.id === id)) await this.open(id, VIEWS.includes(view) ? (view as ViewName) : "choose");
      else if (view === "budgets") this.go("budgets");
    });
  }

  async open(id: string, view: ViewName = "choose"): Promise<void> {
    const ask = this.#depart();
    const workspace = await ask(client.GET("/api/workspaces/{workspace}", { params: { path: { workspace: id } } }));
    if (workspace.data && !workspace.site) await this.#lay(workspace, ask);
    else await this.#arrive(workspace, ask);
    this.go(view);
  }

  /** Open a new workspace with an example in it. */
  async startExample(example: Example["key"]): Promise<void> {
    const ask = this.#depart();
    const { id } = await ask(client.POST("/api/workspaces"));
    const of = { params: { path: { workspace: id } } };
    await this.#lay(await ask(client.POST("/api/workspaces/{workspace}/example", { ...of, body: { example } })), ask);
    this.go("choose");
  }

  /** Open a new workspace with a file of the visitor in it. */
  async startFile(file: File, as: Record<string, string> = {}): Promise<void> {
    const ask = this.#depart();
    const { id } = await ask(client.POST("/api/workspaces"));
    let filled: Workspace | null = null;
    try {
      const params = { path: { workspace: id }, query: { name: file.name, ...as } as never };
      filled = await ask(client.PUT("/api/workspaces/{workspace}/file", { params, ...upload(file) }));
      this.unnamed = null;
      if (filled.site) await this.#arrive(filled, ask);
      else await this.#lay(filled, ask);
      this.go(filled.data?.source === "mechanism" ? "choose" : "data");
    } catch (problem) {
      if (!filled && !(problem instanceof Left)) await this.remove(id);
      if (problem instanceof Refused && problem.columns.length) this.unnamed = { file, columns: problem.columns };
      throw problem;
    }
  }

  /** Lay the suggested places or values over the data: the visitor sees something at once and changes it then. */
  async #lay(filled: Workspace, ask: Ask): Promise<void> {
    await this.#arrive(filled, ask);
    this.go("data"); // the address names the workspace before anything long begins
    await this.lay({ kind: filled.data!.kind });
  }

  /** Choose places or values; a selection among the former ones stays where it is one of these, too. */
  async lay(site: Record<string, unknown> & { kind: "places" | "values" }): Promise<void> {
    const ask = this.#depart();
    const before = { ground: this.ground, values: this.values, site: this.workspace?.site ?? null };
    const selection: Selection = { at: this.at, path: this.path, suspected: this.suspected };
    const { mechanism } = this;
    try {
      await this.#arrive(await ask(client.PUT("/api/workspaces/{workspace}/site", { ...this.here, body: site as never })), ask);
    } finally {
      this.#watch();
    }
    if (!before.site) return;
    if (mechanism.level !== undefined) this.mechanism = mechanism;
    const { at, path, suspected } = carry(selection, this.ground && before.ground
      ? nearest(before.ground, this.ground, this.workspace!.site!.spacing_m! / 2)
      : sameName(before.values, this.values));
    this.at = at ?? this.#instructive();
    this.path = path;
    this.suspected = suspected;
    this.look();
    this.remember();
  }

  async remove(id: string): Promise<void> {
    if (this.id === id) {
      this.#memory.forget();
      this.#depart();
      this.workspace = null;
    }
    await unwrap(client.DELETE("/api/workspaces/{workspace}", { params: { path: { workspace: id } } }));
    this.all = this.all.filter((one) => one.id !== id);
  }

  /** Draw the map on the visitor's own outline; null: without one. */
  async drawOn(file: File | null): Promise<void> {
    const ask = this.#turns.now();
    const here = this.here;
    this.workspace = await ask(file
      ? client.PUT("/api/workspaces/{workspace}/outline", { ...here, ...upload(file) })
      : client.DELETE("/api/workspaces/{workspace}/outline", here));
    this.ground = await ask(client.GET("/api/workspaces/{workspace}/map", here));
    this.#watch();
  }

  close(): void {
    this.#depart();
    this.workspace = this.levels = this.preview = this.ground = null;
    this.go("data");
    void this.attempt("Opening", async () => { this.all = (await unwrap(client.GET("/api/workspaces"))).workspaces; });
  }

  go(view: ViewName): void {
    this.view = this.workspace?.site || view === "budgets" ? view : "data";
    const known = this.workspace ? { workspace: this.id, view: this.view } : view === "budgets" ? { view } : null;
    history.replaceState(null, "", `#${known ? new URLSearchParams(known as Record<string, string>) : ""}`);
    if (this.view === "choose" && this.workspace?.site?.optimizable && this.levels?.progress === null) void this.optimize();
  }

  /** Optimize the levels that are not yet, in the background. */
  async optimize(): Promise<void> {
    await this.attempt("Starting", async () => {
      await this.#turns.now()(client.POST("/api/workspaces/{workspace}/optimize", { ...this.here, body: {} }));
      await this.refresh();
    });
  }

  /** Stop a job, resume it, or forget it; what it proved stays. */
  async job(id: string, what: "cancel" | "resume" | "forget"): Promise<void> {
    const params = { path: { workspace: this.id, job: id } };
    const ask = this.#turns.now();
    if (what === "forget") await ask(client.DELETE("/api/workspaces/{workspace}/jobs/{job}", { params }));
    else if (what === "cancel") await ask(client.POST("/api/workspaces/{workspace}/jobs/{job}/cancel", { params }));
    else await ask(client.POST("/api/workspaces/{workspace}/jobs/{job}/resume", { params }));
    await this.refresh();
  }

  /** See how far jobs are, and take in what they made. */
  async refresh(): Promise<void> {
    if (!this.workspace) return;
    const ask = this.#turns.now();
    const number = (this.#refreshed += 1);
    const now = await ask(client.GET("/api/workspaces/{workspace}", this.here));
    const levels = now.site ? await ask(client.GET("/api/workspaces/{workspace}/levels", this.here)) : null;
    if (number < this.#newest) return; // it was overtaken
    this.#newest = number;
    this.workspace = now;
    const before = this.shown;
    this.levels = levels;
    if (before?.epsilon !== this.shown?.epsilon || before?.status !== this.shown?.status) this.look();
    this.#watch();
  }

  /** Ask again every second while a job runs, or levels are missing. */
  #watch(): void {
    clearTimeout(this.#polling);
    const missing = (this.levels?.levels.length ?? 0) < (this.levels?.total ?? 0);
    if (missing || this.workspace?.jobs.some(isOpen)) this.#polling = window.setTimeout(() => void this.refresh().catch(() => this.#watch()), POLL);
  }

  move(mechanism: Mechanism): void {
    this.mechanism = mechanism;
    this.look();
    this.remember();
  }

  be(at: number): void {
    this.at = at;
    this.look();
    this.remember();
  }

  /** Ask where the chosen place or value would appear; of several questions during one answer only the last is asked. */
  look(): void {
    if (!this.levels || !this.id) return;
    const ask = this.#turns.now();
    const params = { path: { workspace: this.id }, query: { at: this.at, ...this.mechanism } };
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
    const { mechanism, at, path, suspected } = this;
    this.#memory.remember(this.id, { mechanism, at, path, suspected, laid: laidOf(site) });
  }

  /** The page goes: send what was to be remembered. */
  leave(): void {
    this.#memory.now();
  }

  /** Do something and show a refusal; undefined where it failed, or where the visitor is elsewhere by then. */
  async attempt<T>(what: string, task: () => Promise<T>): Promise<T | undefined> {
    this.busy = what;
    this.problem = null;
    try {
      const doing = task(); // a task that opens something else departs at once
      const still = this.#turns.mark();
      const done = await doing;
      return still() ? done : undefined;
    } catch (problem) {
      if (problem instanceof Left) return undefined;
      this.problem = problem instanceof Refused ? problem : new Refused(String(problem), "Load the page again; nothing is lost.");
      return undefined;
    } finally {
      if (this.busy === what) this.busy = "";
    }
  }

  /** Something else is to be shown: remember what is chosen, and drop all answers about it. */
  #depart(): Ask {
    this.leave();
    clearTimeout(this.#polling);
    return this.#turns.next();
  }

  /** Show a workspace as the server has it now, with what belongs to it. */
  async #arrive(workspace: Workspace, ask: Ask): Promise<void> {
    const of = { params: { path: { workspace: workspace.id } } };
    const { site } = workspace;
    const [ground, values, levels] = await Promise.all([
      site?.kind === "places" ? ask(client.GET("/api/workspaces/{workspace}/map", of)) : null,
      site?.kind === "values" ? ask(client.GET("/api/workspaces/{workspace}/values", of)).then((answer) => answer.values) : [],
      site ? ask(client.GET("/api/workspaces/{workspace}/levels", of)) : null,
    ]);
    this.workspace = workspace;
    this.ground = ground;
    this.values = values;
    this.levels = levels;
    this.preview = null;
    if (site) this.#recall(workspace, site);
    this.look();
    this.#watch();
  }

  /** Choose what was chosen when the page was left. */
  #recall(workspace: Workspace, site: NonNullable<Workspace["site"]>): void {
    const memory = workspace.view as Memory;
    const known = (at: number | undefined): at is number => memory.laid === laidOf(site) && at !== undefined && at < site.n;
    this.at = known(memory.at) ? memory.at : this.#instructive();
    this.mechanism = this.levels?.levels.some((one) => same(memory.mechanism ?? {}, one)) ? memory.mechanism! : { level: this.levels?.start ?? 0 };
    this.path = (memory.path ?? []).filter(known);
    this.suspected = (memory.suspected ?? []).filter((one) => known(one.at));
  }

  /** Somewhere that people go, but not the most visited place of all: that one shows least. */
  #instructive(): number {
    const order = this.shares.map((share, at) => ({ share, at })).sort((a, b) => b.share - a.share);
    return order[Math.min(order.length - 1, Math.ceil(order.length / 12))]?.at ?? 0;
  }
}

export const studio = new Studio();
