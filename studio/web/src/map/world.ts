import type { FeatureCollection } from "geojson";
import type { Box } from "./scene";

/** The sources that a drawing of the world has to name. */
export const CREDIT = "© OpenStreetMap contributors, GSHHG, GeoNames";

export const NOTHING: FeatureCollection = { type: "FeatureCollection", features: [] };

/** Largest boxes that the studio serves, degrees: with all its points and towns, and with fewer. */
const [DETAIL_SIDE, LARGEST_SIDE] = [10, 30];

/**
 * Fetch the world within a box and margins to the east and west, and to the north and south, in degrees. The margins
 * are cut to what the studio serves in one detail; `bbox` is what was fetched. Nothing is fetched for a box that is too large.
 */
export async function fetchWorld({ west, south, east, north }: Box, margins: readonly [number, number], signal: AbortSignal): Promise<FeatureCollection> {
  const sides = [east - west, north - south];
  const most = (Math.max(...sides) > DETAIL_SIDE ? LARGEST_SIDE : DETAIL_SIDE) - 1e-6; // sums of sides and margins are rounded
  const [marginX, marginY] = sides.map((side, axis) => Math.max(0, Math.min(margins[axis]!, (most - side) / 2))) as [number, number];
  const box = {
    west: Math.max(-180, west - marginX), south: Math.max(-90, south - marginY),
    east: Math.min(180, east + marginX), north: Math.min(90, north + marginY),
  };
  if (Math.max(box.east - box.west, box.north - box.south) > LARGEST_SIDE) return NOTHING;
  const query = new URLSearchParams(Object.entries(box).map(([side, degrees]) => [side, String(degrees)]));
  const answer = await fetch(`/api/world?${query}`, { signal });
  return answer.ok ? { ...await answer.json() as FeatureCollection, bbox: [box.west, box.south, box.east, box.north] } : NOTHING;
}
