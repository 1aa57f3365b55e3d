import { client, sent, told } from "./calls";
import { carried, nearBy, sameName, type Chosen } from "./carried";
import { laidOf, type Memory } from "./memory";
import { Playing } from "./playing";
import { Left, type Ask } from "./turns";
import type { Workspace } from "./types";
import type { ViewName } from "./state.svelte";

export { client };
export type { ViewName };

/** The one state of the page: workspaces are opened, filled, laid out and left. */
class Studio extends Playing {
  async start(): Promise<void> {
    await this.attempt("Opening", async () => {
      this.about = await told(client.GET("/api/about"));
      this.all = (await told(client.GET("/api/workspaces"))).workspaces;
      const wanted = new URLSearchParams(location.hash.slice(1));
      const id = wanted.get("w");
      if (id && this.all.some((one) => one.id === id)) await this.open(id, (wanted.get("v") as ViewName) ?? "data");
    });
  }

  async open(id: string, view: ViewName = "data"): Promise<void> {
    const ask = this.#depart();
    await this.#arrive(await ask(client.GET("/api/workspaces/{workspace}", { params: { path: { workspace: id } } })), ask);
    this.go(view);
  }

  /** A workspace with an example in it, ready to look at. */
  async startExample(example: "city" | "ages" | "categories"): Promise<void> {
    const ask = this.#depart();
    const { id } = await ask(client.POST("/api/workspaces"));
    const of = { params: { path: { workspace: id } } };
    await this.#firstSite(await ask(client.POST("/api/workspaces/{workspace}/example", { ...of, body: { example } })), ask);
  }

  /** The workspace of the built-in city that was open last; a new one where there is none. */
  async openCity(): Promise<void> {
    const ask = this.#depart();
    const title = this.about?.examples.find((one) => one.key === "city")?.title;
    const known = (await ask(client.GET("/api/workspaces"))).workspaces.find((one) => one.title === title && one.kind === "places");
    const city = known && await ask(client.GET("/api/workspaces/{workspace}", { params: { path: { workspace: known.id } } }));
    if (city?.data?.source === "city" && city.site) await this.#arrive(city, ask);
    else await this.startExample("city");
  }

  /** A workspace with a file of the visitor in it. */
  async startFile(file: File, as?: "places" | "values"): Promise<void> {
    const ask = this.#depart();
    const { id } = await ask(client.POST("/api/workspaces"));
    let filled: Workspace | null = null;
    try {
      const params = { path: { workspace: id }, query: { name: file.name, ...(as ? { as } : {}) } };
      filled = await ask(client.PUT("/api/workspaces/{workspace}/file", { params, ...sent(file) }));
      await this.#firstSite(filled, ask);
    } catch (problem) {
      if (!filled && !(problem instanceof Left)) await this.remove(id);
      throw problem;
    }
  }

  /** Lay places or values over the data as suggested: the visitor sees something at once and changes it then. */
  async #firstSite(filled: Workspace, ask: Ask): Promise<void> {
    await this.#arrive(filled, ask);
    this.go("data"); // the address names the workspace before anything long begins
    await this.lay({ kind: filled.data!.kind });
    this.go("data");
  }

  /** Choose places or values; what was chosen among the former ones stays where it is one of these, too. */
  async lay(site: Record<string, unknown> & { kind: "places" | "values" }): Promise<void> {
    const ask = this.#depart();
    const before = { ground: this.ground, values: this.values, site: this.workspace?.site ?? null };
    const chosen: Chosen = { at: this.at, path: this.path, suspected: this.suspected };
    const { epsilon } = this;
    try {
      const now = await ask(client.PUT("/api/workspaces/{workspace}/site", { ...this.here, body: site as never }));
      await this.#arrive(now, ask);
    } finally {
      this.watch();
    }
    if (!before.site) return;
    const { ground, values } = this;
    const { least, most } = this.workspace!.site!.epsilons;
    this.epsilon = Math.min(Math.max(epsilon, least), most);
    const moved = ground && before.ground
      ? nearBy(before.ground, ground, this.workspace!.site!.spacing_m! / 2)
      : sameName(before.values, values);
    const kept = carried(chosen, moved);
    this.at = kept.at ?? this.instructive();
    this.path = kept.path;
    this.suspected = kept.suspected;
    this.remember();
  }

  async remove(id: string): Promise<void> {
    if (this.id === id) {
      this.memory.forget();
      this.#depart();
      this.workspace = null;
    }
    await told(client.DELETE("/api/workspaces/{workspace}", { params: { path: { workspace: id } } }));
    this.all = this.all.filter((one) => one.id !== id);
  }

  /** Draw the map on an outline of the visitor's own; null: without one. */
  async drawOn(file: File | null): Promise<void> {
    const ask = this.turns.now();
    const here = this.here;
    this.workspace = await ask(file
      ? client.PUT("/api/workspaces/{workspace}/outline", { ...here, ...sent(file) })
      : client.DELETE("/api/workspaces/{workspace}/outline", here));
    this.ground = await ask(client.GET("/api/workspaces/{workspace}/map", here));
    this.watch();
  }

  close(): void {
    this.#depart();
    this.workspace = null;
    this.frontier = this.preview = this.ground = null;
    history.replaceState(null, "", "#");
    void this.attempt("Looking", async () => { this.all = (await told(client.GET("/api/workspaces"))).workspaces; });
  }

  go(view: ViewName): void {
    this.view = this.workspace?.site ? view : "data";
    history.replaceState(null, "", `#${new URLSearchParams({ w: this.id, v: this.view })}`);
    if (this.view !== "data" && this.workspace?.frontier && !this.workspace.frontier.job) void this.begin();
  }

  /** Something else is to be shown: remember what is chosen, and ask nothing more about it. */
  #depart(): Ask {
    this.leave();
    this.drafts.stop();
    clearTimeout(this.polling);
    return this.turns.next();
  }

  /** Show a workspace as the server has it now, with what belongs to it. */
  async #arrive(workspace: Workspace, ask: Ask): Promise<void> {
    const of = { params: { path: { workspace: workspace.id } } };
    const { site, frontier } = workspace;
    const ground = site?.kind === "places" ? await ask(client.GET("/api/workspaces/{workspace}/map", of)) : null;
    const values = site?.kind === "values" ? (await ask(client.GET("/api/workspaces/{workspace}/values", of))).values : [];
    const levels = frontier?.ready ? await ask(client.GET("/api/workspaces/{workspace}/frontier", of)) : null;
    this.workspace = workspace;
    this.ground = ground;
    this.values = values;
    this.frontier = this.preview = this.design = null;
    if (site) this.#recall(workspace, site);
    if (levels) this.take(levels);
    this.showDraft();
    if ((workspace.view as Memory).epsilon !== undefined) this.drafts.later();
    this.watch();
  }

  /** Choose what was chosen when the page was left. */
  #recall(workspace: Workspace, site: NonNullable<Workspace["site"]>): void {
    const memory = workspace.view as Memory;
    const same = memory.laid === undefined || memory.laid === laidOf(site);
    const known = (at: number | undefined): at is number => same && at !== undefined && at < site.n;
    this.at = known(memory.at) ? memory.at : this.instructive();
    this.epsilon = memory.epsilon ?? Math.sqrt(site.epsilons.least * site.epsilons.most);
    this.design = workspace.designs.find((one) => one.id === memory.design)?.id ?? null;
    this.path = (memory.path ?? []).filter(known);
    this.suspected = (memory.suspected ?? []).filter((one) => known(one.at));
  }

  /** Somewhere that people go, but not the likeliest place of all: that one says least. */
  protected instructive(): number {
    const order = this.shares.map((share, at) => ({ share, at })).sort((a, b) => b.share - a.share);
    return order[Math.min(order.length - 1, Math.ceil(order.length / 12))]?.at ?? 0;
  }
}

export const studio = new Studio();
