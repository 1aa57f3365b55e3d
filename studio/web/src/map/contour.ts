import type { Feature, FeatureCollection, Position } from "geojson";

/** The lines around a set of cells: the edges that only one of its cells has. */
export function around(cells: FeatureCollection, inside: (index: number) => boolean, kind: number): Feature {
  const edges = new Map<string, [Position, Position] | null>();
  for (const cell of cells.features) {
    if (!inside(cell.id as number) || cell.geometry.type !== "Polygon") continue;
    for (const ring of cell.geometry.coordinates) {
      for (let i = 1; i < ring.length; i++) {
        const [a, b] = [ring[i - 1]!, ring[i]!];
        const name = [key(a), key(b)].sort().join(" ");
        edges.set(name, edges.has(name) ? null : [a, b]);
      }
    }
  }
  const coordinates = [...edges.values()].filter((edge) => edge !== null);
  return { type: "Feature", properties: { kind }, geometry: { type: "MultiLineString", coordinates } };
}

/** Corners that two cells share may differ in their last digits. */
function key(point: Position): string {
  return `${point[0]!.toFixed(7)},${point[1]!.toFixed(7)}`;
}
