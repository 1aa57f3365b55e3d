/** Return a measured or estimated share in percent. Bounds are not rounded here: the server words them. */
export function percent(share: number): string {
  const value = share * 100;
  if (value === 0) return "0 %";
  if (value < 0.1) return "less than 0.1 %";
  return `${value >= 10 ? value.toFixed(0) : value.toFixed(1)} %`;
}

/** Return a text whose numbers stay on one line with their units. */
export function bindUnits(text: string): string {
  return text.replace(/(\d) (?=(?:km|cm|mm|m|%)(?![a-z]))/g, "$1\u00a0");
}

/** Return a time in words. */
export function duration(seconds: number): string {
  return seconds < 90 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(0)} min`;
}

/** Return a day and a time of day, where the reader is. */
export function moment(iso: string): string {
  return new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
