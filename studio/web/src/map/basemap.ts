import type { AddProtocolAction, ExpressionSpecification, FilterSpecification, LayerSpecification, SourceSpecification } from "maplibre-gl";
import { PMTiles, Protocol, TileType, type Header } from "pmtiles";
import { token } from "./colours";

/** A basemap from the PMTiles file that the studio was started with. */
export interface Basemap {
  /** Reads addresses that begin with `pmtiles:`. */
  protocol: AddProtocolAction;
  sources: Record<string, SourceSpecification>;
  /** Its layers, in the colours of now. */
  layers: () => LayerSpecification[];
  /** The file's attribution as plain text, or the reason why nothing is drawn. */
  credit: string;
}

interface Metadata {
  attribution?: unknown;
  vector_layers?: unknown;
}

const FILE = "/api/basemap.pmtiles";
const VECTOR: readonly TileType[] = [TileType.Mvt, TileType.Mlt];

/** Colours that the page has no token for, on light paper and on dark. */
const PAINT = {
  green: ["#d6e3c6", "#24342c"], building: ["#dcd6c9", "#313740"], edge: ["#c9c2b3", "#15181d"], road: ["#ffffff", "#48505b"],
} as const;

/** What a feature is: `kind` in Protomaps since its version 4, `pmap:kind` before, `class` in OpenMapTiles. */
const KIND: ExpressionSpecification = ["coalesce", ["get", "kind"], ["get", "pmap:kind"], ["get", "class"], ""];
const LEVEL: ExpressionSpecification = ["to-number", ["coalesce", ["get", "admin_level"], ["get", "pmap:min_admin_level"], 99], 99];

const GREEN = [
  "allotments", "cemetery", "forest", "garden", "golf_course", "grass", "grassland", "meadow", "national_park", "nature_reserve", "orchard",
  "park", "playground", "protected_area", "recreation_ground", "scrub", "village_green", "wood", "zoo",
];
const MAJOR = ["highway", "major_road", "medium_road", "motorway", "trunk", "primary", "secondary", "tertiary"];
const MINOR = ["minor_road", "minor", "service", "busway", "residential", "unclassified"];
const PATHS = ["path", "track", "pedestrian"];
const RAILS = ["rail", "transit"];

/** Open the basemap. A file that cannot be read is no error: its credit says so, and the map is drawn without it. */
export async function openBasemap(): Promise<Basemap> {
  const archive = new PMTiles(`${location.origin}${FILE}`);
  const protocol = new Protocol();
  protocol.add(archive);
  const readTile = protocol.tile as AddProtocolAction; // its type says no more of the data than "unknown"
  try {
    const header = await archive.getHeader();
    const { attribution, vector_layers: layerList } = (await archive.getMetadata().catch(() => null) ?? {}) as Metadata;
    const names = Array.isArray(layerList) ? layerList.map((layer: { id?: unknown }) => String(layer?.id)) : null;
    const vector = VECTOR.includes(header.tileType);
    const layers = () => (vector ? vectorLayers(header, names) : [rasterLayer()]);
    const text = plainText(attribution);
    const warning = layers().every(({ id }) => id === "basemap-ground") ? "The basemap has no known layers." : "";
    return { protocol: readTile, sources: sourcesOf(header, vector), layers, credit: warning || (text && `Basemap: ${text}`) };
  } catch (problem) {
    const reason = problem instanceof Error ? problem.message : String(problem);
    return { protocol: readTile, sources: {}, layers: () => [], credit: `The basemap cannot be read (${reason}).` };
  }
}

/** Attributions are HTML: return their text. A parsed document runs no script and loads nothing. */
function plainText(html: unknown): string {
  return typeof html === "string" ? (new DOMParser().parseFromString(html, "text/html").body.textContent ?? "").trim() : "";
}

function sourcesOf(header: Header, vector: boolean): Record<string, SourceSpecification> {
  const { minLon: west, minLat: south, maxLon: east, maxLat: north } = header;
  const corners = [[west, south], [east, south], [east, north], [west, north], [west, south]];
  const tiles = {
    tiles: [`pmtiles://${location.origin}${FILE}/{z}/{x}/{y}`], minzoom: header.minZoom, maxzoom: header.maxZoom,
    ...(east > west && north > south ? { bounds: [west, south, east, north] as [number, number, number, number] } : {}),
  };
  if (!vector) return { basemap: { type: "raster", tileSize: 256, ...tiles } };
  return {
    basemap: { type: "vector", encoding: header.tileType === TileType.Mlt ? "mlt" : "mvt", ...tiles },
    "basemap-ground": { type: "geojson", data: { type: "Feature", properties: {}, geometry: { type: "Polygon", coordinates: [corners] } } },
  };
}

function isDark(): boolean {
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Raster tiles have their own colours: on dark paper they are dimmed. */
function rasterLayer(): LayerSpecification {
  return { id: "basemap-raster", type: "raster", source: "basemap", paint: isDark() ? { "raster-brightness-max": 0.55, "raster-saturation": -0.3 } : {} };
}

/** Return the layers for Protomaps and OpenMapTiles, of those that the file names; of all where it names none. */
function vectorLayers(header: Header, names: readonly string[] | null): LayerSpecification[] {
  const paint = (name: keyof typeof PAINT) => PAINT[name][isDark() ? 1 : 0];
  const isKind = (...kinds: string[]): ExpressionSpecification => ["match", KIND, kinds, true, false];
  const shape = (name: "Polygon" | "LineString"): ExpressionSpecification => ["==", ["geometry-type"], name];
  /** Pixels by zoom: of major roads, minor roads and others. */
  const widths = (extra: number): ExpressionSpecification => [
    "interpolate", ["exponential", 1.5], ["zoom"],
    6, ["match", KIND, MAJOR, 0.6 + extra / 2, 0.2], 12, ["match", KIND, MAJOR, 2 + extra, MINOR, 0.8 + extra, 0.6],
    18, ["match", KIND, MAJOR, 18 + extra, MINOR, 10 + extra, 3],
  ];
  const fill = (part: string, sourceLayers: string[], color: string, filter: ExpressionSpecification | null = null, minzoom = 0): LayerSpecification[] =>
    sourceLayers.map((name) => ({
      id: `basemap-${part}-${name}`, type: "fill", source: "basemap", "source-layer": name, minzoom,
      filter: (filter ? ["all", shape("Polygon"), filter] : shape("Polygon")) as FilterSpecification, paint: { "fill-color": color },
    }));
  const line = (
    part: string, sourceLayers: string[], color: string, width: number | ExpressionSpecification, filter: ExpressionSpecification | null = null,
    minzoom = 0, dashes: number[] | null = null,
  ): LayerSpecification[] => sourceLayers.map((name) => ({
    id: `basemap-${part}-${name}`, type: "line", source: "basemap", "source-layer": name, minzoom,
    filter: (filter ? ["all", shape("LineString"), filter] : shape("LineString")) as FilterSpecification,
    paint: { "line-color": color, "line-width": width, ...(dashes ? { "line-dasharray": dashes } : {}) },
  }));
  const roads = ["roads", "transportation"];
  const border: ExpressionSpecification = [
    "all", ["any", isKind("country", "region"), ["<=", LEVEL, 4]], ["!=", ["to-number", ["get", "maritime"], 0], 1],
  ];
  const layers = [
    ...fill("earth", ["earth"], token("land")),
    ...fill("green", ["landcover", "natural", "landuse"], paint("green"), isKind(...GREEN)),
    ...fill("green", ["park"], paint("green")),
    ...fill("water", ["water"], token("water")),
    ...line("river", ["water", "waterway", "physical_line"], token("water"), ["interpolate", ["linear"], ["zoom"], 8, 1, 16, 6]),
    ...fill("building", ["buildings", "building"], paint("building"), null, 13),
    ...line("rail", [...roads, "transit"], token("muted"), 0.8, isKind(...RAILS), 10, [4, 2]),
    ...line("path", roads, paint("edge"), widths(0), isKind(...PATHS), 14),
    ...line("edge", roads, paint("edge"), widths(1.4), isKind(...MAJOR, ...MINOR), 9),
    ...line("road", roads, paint("road"), widths(0), isKind(...MAJOR, ...MINOR)),
    ...line("border", ["boundaries", "boundary"], token("muted"), 1, border, 0, [4, 2]),
  ].filter((layer) => names === null || names.includes((layer as { "source-layer": string })["source-layer"]));
  // OpenMapTiles draws no land: all that is not water is land, within the file's bounds.
  const ground: LayerSpecification = {
    id: "basemap-ground", type: "fill", source: "basemap-ground", minzoom: header.minZoom, paint: { "fill-color": token("land") },
  };
  return names === null || names.includes("earth") || !names.includes("water") ? layers : [ground, ...layers];
}
