import type { Pin, Scene } from "../map/scene";
import type { Preview } from "./types";

interface Known {
  places: boolean;
  names: readonly string[];
  workspace: { site: { circular?: number | null } | null } | null;
  ground: { cells: { features: { properties: { lat: number; lon: number } }[] } } | null;
}

/** A pin on a place; none where there is no map. */
export function pin(known: Known, at: number, kind: Pin["kind"], text: string, meaning: string): Pin[] {
  const place = known.ground?.cells.features[at]?.properties;
  return place ? [{ lat: place.lat, lon: place.lon, kind, text, meaning }] : [];
}

/** Where somebody at the chosen place would appear, with the lines that hold 50 and 90 % of the reports. */
export function hereScene(known: Known, preview: Preview): Partial<Scene> {
  if (!preview.here) return {};
  const circle = known.workspace?.site?.circular;
  const { at, reports, contours } = preview.here;
  const bands = new Array<number>(reports.length).fill(0);
  for (const { share, cells } of [...contours].sort((a, b) => b.share - a.share)) {
    for (const cell of cells) bands[cell] = Math.round(share * 100);
  }
  return {
    values: reports, bands, pins: pin(known, at, "true", "", "you are here"), here: at,
    unit: known.places ? "How often you appear there" : "How often it is reported",
    legend: known.places
      ? `Where you would appear if you are at ${known.names[at]}`
      : `What would be reported if the truth is ${known.names[at]}${circle ? `, on a circle of ${circle}` : ""}`,
  };
}
