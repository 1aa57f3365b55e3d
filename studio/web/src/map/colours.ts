/** Stops of cividis, which reads the same with every kind of colour vision. */
const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];

/** How much a colour covers the land below: nothing where there is nothing. Pairs of share and opacity. */
const COVER: [share: number, opacity: number][] = [[0, 0], [0.01, 0.4], [0.06, 0.82], [1, 0.9]];

/** Pairs of stop and colour for MapLibre's `interpolate`. */
export const STOPS: (number | string)[] = CIVIDIS.flatMap((colour, i) => [i / (CIVIDIS.length - 1), colour]);

/** Pairs of stop and opacity for MapLibre's `interpolate`. */
export const OPACITY: number[] = COVER.flat();

/** The map's scale as a CSS gradient, to be laid over the colour of land: the key shows what the map shows. */
export const GRADIENT = `linear-gradient(to right, ${Array.from({ length: 41 }, (_, i) => shade(i / 40)).join(", ")})`;

function shade(share: number): string {
  const at = share * (CIVIDIS.length - 1);
  const below = Math.min(CIVIDIS.length - 2, Math.floor(at));
  const [low, high] = [CIVIDIS[below]!, CIVIDIS[below + 1]!];
  const parts = [1, 3, 5].map((from) => {
    const [a, b] = [parseInt(low.slice(from, from + 2), 16), parseInt(high.slice(from, from + 2), 16)];
    return Math.round(a + (b - a) * (at - below));
  });
  const upper = Math.max(1, COVER.findIndex(([stop]) => stop >= share));
  const [[x0, y0], [x1, y1]] = [COVER[upper - 1]!, COVER[upper]!];
  return `rgb(${parts.join(" ")} / ${(y0 + ((y1 - y0) * (share - x0)) / (x1 - x0)).toFixed(3)})`;
}

/** The value that a custom property of the page has now. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
