import type { Ground, Value } from "./types";

/** What a visitor selected among places or values, by their indices. */
export interface Selection {
  at: number | null;
  path: number[];
  suspected: { at: number; weight: number }[];
}

/** The new index of an old one; null where there is none. */
type Moved = (at: number) => number | null;

const METRES = 111_195; // of a degree of latitude

/** Return the index of the new place nearest to an old one, if it is near enough. */
export function nearest(before: Ground, after: Ground, within: number): Moved {
  const places = after.cells.features.map((one) => one.properties);
  return (at) => {
    const old = before.cells.features[at]?.properties;
    if (!old) return null;
    const scale = Math.cos((old.lat * Math.PI) / 180);
    const away = places.map(({ lat, lon }) => METRES * Math.hypot(lat - old.lat, (lon - old.lon) * scale));
    const index = away.indexOf(Math.min(...away));
    return index >= 0 && away[index]! <= within ? index : null;
  };
}

/** Return the index of the new value that has the name of an old one. */
export function sameName(before: readonly Value[], after: readonly Value[]): Moved {
  return (at) => after.find((one) => one.label === before[at]?.label)?.index ?? null;
}

/** Return a selection among the new places or values; what has no counterpart is dropped. */
export function carry(selection: Selection, moved: Moved): Selection {
  const keep = <T>(one: T | null): T[] => (one === null ? [] : [one]);
  const weights = new Map<number, number>();
  for (const { at, weight } of selection.suspected) {
    const here = moved(at);
    if (here !== null) weights.set(here, (weights.get(here) ?? 0) + weight);
  }
  return {
    at: selection.at === null ? null : moved(selection.at),
    path: selection.path.flatMap((at) => keep(moved(at))),
    suspected: [...weights].map(([at, weight]) => ({ at, weight })),
  };
}
