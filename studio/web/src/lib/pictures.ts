import type { Feature, FeatureCollection, Geometry, Position } from "geojson";
import { boundsOf, type Box, type Pin, type Scene } from "../map/scene";
import { CREDIT } from "../map/world";
import { namedPoints } from "./names";
import type { Ground, Level, Preview } from "./types";

interface PageState {
  places: boolean;
  names: readonly string[];
  workspace: { site: { circular?: number | null } | null } | null;
  ground: Ground | null;
}

/** A pin on a place; none where there is no map. */
export function pin(state: PageState, at: number, kind: Pin["kind"], text: string, meaning: string): Pin[] {
  const place = state.ground?.cells.features[at]?.properties;
  return place ? [{ lat: place.lat, lon: place.lon, kind, text, meaning }] : [];
}

/** Where a person at the chosen place would appear, with the lines around 50 and 90 % of the reports. */
export function appearanceScene(state: PageState, preview: Preview): Partial<Scene> {
  if (!preview.here) return {};
  const circle = state.workspace?.site?.circular;
  const { at, reports, contours } = preview.here;
  const bands = new Array<number>(reports.length).fill(0);
  for (const { share, cells } of [...contours].sort((a, b) => b.share - a.share)) {
    for (const cell of cells) bands[cell] = Math.round(share * 100);
  }
  return {
    values: reports, bands, longRun: reports, pins: pin(state, at, "true", "", "you are here"), truth: at,
    unit: state.places ? "How often you appear there" : "How often it is reported",
    legend: state.places
      ? `Where you would appear if you are at ${state.names[at]}`
      : `What would be reported if the truth is ${state.names[at]}${circle ? `, on a circle of ${circle}` : ""}`,
  };
}

const [WIDTH, HEIGHT, EDGE, LINE] = [800, 560, 24, 25]; // pixels of a picture, its margin and a line of its caption
const MOST_NAMES = 14;

/** The light colours of the page: a picture is taken to white paper. */
const [INK, PAPER, MUTED, LAND, WATER, SHORE] = ["#1a1a1a", "#ffffff", "#595959", "#efece4", "#c4dcec", "#6f7f8c"];
const [SHARES, BAR, MARKER] = ["#620034", "#0072b2", "#d55e00"];

/** Return a picture to take away, as SVG: the reports from the chosen place, with the guarantee as its caption. */
export function drawPicture(state: PageState, level: Level, preview: Preview, world: FeatureCollection): string {
  const { reports, at } = preview.here!;
  const caption = [appearanceScene(state, preview).legend!, level.headline, level.loss.sentence].flatMap((text) => breakLines(text, 84));
  const picture = state.places && state.ground ? drawMap(state.ground, world, reports, at) : drawBars(state.names, reports, at);
  const lines = caption.map((text, line) => `<text x="${EDGE}" y="${HEIGHT + LINE * (line + 1)}">${escapeXml(text)}</text>`);
  const height = HEIGHT + LINE * (caption.length + 1);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="18" fill="${INK}">`
    + `<rect width="100%" height="100%" fill="${PAPER}"/>${picture}${lines.join("")}</svg>`;
}

/** The picture's pixels for degrees. */
interface Frame {
  x: (lon: number) => number;
  y: (lat: number) => number;
}

function scaleOf({ west, south, east, north }: Box): { squeeze: number; scale: number } {
  const squeeze = Math.cos(((south + north) * Math.PI) / 360);
  return { squeeze, scale: Math.min((WIDTH - 2 * EDGE) / ((east - west) * squeeze), (HEIGHT - 2 * EDGE) / (north - south)) };
}

function frameOf(box: Box): Frame {
  const { squeeze, scale } = scaleOf(box);
  return {
    x: (lon) => WIDTH / 2 + (lon - (box.west + box.east) / 2) * squeeze * scale,
    y: (lat) => HEIGHT / 2 + ((box.south + box.north) / 2 - lat) * scale,
  };
}

/** The degrees of a picture to the east and west of a box, and to its north and south. */
export function marginsOf(box: Box): [number, number] {
  const { squeeze, scale } = scaleOf(box);
  return [(WIDTH / (squeeze * scale) - box.east + box.west) / 2, (HEIGHT / scale - box.north + box.south) / 2];
}

function drawMap(ground: Ground, world: FeatureCollection, reports: readonly number[], at: number): string {
  const most = Math.max(...reports);
  const frame = frameOf(boundsOf(ground.bounds));
  const outline = (ground.outline ?? { type: "FeatureCollection", features: [] }) as unknown as FeatureCollection;
  const areas = outline.features.filter(({ geometry }) => geometry.type === "Polygon");
  const cells = ground.cells.features.map(({ geometry, properties }, index) => (
    `<path d="${pathOf(geometry.coordinates, frame)}" fill="${SHARES}" fill-opacity="${(0.92 * Math.sqrt(reports[index]! / most)).toFixed(3)}"><title>${escapeXml(properties.name)}</title></path>`
  ));
  const { lat, lon } = ground.cells.features[at]!.properties;
  const marker = { x: frame.x(lon), y: frame.y(lat) };
  return `<clipPath id="frame"><rect width="${WIDTH}" height="${HEIGHT}"/></clipPath><g clip-path="url(#frame)">`
    + drawWorld(world, frame)
    + drawShapes(areas.filter((feature) => feature.properties?.kind !== "water"), frame, `fill="${LAND}"`)
    + drawShapes(areas.filter((feature) => feature.properties?.kind === "water"), frame, `fill="${WATER}"`)
    + `<g stroke="${INK}" stroke-width="0.4" stroke-opacity="0.25">${cells.join("")}</g>`
    + drawShapes(outline.features, frame, `fill="none" stroke="${SHORE}" stroke-width="1.2"`)
    + drawNames([...namedPoints(outline), ...namedPoints(world)].map(({ lat, lon, text }) => ({ x: frame.x(lon), y: frame.y(lat), text })), marker)
    + `<circle cx="${marker.x.toFixed(1)}" cy="${marker.y.toFixed(1)}" r="8" fill="${MARKER}" stroke="${PAPER}" stroke-width="2"/></g>`
    + (world.features.length ? `<text x="${WIDTH - 6}" y="${HEIGHT - 7}" font-size="11" text-anchor="end" ${HALO}>${CREDIT}</text>` : "");
}

/** Land, water, rivers and borders, as the map of the step Choose has them. */
function drawWorld({ bbox, features }: FeatureCollection, frame: Frame): string {
  if (!bbox) return "";
  const [west, south, east, north] = bbox as [number, number, number, number];
  const part = (kind: string, style: string) => drawShapes(features.filter((feature) => feature.properties?.kind === kind), frame, style);
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
function drawNames(names: readonly { x: number; y: number; text: string }[], marker: { x: number; y: number }): string {
  const boxes = [{ ...marker, halfWidth: 10 }, { x: WIDTH - 135, y: HEIGHT - 10, halfWidth: 135 }];
  const texts: string[] = [];
  for (const { x, y, text } of names) {
    const halfWidth = 4 + 3.7 * text.length;
    if (x < halfWidth || x > WIDTH - halfWidth || y < 12 || y > HEIGHT - 12) continue;
    if (boxes.some((box) => Math.abs(box.x - x) < box.halfWidth + halfWidth && Math.abs(box.y - y) < 20)) continue;
    boxes.push({ x, y, halfWidth });
    texts.push(`<text x="${x.toFixed(1)}" y="${(y + 4.5).toFixed(1)}">${escapeXml(text)}</text>`);
    if (texts.length === MOST_NAMES) break;
  }
  return `<g font-size="13" text-anchor="middle" ${HALO}>${texts.join("")}</g>`;
}

function drawBars(names: readonly string[], reports: readonly number[], at: number): string {
  const [most, step, base] = [Math.max(...reports), (WIDTH - 2 * EDGE) / reports.length, HEIGHT - 70];
  const labelStep = Math.ceil(20 / step);
  return reports.map((share, index) => {
    const [left, height] = [EDGE + index * step, ((base - EDGE) * share) / most];
    const bar = `<rect x="${left.toFixed(1)}" y="${(base - height).toFixed(1)}" width="${(0.85 * step).toFixed(1)}" height="${height.toFixed(1)}" fill="${index === at ? MARKER : BAR}"/>`;
    const [middle, label] = [(left + 0.42 * step).toFixed(1), escapeXml(names[index]!.slice(0, 14))];
    return index % labelStep ? bar : `${bar}<text font-size="12" text-anchor="end" transform="translate(${middle} ${base + 14}) rotate(-45)">${label}</text>`;
  }).join("");
}

/** Break words into lines of at most so many characters. */
function breakLines(text: string, most: number): string[] {
  return text.split(" ").reduce<string[]>((lines, word) => {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    return longer.length <= most && lines.length ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, []);
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
