/** What a map shows: all of it data, so that a view can say it in words as well. */
export interface Dot {
  lat: number;
  lon: number;
  /** Share of the largest dot's area, 0 to 1. */
  size: number;
}

export interface Pin {
  lat: number;
  lon: number;
  kind: "true" | "guess" | "reported" | "step";
  text: string;
  /** What the key says of pins of this kind. */
  meaning: string;
}

export interface Box {
  south: number;
  west: number;
  north: number;
  east: number;
}

export interface Scene {
  /** A share per place or value; null where nothing is to be coloured. */
  values: readonly number[] | null;
  /** 50 or 90 where the place belongs to the smallest set with that share of the reports, else 0. */
  bands: readonly number[] | null;
  /** How often each place is reported in the long run: the map draws its lines around these; null where there are none. */
  longRun: readonly number[] | null;
  dots: readonly Dot[];
  pins: readonly Pin[];
  path: readonly (readonly [number, number])[];
  /** A region: its corners, longitude first; none where none is shown. */
  ring: readonly (readonly [number, number])[];
  /** The meaning of the colours, in words. */
  legend: string;
  /** The meaning of one value. */
  unit: string;
  /** The true place or value; null where it is not shown. */
  truth: number | null;
}

export const EMPTY: Scene = { values: null, bands: null, longRun: null, dots: [], pins: [], path: [], ring: [], legend: "", unit: "", truth: null };

/** A box from its west, south, east and north; most of the world without them. */
export function boundsOf([west = -180, south = -60, east = 180, north = 70]: readonly number[]): Box {
  return { south, west, north, east };
}

/** The corners of a box, longitude first. */
export function cornersOf({ south, west, north, east }: Box): [number, number][] {
  return [[west, south], [east, south], [east, north], [west, north]];
}
