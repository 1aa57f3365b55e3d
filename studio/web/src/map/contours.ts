import type { Feature, FeatureCollection, Position } from "geojson";

/** Shares of the reports inside the contours, in percent, and the height of each contour as a share of the peak, at most. */
const LEVELS: [percent: number, most: number][] = [[90, 0.3], [75, 0.45], [50, 0.6], [25, 0.8]];
/** A contour passes around the last place inside, not through it. */
const LOWER = 0.8;
/** Points of the grid along the side of a cell, blur in these points, and points around the cells. */
const [FINE, BLUR, MARGIN] = [8, 4.8, 16];

/** Smooth areas that hold 90, 75, 50 and 25 % of the shares of cells, the largest first. */
export function contours(cells: FeatureCollection, shares: readonly number[]): Feature[] {
  const boxes = cells.features.map(({ geometry }) => boxOf(geometry.type === "Polygon" ? geometry.coordinates[0]! : []));
  if (boxes.length === 0) return [];
  const sides = [boxes[0]![2] - boxes[0]![0], boxes[0]![3] - boxes[0]![1]];
  const steps = sides.map((side) => side / FINE) as [number, number];
  const low = [0, 1].map((axis) => Math.min(...boxes.map((box) => box[axis]!)) - MARGIN * steps[axis]!);
  const [nx, ny] = [0, 1].map((axis) => (
    Math.ceil((Math.max(...boxes.map((box) => box[axis + 2]!)) - low[axis]!) / steps[axis]!) + MARGIN
  )) as [number, number];
  const places = boxes.map((box) => {
    const [i, j] = [0, 1].map((axis) => Math.round(((box[axis]! + box[axis + 2]!) / 2 - low[axis]!) / steps[axis]!));
    return j! * nx + i!;
  });
  let heights = new Float64Array(nx * ny);
  places.forEach((place, at) => { heights[place]! += shares[at] ?? 0; });
  heights = blur(blur(heights, nx, ny, 1), nx, ny, nx);
  const peak = heights.reduce((most, height) => Math.max(most, height), 0);
  const total = shares.reduce((sum, share) => sum + share, 0);
  if (!(peak > 0 && total > 0)) return [];
  const order = places.map((_, at) => at).sort((a, b) => heights[places[b]!]! - heights[places[a]!]!);
  return LEVELS.map(([percent, most]) => {
    let sum = 0;
    const last = order.find((at) => (sum += shares[at] ?? 0) >= (percent / 100) * total * (1 - 1e-12)) ?? order.at(-1)!;
    const level = LOWER * Math.min(heights[places[last]!]!, most * peak);
    const rings = ringsAt(heights, nx, ny, level).map((ring) => ring.map(([x, y]) => [low[0]! + x! * steps[0], low[1]! + y! * steps[1]]));
    return { type: "Feature", properties: { kind: percent }, geometry: { type: "MultiPolygon", coordinates: polygonsOf(rings) } };
  });
}

function boxOf(ring: Position[]): [number, number, number, number] {
  const [x, y] = [0, 1].map((axis) => ring.map((point) => point[axis]!));
  return [Math.min(...x!), Math.min(...y!), Math.max(...x!), Math.max(...y!)];
}

/** Heights blurred along one axis, whose neighbours lie a stride apart. */
function blur(heights: Float64Array, nx: number, ny: number, stride: number): Float64Array<ArrayBuffer> {
  const reach = Math.ceil(3.3 * BLUR);
  const weights = Array.from({ length: 2 * reach + 1 }, (_, k) => Math.exp(-0.5 * ((k - reach) / BLUR) ** 2));
  const result = new Float64Array(heights.length);
  const [length, size] = [stride === 1 ? nx : ny, heights.length];
  for (let at = 0; at < size; at++) {
    const height = heights[at]!;
    if (height === 0) continue;
    const offset = stride === 1 ? at % nx : Math.floor(at / nx);
    for (let k = Math.max(-reach, -offset); k <= Math.min(reach, length - 1 - offset); k++) {
      result[at + k * stride]! += height * weights[k + reach]!;
    }
  }
  return result;
}

/** From which side of a square a line comes, and to which it goes, by the corners inside: its left is inside. */
const [S, E, N, W] = [0, 1, 2, 3];
const TURNS: [from: number, to: number][][] = [
  [], [[S, W]], [[E, S]], [[E, W]], [[N, E]], [[S, W], [N, E]], [[N, S]], [[N, W]],
  [[W, N]], [[S, N]], [[E, S], [W, N]], [[E, N]], [[W, E]], [[S, E]], [[W, S]], [],
];

/** The lines at a level, by marching squares; the edge of the grid is below it. */
function ringsAt(heights: Float64Array, nx: number, ny: number, level: number): Position[][] {
  const successors = new Map<number, number>();
  for (let j = 0; j + 1 < ny; j++) {
    for (let i = 0; i + 1 < nx; i++) {
      const at = j * nx + i;
      const corners = [at, at + 1, at + nx + 1, at + nx];
      const turn = corners.reduce((sum, corner, k) => sum + (heights[corner]! >= level ? 1 << k : 0), 0);
      const edges = [2 * at, 2 * (at + 1) + 1, 2 * (at + nx), 2 * at + 1];
      for (const [from, to] of TURNS[turn]!) successors.set(edges[from]!, edges[to]!);
    }
  }
  const rings: Position[][] = [];
  while (successors.size > 0) {
    const ring: Position[] = [];
    let edge = successors.keys().next().value;
    while (edge !== undefined && successors.has(edge)) {
      const at = edge >> 1;
      const end = edge & 1 ? at + nx : at + 1;
      const share = (level - heights[at]!) / (heights[end]! - heights[at]!);
      const [i, j] = [at % nx, Math.floor(at / nx)];
      ring.push(edge & 1 ? [i, j + share] : [i + share, j]);
      const following: number = successors.get(edge)!;
      successors.delete(edge);
      edge = following;
    }
    rings.push([...ring, ring[0]!]);
  }
  return rings;
}

/** Rings as polygons: those that run clockwise are holes of the one around them. */
function polygonsOf(rings: Position[][]): Position[][][] {
  const outer = rings.filter((ring) => area(ring) > 0).map((ring) => [ring]);
  for (const hole of rings.filter((ring) => area(ring) < 0)) outer.find(([ring]) => contains(ring!, hole[0]!))?.push(hole);
  return outer;
}

function area(ring: Position[]): number {
  return ring.reduce((sum, [x, y], i) => {
    const [u, v] = ring[(i + 1) % ring.length]!;
    return sum + x! * v! - u! * y!;
  }, 0);
}

function contains(ring: Position[], [x, y]: Position): boolean {
  return ring.reduce((odd, [a, b], i) => {
    const [c, d] = ring[(i + 1) % ring.length]!;
    return (b! > y!) !== (d! > y!) && x! < a! + ((y! - b!) / (d! - b!)) * (c! - a!) ? !odd : odd;
  }, false);
}
