/** A measured or estimated share in percent. Bounds are not rounded here: the server words them. */
export function percent(share: number): string {
  const of = share * 100;
  if (of > 0 && of < 0.1) return "less than 0.1 %";
  return `${of >= 10 ? of.toFixed(0) : of.toFixed(1)} %`;
}

/** A time in words. */
export function duration(seconds: number): string {
  return seconds < 90 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(1)} min`;
}

/** A level of privacy as people read it: three figures, and its unit. */
export function level(epsilon: number, unit: string): string {
  return `${Number(epsilon.toPrecision(3))}${unit ? ` per ${unit.replace("1/", "")}` : ""}`;
}

/** A day and a time of day, where the reader is. */
export function moment(iso: string): string {
  return new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

const BOUND = /\b(?:at most|at least|about) [\d.,\u00a0 ]*\d(?:[\u00a0 ]?(?:km|cm|mm|m|%))?/i;

/** A sentence around its number: before, the number with its bound, after. */
export function parted(sentence: string): [before: string, number: string, after: string] {
  const found = BOUND.exec(sentence);
  if (!found) return [sentence, "", ""];
  return [sentence.slice(0, found.index), found[0], sentence.slice(found.index + found[0].length)];
}

/** The number of a sentence, as the server rounded it, on one line with its unit; the whole sentence where there is none. */
export function gist(sentence: string): string {
  const [before, number] = parted(sentence);
  return number ? number.toLowerCase().replace(/ (?=[a-z%]+$)/, "\u00a0") : before;
}
