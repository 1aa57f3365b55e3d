import { client, Refusal, StaleAnswer, unwrap, upload } from "./calls";
import { transferSelection, mapNearest, mapNames, type Selection } from "./selection";
import { siteKey, ViewStateSaver, type ViewState } from "./viewstate";
import { placeNames } from "./names";
import { TaskQueue, RequestEpoch, type Ask } from "./epochs";
import type { About, WorkspaceBrief, Column, Example, Ground, Job, Level, Levels, Mechanism, Preview, Slot, Value, Workspace } from "./types";

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

function isLevel(mechanism: Mechanism, level: Level): boolean {
  return mechanism.design === undefined ? mechanism.level === level.level : mechanism.design === level.design;
}

/** The one state of the page: what is open, what is chosen, and what the server last answered about it. */
class Studio {
  about = $state.raw<About | null>(null);
  workspaces = $state.raw<WorkspaceBrief[]>([]);
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
  suspicions = $state.raw<{ at: number; weight: number }[]>([]);
  /** A file whose columns the visitor has to name. */
  pendingFile = $state.raw<{ file: File; columns: Column[] } | null>(null);
  problem = $state.raw<Refusal | null>(null);
  busy = $state("");

  readonly #epoch = new RequestEpoch();
  readonly #previews = new TaskQueue();
  readonly #stateSaver = new ViewStateSaver();
  #pollTimer = 0;
  #refreshCount = 0;
  #newestRefresh = 0;
  #previewProblem: Refusal | null = null; // why there is no preview
  #names = $derived(this.ground ? placeNames(this.ground) : []);

  constructor() {
    client.use({
      onRequest: ({ request, schemaPath }) => { // a question about a workspace is taken back once another is opened, or laid anew
        const isAboutWorkspace = request.method === "GET" && schemaPath.startsWith("/api/workspaces/{workspace}");
        return isAboutWorkspace ? new Request(request, { signal: this.#epoch.signal }) : undefined;
      },
    });
  }

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
    return this.places ? this.#names : this.values.map((value) => value.label);
  }

  get shares(): number[] {
    return this.places ? (this.ground?.cells.features.map((cell) => cell.properties.share) ?? []) : this.values.map((value) => value.share);
  }

  /** What is proved of the mechanism that is shown; null while it is made. */
  get level(): Level | null {
    const { mechanism, preview } = this;
    return this.levels?.levels.find((level) => isLevel(mechanism, level)) ?? (preview && isLevel(mechanism, preview.shown) ? preview.shown : null);
  }

  /** The positions of the slider, the least private first: each level, and the designs of their own between them. */
  get slots(): Slot[] {
    const levels = this.levels?.levels ?? [];
    const slots: Slot[] = Array.from({ length: this.levels?.total ?? 0 }, (_, level) => ({
      mechanism: { level }, status: levels.find((entry) => entry.level === level)?.status ?? "closed form",
      epsilon: levels.find((entry) => entry.level === level)?.epsilon ?? null,
    }));
    for (const entry of levels) {
      if (entry.level !== null) continue;
      const position = slots.findIndex((slot) => slot.epsilon !== null && slot.epsilon < entry.epsilon);
      slots.splice(position < 0 ? slots.length : position, 0, { mechanism: { design: entry.design }, status: entry.status, epsilon: entry.epsilon });
    }
    return slots;
  }

  /** The position of the slider. */
  get slot(): number {
    return this.slots.findIndex((slot) => key(slot.mechanism) === key(this.mechanism));
  }

  get route() {
    return { params: { path: { workspace: this.id } } };
  }

  async start(): Promise<void> {
    await this.attempt("Opening", async () => {
      this.about = await unwrap(client.GET("/api/about"));
      this.workspaces = (await unwrap(client.GET("/api/workspaces"))).workspaces;
      const address = new URLSearchParams(location.hash.slice(1));
      const [id, view] = [address.get("workspace"), address.get("view") ?? ""];
      if (id && this.workspaces.some((brief) => brief.id === id)) await this.open(id, VIEWS.includes(view) ? (view as ViewName) : "choose");
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
    const route = { params: { path: { workspace: id } } };
    await this.#lay(await ask(client.POST("/api/workspaces/{workspace}/example", { ...route, body: { example } })), ask);
    this.go("choose");
  }

  /** Open a new workspace with a file of the visitor in it. */
  async startFile(file: File, as: Record<string, string> = {}): Promise<void> {
    const ask = this.#depart();
    const { id } = await ask(client.POST("/api/workspaces"));
    let workspace: Workspace | null = null;
    try {
      const params = { path: { workspace: id }, query: { name: file.name, ...as } as never };
      workspace = await ask(client.PUT("/api/workspaces/{workspace}/file", { params, ...upload(file) }));
      this.pendingFile = null;
      if (workspace.site) await this.#arrive(workspace, ask);
      else await this.#lay(workspace, ask);
      this.go(workspace.data?.source === "mechanism" ? "choose" : "data");
    } catch (problem) {
      if (!workspace && !(problem instanceof StaleAnswer)) await this.remove(id);
      if (problem instanceof Refusal && problem.columns.length) this.pendingFile = { file, columns: problem.columns };
      throw problem;
    }
  }

  /** Lay the suggested places or values over the data: the visitor sees something at once and changes it then. */
  async #lay(workspace: Workspace, ask: Ask): Promise<void> {
    await this.#arrive(workspace, ask);
    this.go("data"); // the address names the workspace before anything long begins
    await this.lay({ kind: workspace.data!.kind });
  }

  /** Choose places or values; a selection among the former ones stays where it is one of these, too. */
  async lay(site: Record<string, unknown> & { kind: "places" | "values" }): Promise<void> {
    const ask = this.#depart();
    const previous = { ground: this.ground, values: this.values, site: this.workspace?.site ?? null };
    const selection: Selection = { at: this.at, path: this.path, suspicions: this.suspicions };
    const { mechanism } = this;
    try {
      await this.#arrive(await ask(client.PUT("/api/workspaces/{workspace}/site", { ...this.route, body: site as never })), ask);
    } finally {
      this.#watch();
    }
    if (!previous.site) return;
    if (mechanism.level !== undefined) this.mechanism = mechanism;
    const { at, path, suspicions } = transferSelection(selection, this.ground && previous.ground
      ? mapNearest(previous.ground, this.ground, this.workspace!.site!.spacing_m! / 2)
      : mapNames(previous.values, this.values));
    this.at = at ?? this.#startPosition();
    this.path = path;
    this.suspicions = suspicions;
    this.look();
    this.remember();
  }

  async remove(id: string): Promise<void> {
    if (this.id === id) {
      this.#stateSaver.cancel();
      this.#depart();
      this.workspace = null;
    }
    await unwrap(client.DELETE("/api/workspaces/{workspace}", { params: { path: { workspace: id } } }));
    this.workspaces = this.workspaces.filter((brief) => brief.id !== id);
  }

  /** Draw the map on the visitor's own outline; null: without one. */
  async setOutline(file: File | null): Promise<void> {
    const ask = this.#epoch.asker();
    const { route } = this;
    this.workspace = await ask(file
      ? client.PUT("/api/workspaces/{workspace}/outline", { ...route, ...upload(file) })
      : client.DELETE("/api/workspaces/{workspace}/outline", route));
    this.ground = await ask(client.GET("/api/workspaces/{workspace}/map", route));
    this.#watch();
  }

  close(): void {
    this.#depart();
    this.workspace = this.levels = this.preview = this.ground = null;
    this.go("data");
    void this.attempt("Opening", async () => { this.workspaces = (await unwrap(client.GET("/api/workspaces"))).workspaces; });
  }

  go(view: ViewName): void {
    this.view = this.workspace?.site || view === "budgets" ? view : "data";
    const address = this.workspace ? { workspace: this.id, view: this.view } : view === "budgets" ? { view } : null;
    history.replaceState(null, "", `#${address ? new URLSearchParams(address as Record<string, string>) : ""}`);
    if (this.view === "choose" && this.workspace?.site?.optimizable && this.levels?.progress === null) void this.optimize();
  }

  /** Optimize the levels that are not yet, in the background. */
  async optimize(): Promise<void> {
    await this.attempt("Starting", async () => {
      await this.#epoch.asker()(client.POST("/api/workspaces/{workspace}/optimize", { ...this.route, body: {} }));
      await this.refresh();
    });
  }

  /** Stop a job, resume it, or forget it; what it proved stays. */
  async controlJob(id: string, action: "cancel" | "resume" | "forget"): Promise<void> {
    const params = { path: { workspace: this.id, job: id } };
    const ask = this.#epoch.asker();
    if (action === "forget") await ask(client.DELETE("/api/workspaces/{workspace}/jobs/{job}", { params }));
    else if (action === "cancel") await ask(client.POST("/api/workspaces/{workspace}/jobs/{job}/cancel", { params }));
    else await ask(client.POST("/api/workspaces/{workspace}/jobs/{job}/resume", { params }));
    await this.refresh();
  }

  /** See how far jobs are, and take in what they made. */
  async refresh(): Promise<void> {
    if (!this.workspace) return;
    const ask = this.#epoch.asker();
    const number = (this.#refreshCount += 1);
    const workspace = await ask(client.GET("/api/workspaces/{workspace}", this.route));
    const levels = workspace.site ? await ask(client.GET("/api/workspaces/{workspace}/levels", this.route)) : null;
    if (number < this.#newestRefresh) return; // it was overtaken
    this.#newestRefresh = number;
    this.workspace = workspace;
    const previous = this.level;
    this.levels = levels;
    if (previous?.epsilon !== this.level?.epsilon || previous?.status !== this.level?.status) this.look();
    this.#watch();
  }

  /** Ask again every second while a job runs, or levels are missing. */
  #watch(): void {
    clearTimeout(this.#pollTimer);
    const missing = (this.levels?.levels.length ?? 0) < (this.levels?.total ?? 0);
    if (missing || this.workspace?.jobs.some(isOpen)) this.#pollTimer = window.setTimeout(() => void this.refresh().catch(() => this.#watch()), POLL);
  }

  setMechanism(mechanism: Mechanism): void {
    this.mechanism = mechanism;
    this.look();
    this.remember();
  }

  setPosition(at: number): void {
    this.at = at;
    this.look();
    this.remember();
  }

  /** Ask where the chosen place or value would appear; of several questions during one answer only the last is asked. */
  look(): void {
    if (!this.levels || !this.id) return;
    const ask = this.#epoch.asker();
    const params = { path: { workspace: this.id }, query: { at: this.at, ...this.mechanism } };
    this.#previews.enqueue(async () => {
      try {
        this.preview = await ask(client.GET("/api/workspaces/{workspace}/preview", { params }));
        if (this.problem === this.#previewProblem) this.problem = null;
      } catch (problem) {
        if (problem instanceof Refusal) this.problem = this.#previewProblem = problem;
      }
    });
  }

  remember(): void {
    const site = this.workspace?.site;
    if (!site) return;
    const { mechanism, at, path, suspicions } = this;
    this.#stateSaver.remember(this.id, { mechanism, at, path, suspected: suspicions, laid: siteKey(site) });
  }

  /** The page goes: send what was to be remembered. */
  leave(): void {
    this.#stateSaver.flush();
  }

  /** Do something and show a refusal; undefined where it failed, or where the visitor is elsewhere by then. */
  async attempt<T>(action: string, task: () => Promise<T>): Promise<T | undefined> {
    this.busy = action;
    this.problem = null;
    try {
      const promise = task(); // a task that opens something else departs at once
      const isCurrent = this.#epoch.checker();
      const result = await promise;
      return isCurrent() ? result : undefined;
    } catch (problem) {
      if (problem instanceof StaleAnswer) return undefined;
      this.problem = problem instanceof Refusal ? problem : new Refusal(String(problem), "Load the page again; nothing is lost.");
      return undefined;
    } finally {
      if (this.busy === action) this.busy = "";
    }
  }

  /** Something else is to be shown: remember what is chosen, and drop all answers about it. */
  #depart(): Ask {
    this.leave();
    clearTimeout(this.#pollTimer);
    return this.#epoch.advance();
  }

  /** Show a workspace as the server has it now, with what belongs to it. */
  async #arrive(workspace: Workspace, ask: Ask): Promise<void> {
    const route = { params: { path: { workspace: workspace.id } } };
    const { site } = workspace;
    const [ground, values, levels] = await Promise.all([
      site?.kind === "places" ? ask(client.GET("/api/workspaces/{workspace}/map", route)) : null,
      site?.kind === "values" ? ask(client.GET("/api/workspaces/{workspace}/values", route)).then((answer) => answer.values) : [],
      site ? ask(client.GET("/api/workspaces/{workspace}/levels", route)) : null,
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
    const view = workspace.view as ViewState;
    const isKnown = (at: number | undefined): at is number => view.laid === siteKey(site) && at !== undefined && at < site.n;
    this.at = isKnown(view.at) ? view.at : this.#startPosition();
    this.mechanism = this.levels?.levels.some((level) => isLevel(view.mechanism ?? {}, level)) ? view.mechanism! : { level: this.levels?.start ?? 0 };
    this.path = (view.path ?? []).filter(isKnown);
    this.suspicions = (view.suspected ?? []).filter((suspicion) => isKnown(suspicion.at));
  }

  /** Somewhere that people go, but not the most visited place of all: that one shows least. */
  #startPosition(): number {
    const order = this.shares.map((share, at) => ({ share, at })).sort((a, b) => b.share - a.share);
    return order[Math.min(order.length - 1, Math.ceil(order.length / 12))]?.at ?? 0;
  }
}

export const studio = new Studio();
