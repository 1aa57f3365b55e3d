import type { Feature, MultiPolygon } from "geojson";
import type { Map as MapLibre } from "maplibre-gl";
import { colour, token } from "./colours";

/** Canvas for contours, between the map and its markers. The map itself is not drawn again when they change. */
export class ContourCanvas {
  readonly #canvas = document.createElement("canvas");
  readonly #draw = () => this.draw();
  #contours: readonly Feature[] = [];

  constructor(readonly map: MapLibre) {
    this.#canvas.style.cssText = "position: absolute; left: 0; top: 0; pointer-events: none";
    map.getCanvas().after(this.#canvas);
    map.on("move", this.#draw);
    map.on("resize", this.#draw);
  }

  show(contours: readonly Feature[]): void {
    this.#contours = contours;
    this.draw();
  }

  /** Draw the contours where they are now: shades inside each, a dashed line around 90 % and a solid one around 50 %. */
  draw(): void {
    const { clientWidth: width, clientHeight: height } = this.map.getCanvas();
    const ratio = this.map.getPixelRatio();
    Object.assign(this.#canvas, { width: width * ratio, height: height * ratio }); // also clears it
    Object.assign(this.#canvas.style, { width: `${width}px`, height: `${height}px` });
    // A canvas that is read often is drawn by the processor, which is much faster than WebGL without a graphics card.
    const context = this.#canvas.getContext("2d", { willReadFrequently: true })!;
    context.scale(ratio, ratio);
    const paths = this.#contours.map(({ geometry, properties }) => ({ kind: properties?.kind, path: this.#pathOf(geometry as MultiPolygon) }));
    context.fillStyle = colour();
    context.globalAlpha = 0.3;
    for (const { path } of paths) context.fill(path, "evenodd");
    context.globalAlpha = 1;
    context.lineJoin = "round";
    for (const { kind, path } of paths) {
      if (kind !== 90 && kind !== 50) continue;
      context.strokeStyle = token(kind === 90 ? "second" : "first");
      context.lineWidth = kind === 90 ? 2.5 : 3;
      context.setLineDash(kind === 90 ? [8, 5] : []);
      context.stroke(path);
    }
  }

  #pathOf({ coordinates }: MultiPolygon): Path2D {
    const path = new Path2D();
    for (const ring of coordinates.flat()) {
      for (const [index, [lon, lat]] of ring.entries()) {
        const { x, y } = this.map.project([lon!, lat!]);
        if (index === 0) path.moveTo(x, y);
        else path.lineTo(x, y);
      }
      path.closePath();
    }
    return path;
  }
}
