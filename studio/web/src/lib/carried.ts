import type { Ground, Value } from "./types";

/** What a visitor chose among places or values, by their indices. */
export interface Chosen {
  at: number | null;
  path: number[];
  suspected: { at: number; weight: number }[];
}

/** The new index of an old one; null where there is none. */
type Moved = (at: number) => number | null;

const METRES = 111_195; // of a degree of latitude

/** The new place that lies where an old one was, or near it. */
export function nearBy(before: Ground, after: Ground, within: number): Moved {
  const places = after.cells.features.map((one) => one.properties);
  return (at) => {
    const old = before.cells.features[at]?.properties;
    if (!old) return null;
    const scale = Math.cos((old.lat * Math.PI) / 180);
    const away = places.map(({ lat, lon }) => METRES * Math.hypot(lat - old.lat, (lon - old.lon) * scale));
    const nearest = away.indexOf(Math.min(...away));
    return nearest >= 0 && away[nearest]! <= within ? nearest : null;
  };
}

/** The new value that has the name of an old one. */
export function sameName(before: readonly Value[], after: readonly Value[]): Moved {
  return (at) => after.find((one) => one.label === before[at]?.label)?.index ?? null;
}

/** What was chosen, where it is now; what is nowhere now is dropped. */
export function carried(chosen: Chosen, moved: Moved): Chosen {
  const keep = <T>(one: T | null): T[] => (one === null ? [] : [one]);
  const weights = new Map<number, number>();
  for (const { at, weight } of chosen.suspected) {
    const here = moved(at);
    if (here !== null) weights.set(here, (weights.get(here) ?? 0) + weight);
  }
  return {
    at: chosen.at === null ? null : moved(chosen.at),
    path: chosen.path.flatMap((at) => keep(moved(at))),
    suspected: [...weights].map(([at, weight]) => ({ at, weight })),
  };
}
