import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const MODULES = join(import.meta.dirname, "node_modules");
/** Licences from the repositories of packages that come without one, by name. */
const LICENCES = join(import.meta.dirname, "licences");

/** Write the licences of everything that the page contains beside it. */
export function licences(): Plugin {
  return {
    name: "licences",
    generateBundle(_options, bundle) {
      const found = new Set<string>();
      for (const chunk of Object.values(bundle)) {
        const sources = chunk.type === "chunk" ? Object.keys(chunk.modules) : chunk.originalFileNames;
        for (const source of sources) {
          const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1];
          if (name) withDependencies(name, found);
        }
      }
      const texts = [...found].sort().map(textOf);
      this.emitFile({ type: "asset", fileName: "licences.txt", source: texts.join("\n") });
    },
  };
}

/** Some packages are bundles themselves: count all that they depend on. */
function withDependencies(name: string, found: Set<string>): void {
  if (found.has(name) || !existsSync(join(MODULES, name, "package.json"))) return;
  found.add(name);
  for (const other of Object.keys(about(name).dependencies ?? {})) withDependencies(other, found);
}

function about(name: string): { version: string; license?: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(MODULES, name, "package.json"), "utf-8"));
}

function textOf(name: string): string {
  const { version, license } = about(name);
  const files = readdirSync(join(MODULES, name)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).sort();
  const paths = files.map((file) => join(MODULES, name, file));
  const extra = join(LICENCES, `${name}.txt`);
  if (paths.length === 0 && existsSync(extra)) paths.push(extra);
  const texts = paths.map((path) => readFileSync(path, "utf-8").trim().replace(/\r/g, ""));
  return [`${"=".repeat(78)}`, `${name} ${version} (${license ?? "see below"})`, "", ...texts, ""].join("\n");
}
