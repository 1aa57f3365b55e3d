/** The colour of shares, on light paper and on dark. */
const SHARES = ["#620034", "#ef9eab"] as const;

/** How much the colour of shares covers the map: nothing where there is nothing, and ever more. Pairs of share and opacity. */
const COVER: [share: number, opacity: number][] = [[0, 0], [0.01, 0.12], [0.25, 0.5], [1, 0.92]];

/** Pairs of stop and opacity for MapLibre's `interpolate`. */
export const OPACITY: number[] = COVER.flat();

/** The map's scale as a CSS gradient, to be laid over the colour of land: the key shows what the map shows. */
export const GRADIENT = `linear-gradient(to right, ${COVER.map(([share, opacity]) => (
  `color-mix(in srgb, light-dark(${SHARES.join(", ")}) ${100 * opacity}%, transparent) ${100 * share}%`
)).join(", ")})`;

/** The colour of shares on the paper of now. */
export function colour(): string {
  return SHARES[matchMedia("(prefers-color-scheme: dark)").matches ? 1 : 0];
}

/** The value that a custom property of the page has now. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
