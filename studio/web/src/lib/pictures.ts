import type { Pin, Scene } from "../map/scene";
import type { Ground, Level, Preview } from "./types";

interface Known {
  places: boolean;
  names: readonly string[];
  workspace: { site: { circular?: number | null } | null } | null;
  ground: Ground | null;
}

/** A pin on a place; none where there is no map. */
export function pin(known: Known, at: number, kind: Pin["kind"], text: string, meaning: string): Pin[] {
  const place = known.ground?.cells.features[at]?.properties;
  return place ? [{ lat: place.lat, lon: place.lon, kind, text, meaning }] : [];
}

/** Where a person at the chosen place would appear, with the lines around 50 and 90 % of the reports. */
export function hereScene(known: Known, preview: Preview): Partial<Scene> {
  if (!preview.here) return {};
  const circle = known.workspace?.site?.circular;
  const { at, reports, contours } = preview.here;
  const bands = new Array<number>(reports.length).fill(0);
  for (const { share, cells } of [...contours].sort((a, b) => b.share - a.share)) {
    for (const cell of cells) bands[cell] = Math.round(share * 100);
  }
  return {
    values: reports, bands, longRun: reports, pins: pin(known, at, "true", "", "you are here"), here: at,
    unit: known.places ? "How often you appear there" : "How often it is reported",
    legend: known.places
      ? `Where you would appear if you are at ${known.names[at]}`
      : `What would be reported if the truth is ${known.names[at]}${circle ? `, on a circle of ${circle}` : ""}`,
  };
}

const [WIDE, HIGH, EDGE, LINE] = [800, 560, 24, 25]; // pixels of a picture, its margin and a line of its caption

/** Return a picture to take away, as SVG: the reports from the chosen place, with the guarantee as its caption. */
export function drawPicture(known: Known, shown: Level, preview: Preview): string {
  const { reports, at } = preview.here!;
  const caption = [hereScene(known, preview).legend!, shown.headline, shown.loss.sentence].flatMap((text) => broken(text, 84));
  const drawn = known.places && known.ground ? drawCells(known.ground, reports, at) : drawBars(known.names, reports, at);
  const lines = caption.map((text, line) => `<text x="${EDGE}" y="${HIGH + LINE * (line + 1)}">${escaped(text)}</text>`);
  const tall = HIGH + LINE * (caption.length + 1);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDE} ${tall}" width="${WIDE}" height="${tall}" font-family="sans-serif" font-size="18" fill="#1a1a1a">`
    + `<rect width="100%" height="100%" fill="#ffffff"/>${drawn}${lines.join("")}</svg>`;
}

function drawCells(ground: Ground, reports: readonly number[], at: number): string {
  const most = Math.max(...reports);
  const [west = 0, south = 0, east = 1, north = 1] = ground.bounds;
  const squeeze = Math.cos(((south + north) * Math.PI) / 360);
  const scale = Math.min((WIDE - 2 * EDGE) / ((east - west) * squeeze), (HIGH - 2 * EDGE) / (north - south));
  const left = (WIDE - (east - west) * squeeze * scale) / 2;
  const x = (lon: number) => (left + (lon - west) * squeeze * scale).toFixed(1);
  const y = (lat: number) => (EDGE + (north - lat) * scale).toFixed(1);
  const cells = ground.cells.features.map(({ geometry, properties }, index) => {
    const points = geometry.coordinates[0]!.map(([lon, lat]) => `${x(lon!)},${y(lat!)}`).join(" ");
    return `<polygon points="${points}" fill="#620034" fill-opacity="${(0.03 + 0.89 * Math.sqrt(reports[index]! / most)).toFixed(3)}" stroke="#ffffff" stroke-width="0.6"><title>${escaped(properties.name)}</title></polygon>`;
  });
  const here = ground.cells.features[at]!.properties;
  return `${cells.join("")}<circle cx="${x(here.lon)}" cy="${y(here.lat)}" r="8" fill="#d55e00" stroke="#ffffff" stroke-width="2"/>`;
}

function drawBars(names: readonly string[], reports: readonly number[], at: number): string {
  const [most, step, base] = [Math.max(...reports), (WIDE - 2 * EDGE) / reports.length, HIGH - 70];
  const every = Math.ceil(20 / step);
  return reports.map((share, index) => {
    const [left, high] = [EDGE + index * step, ((base - EDGE) * share) / most];
    const bar = `<rect x="${left.toFixed(1)}" y="${(base - high).toFixed(1)}" width="${(0.85 * step).toFixed(1)}" height="${high.toFixed(1)}" fill="${index === at ? "#d55e00" : "#0072b2"}"/>`;
    const [middle, label] = [(left + 0.42 * step).toFixed(1), escaped(names[index]!.slice(0, 14))];
    return index % every ? bar : `${bar}<text font-size="12" text-anchor="end" transform="translate(${middle} ${base + 14}) rotate(-45)">${label}</text>`;
  }).join("");
}

/** Break words into lines of at most so many characters. */
function broken(text: string, most: number): string[] {
  return text.split(" ").reduce<string[]>((lines, word) => {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    return longer.length <= most && lines.length ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, []);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
}
