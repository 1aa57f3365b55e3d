import type { Ground, Value } from "./types";

/** What a visitor selected among places or values, by their indices. */
export interface Selection {
  at: number | null;
  path: number[];
  suspicions: { at: number; weight: number }[];
}

/** The new index of an old one; null where there is none. */
type IndexMap = (at: number) => number | null;

const METRES = 111_195; // of a degree of latitude

/** Return the index of the new place nearest to an old one, if it is near enough. */
export function mapNearest(source: Ground, target: Ground, radius: number): IndexMap {
  const places = target.cells.features.map((place) => place.properties);
  return (at) => {
    const previous = source.cells.features[at]?.properties;
    if (!previous) return null;
    const scale = Math.cos((previous.lat * Math.PI) / 180);
    const distances = places.map(({ lat, lon }) => METRES * Math.hypot(lat - previous.lat, (lon - previous.lon) * scale));
    const index = distances.indexOf(Math.min(...distances));
    return index >= 0 && distances[index]! <= radius ? index : null;
  };
}

/** Return the index of the new value that has the name of an old one. */
export function mapNames(source: readonly Value[], target: readonly Value[]): IndexMap {
  return (at) => target.find((value) => value.label === source[at]?.label)?.index ?? null;
}

/** Return a selection among the new places or values; what has no counterpart is dropped. */
export function transferSelection(selection: Selection, counterpart: IndexMap): Selection {
  const listOf = <T>(item: T | null): T[] => (item === null ? [] : [item]);
  const weights = new Map<number, number>();
  for (const { at, weight } of selection.suspicions) {
    const index = counterpart(at);
    if (index !== null) weights.set(index, (weights.get(index) ?? 0) + weight);
  }
  return {
    at: selection.at === null ? null : counterpart(selection.at),
    path: selection.path.flatMap((at) => listOf(counterpart(at))),
    suspicions: [...weights].map(([at, weight]) => ({ at, weight })),
  };
}
