import type { Feature, FeatureCollection, Geometry, Position } from "geojson";
import { boundsOf, type Box, type Pin, type Scene } from "../map/scene";
import { CREDIT } from "../map/world";
import { namedPoints } from "./names";
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
const MOST_NAMES = 14;

/** The light colours of the page: a picture is taken to white paper. */
const [INK, PAPER, MUTED, LAND, WATER, SHORE] = ["#1a1a1a", "#ffffff", "#595959", "#efece4", "#c4dcec", "#6f7f8c"];
const [SHARES, BAR, HERE] = ["#620034", "#0072b2", "#d55e00"];

/** Return a picture to take away, as SVG: the reports from the chosen place, with the guarantee as its caption. */
export function drawPicture(known: Known, shown: Level, preview: Preview, world: FeatureCollection): string {
  const { reports, at } = preview.here!;
  const caption = [hereScene(known, preview).legend!, shown.headline, shown.loss.sentence].flatMap((text) => broken(text, 84));
  const drawn = known.places && known.ground ? drawMap(known.ground, world, reports, at) : drawBars(known.names, reports, at);
  const lines = caption.map((text, line) => `<text x="${EDGE}" y="${HIGH + LINE * (line + 1)}">${escaped(text)}</text>`);
  const tall = HIGH + LINE * (caption.length + 1);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDE} ${tall}" width="${WIDE}" height="${tall}" font-family="sans-serif" font-size="18" fill="${INK}">`
    + `<rect width="100%" height="100%" fill="${PAPER}"/>${drawn}${lines.join("")}</svg>`;
}

/** The picture's pixels for degrees. */
interface Frame {
  x: (lon: number) => number;
  y: (lat: number) => number;
}

function scaleOf({ west, south, east, north }: Box): { squeeze: number; scale: number } {
  const squeeze = Math.cos(((south + north) * Math.PI) / 360);
  return { squeeze, scale: Math.min((WIDE - 2 * EDGE) / ((east - west) * squeeze), (HIGH - 2 * EDGE) / (north - south)) };
}

function frameOf(box: Box): Frame {
  const { squeeze, scale } = scaleOf(box);
  return {
    x: (lon) => WIDE / 2 + (lon - (box.west + box.east) / 2) * squeeze * scale,
    y: (lat) => HIGH / 2 + ((box.south + box.north) / 2 - lat) * scale,
  };
}

/** The degrees of a picture to the east and west of a box, and to its north and south. */
export function marginsOf(box: Box): [number, number] {
  const { squeeze, scale } = scaleOf(box);
  return [(WIDE / (squeeze * scale) - box.east + box.west) / 2, (HIGH / scale - box.north + box.south) / 2];
}

function drawMap(ground: Ground, world: FeatureCollection, reports: readonly number[], at: number): string {
  const most = Math.max(...reports);
  const frame = frameOf(boundsOf(ground.bounds));
  const outline = (ground.outline ?? { type: "FeatureCollection", features: [] }) as unknown as FeatureCollection;
  const areas = outline.features.filter(({ geometry }) => geometry.type === "Polygon");
  const cells = ground.cells.features.map(({ geometry, properties }, index) => (
    `<path d="${pathOf(geometry.coordinates, frame)}" fill="${SHARES}" fill-opacity="${(0.92 * Math.sqrt(reports[index]! / most)).toFixed(3)}"><title>${escaped(properties.name)}</title></path>`
  ));
  const { lat, lon } = ground.cells.features[at]!.properties;
  const here = { x: frame.x(lon), y: frame.y(lat) };
  return `<clipPath id="frame"><rect width="${WIDE}" height="${HIGH}"/></clipPath><g clip-path="url(#frame)">`
    + drawWorld(world, frame)
    + drawShapes(areas.filter((one) => one.properties?.kind !== "water"), frame, `fill="${LAND}"`)
    + drawShapes(areas.filter((one) => one.properties?.kind === "water"), frame, `fill="${WATER}"`)
    + `<g stroke="${INK}" stroke-width="0.4" stroke-opacity="0.25">${cells.join("")}</g>`
    + drawShapes(outline.features, frame, `fill="none" stroke="${SHORE}" stroke-width="1.2"`)
    + drawNames([...namedPoints(outline), ...namedPoints(world)].map(({ lat, lon, text }) => ({ x: frame.x(lon), y: frame.y(lat), text })), here)
    + `<circle cx="${here.x.toFixed(1)}" cy="${here.y.toFixed(1)}" r="8" fill="${HERE}" stroke="${PAPER}" stroke-width="2"/></g>`
    + (world.features.length ? `<text x="${WIDE - 6}" y="${HIGH - 7}" font-size="11" text-anchor="end" ${HALO}>${CREDIT}</text>` : "");
}

/** Land, water, rivers and borders, as the map of the step Choose has them. */
function drawWorld({ bbox, features }: FeatureCollection, frame: Frame): string {
  if (!bbox) return "";
  const [west, south, east, north] = bbox as [number, number, number, number];
  const part = (kind: string, style: string) => drawShapes(features.filter((one) => one.properties?.kind === kind), frame, style);
  const sea = [[[west, south], [east, south], [east, north], [west, north], [west, south]]];
  return `<path d="${pathOf(sea, frame)}" fill="${WATER}"/>`
    + part("land", `fill="${LAND}"`)
    + part("shores", `fill="none" stroke="${SHORE}" stroke-width="1.2"`)
    + part("water", `fill="${WATER}"`)
    + part("rivers", `fill="none" stroke="${WATER}" stroke-width="2"`)
    + part("borders", `fill="none" stroke="${MUTED}" stroke-dasharray="4 2"`);
}

/** Draw lines and areas: each polygon by itself, as those of neighbouring tiles of the world overlap. */
function drawShapes(features: readonly Feature[], frame: Frame, style: string): string {
  const paths = features.flatMap(({ geometry }) => linesOf(geometry)).map((lines) => `<path d="${pathOf(lines, frame)}"/>`);
  return paths.length ? `<g ${style} fill-rule="evenodd">${paths.join("")}</g>` : "";
}

/** The lines of a geometry, or the rings of each of its polygons; none for points. */
function linesOf(geometry: Geometry): Position[][][] {
  if (geometry.type === "MultiPolygon") return geometry.coordinates;
  if (geometry.type === "Polygon" || geometry.type === "MultiLineString") return [geometry.coordinates];
  return geometry.type === "LineString" ? [[geometry.coordinates]] : [];
}

/** A path along lines, without points that are less than half a pixel from the one before. */
function pathOf(lines: readonly Position[][], { x, y }: Frame): string {
  return lines.map((line) => {
    let [px, py] = [NaN, NaN];
    return line.map(([lon, lat], index) => {
      const [qx, qy] = [x(lon!), y(lat!)];
      if (index < line.length - 1 && Math.hypot(qx - px, qy - py) < 0.5) return "";
      [px, py] = [qx, qy];
      return `${index ? "L" : "M"}${qx.toFixed(1)} ${qy.toFixed(1)}`;
    }).join("");
  }).join("");
}

const HALO = `stroke="${PAPER}" stroke-width="3" stroke-opacity="0.8" stroke-linejoin="round" paint-order="stroke"`;

/** Names that fit, the first in the list first: none on another name, on the pin or across the edge. */
function drawNames(names: readonly { x: number; y: number; text: string }[], here: { x: number; y: number }): string {
  const taken = [{ ...here, half: 10 }, { x: WIDE - 135, y: HIGH - 10, half: 135 }];
  const written: string[] = [];
  for (const { x, y, text } of names) {
    const half = 4 + 3.7 * text.length;
    if (x < half || x > WIDE - half || y < 12 || y > HIGH - 12) continue;
    if (taken.some((one) => Math.abs(one.x - x) < one.half + half && Math.abs(one.y - y) < 20)) continue;
    taken.push({ x, y, half });
    written.push(`<text x="${x.toFixed(1)}" y="${(y + 4.5).toFixed(1)}">${escaped(text)}</text>`);
    if (written.length === MOST_NAMES) break;
  }
  return `<g font-size="13" text-anchor="middle" ${HALO}>${written.join("")}</g>`;
}

function drawBars(names: readonly string[], reports: readonly number[], at: number): string {
  const [most, step, base] = [Math.max(...reports), (WIDE - 2 * EDGE) / reports.length, HIGH - 70];
  const every = Math.ceil(20 / step);
  return reports.map((share, index) => {
    const [left, high] = [EDGE + index * step, ((base - EDGE) * share) / most];
    const bar = `<rect x="${left.toFixed(1)}" y="${(base - high).toFixed(1)}" width="${(0.85 * step).toFixed(1)}" height="${high.toFixed(1)}" fill="${index === at ? HERE : BAR}"/>`;
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
