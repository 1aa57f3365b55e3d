import type { Ground } from "./types";

interface Named {
  lat: number;
  lon: number;
  text: string;
}

/** Return the named points of an outline. */
export function namedPoints(outline: { features: readonly { geometry: unknown; properties?: unknown }[] } | null): Named[] {
  return (outline?.features ?? []).flatMap(({ geometry, properties }) => {
    const { type, coordinates } = geometry as { type: string; coordinates: unknown[] };
    const text = (properties as { name?: unknown } | null | undefined)?.name;
    const [lon, lat] = type === "Point" ? coordinates : [];
    return typeof text === "string" && typeof lon === "number" && typeof lat === "number" ? [{ lat, lon, text }] : [];
  });
}

/** Return the names of a map's places: their column and row, and the named point inside them. */
export function placeNames(ground: Ground): string[] {
  const known = namedPoints(ground.outline as never);
  return ground.cells.features.map(({ geometry, properties }) => {
    const corners = (geometry.coordinates as number[][][])[0]!;
    const [east, north] = [corners.map((one) => one[0]!), corners.map((one) => one[1]!)];
    const inside = known.find(({ lat, lon }) => (
      lon >= Math.min(...east) && lon < Math.max(...east) && lat >= Math.min(...north) && lat < Math.max(...north)
    ));
    return `${inWords(properties.name)}${inside ? ` (${inside.text})` : ""}`;
  });
}

/** Return the name of a grid's place in words: "x03y02" is the fourth column from the west, the third row from the south. */
function inWords(name: string): string {
  const [, x, y] = /^x(\d+)y(\d+)$/.exec(name) ?? [];
  return x && y ? `column ${Number(x) + 1}, row ${Number(y) + 1}` : name;
}
