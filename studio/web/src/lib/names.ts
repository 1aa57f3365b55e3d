import type { Ground } from "./types";

interface NamedPoint {
  lat: number;
  lon: number;
  text: string;
}

/** Return the named points of an outline. */
export function namedPoints(outline: { features: readonly { geometry: unknown; properties?: unknown }[] } | null): NamedPoint[] {
  return (outline?.features ?? []).flatMap(({ geometry, properties }) => {
    const { type, coordinates } = geometry as { type: string; coordinates: unknown[] };
    const text = (properties as { name?: unknown } | null | undefined)?.name;
    const [lon, lat] = type === "Point" ? coordinates : [];
    return typeof text === "string" && typeof lon === "number" && typeof lat === "number" ? [{ lat, lon, text }] : [];
  });
}

/** Return the names of a map's places, each with the outline's named point inside. */
export function placeNames(ground: Ground): string[] {
  const points = namedPoints(ground.outline as never);
  return ground.cells.features.map(({ geometry, properties }) => {
    const corners = (geometry.coordinates as number[][][])[0]!;
    const [east, north] = [corners.map((corner) => corner[0]!), corners.map((corner) => corner[1]!)];
    const point = points.find(({ lat, lon }) => (
      lon >= Math.min(...east) && lon < Math.max(...east) && lat >= Math.min(...north) && lat < Math.max(...north)
    ));
    return `${properties.name}${point ? ` (${point.text})` : ""}`;
  });
}
