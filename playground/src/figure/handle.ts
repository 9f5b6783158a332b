/** Points that are dragged: buttons over a pane, by mouse, touch, pen and keys. */

import type { Point, Point3, View } from "./view.ts";

/** How a handle looks: `target` (a ring), `base` (a square), `joint` (a dot), `edge` (a small knob on a limit), `key` (a diamond). */
export type HandleLook = "target" | "base" | "joint" | "edge" | "key";

/** Options of a handle. */
export interface HandleOptions {
  /** Its name, as screen readers say it: "target". */
  name: string;
  look: HandleLook;
  /** Where it is; undefined to hide it. */
  at(): Point | undefined;
  /** Moves it to a point. */
  move(to: Point3): void;
  /** Distance of an arrow key; a tenth by default. With Shift a tenth of that. */
  step?: number;
  /** Replaces what the keys do: steps along the axes, in the handle's `step`. For handles that move on a circle. */
  keys?(steps: Point3): void;
}

const KEYS: Readonly<Record<string, Point3>> = {
  ArrowLeft: [-1, 0, 0],
  ArrowRight: [1, 0, 0],
  ArrowDown: [0, -1, 0],
  ArrowUp: [0, 1, 0],
  PageDown: [0, 0, -1],
  PageUp: [0, 0, 1],
};

/** A handle of a pane. */
export class Handle {
  readonly element: HTMLButtonElement;
  readonly options: HandleOptions;
  readonly #view: View;
  /** Position in the pane in pixels, where it is shown. */
  pixel: [number, number] | undefined;

  constructor(options: HandleOptions, view: View) {
    [this.options, this.#view] = [options, view];
    this.element = document.createElement("button");
    this.element.type = "button";
    this.element.hidden = true;
    this.element.className = `handle handle-${options.look}`;
    this.element.setAttribute("aria-label", options.name);
    this.element.setAttribute("aria-roledescription", "point to drag");
    this.element.setAttribute("aria-keyshortcuts", Object.keys(KEYS).slice(0, view.flat ? 4 : 6).join(" "));
    this.element.addEventListener("keydown", (event) => {
      const steps = KEYS[event.key];
      if (steps === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      // Without a third axis, Page keys are the page's.
      if (view.flat && steps[2] !== 0) return;
      event.preventDefault();
      this.#step(steps, event.shiftKey ? 0.1 : 1);
    });
  }

  #step(steps: Point3, share: number): void {
    const { at, move, keys, step = 0.1 } = this.options;
    const from = at();
    if (from === undefined) return;
    const by = steps.map((n) => n * share) as Point3;
    if (keys) return keys(by.map((n) => n * step) as Point3);
    const to = [0, 1, 2].map((n) => (from[n] ?? 0) + by[n]! * step) as Point3;
    // As far as the pane shows.
    const [x, y] = this.#view.project(to);
    const [left, top] = this.#view.project(this.#view.unproject(x, y, to));
    move(Math.hypot(left - x, top - y) < 0.5 ? to : this.#view.unproject(x, y, to));
  }

  /** Puts the button where its point is. */
  place(view: View): void {
    const at = this.options.at();
    this.element.hidden = at === undefined;
    this.pixel = at && view.project(at);
    if (this.pixel) this.element.style.transform = `translate(${this.pixel[0]}px, ${this.pixel[1]}px)`;
  }
}

/** Callbacks of {@link dragHandles}. */
interface Dragging {
  handles(): readonly Handle[];
  view: View;
  begin(handle: Handle): void;
  end(handle: Handle): void;
}

/**
 * Lets a pane's handles be dragged. Grab areas of neighbours overlap: a press takes the handle that is nearest.
 */
export function dragHandles(pane: HTMLElement, { handles, view, begin, end }: Dragging): void {
  pane.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !(event.target as Element).closest(".handle")) return;
    const box = pane.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const distance = ({ pixel }: Handle) => (pixel ? Math.hypot(pixel[0] - x, pixel[1] - y) : Infinity);
    const handle = handles().reduce((best, other) => (distance(other) < distance(best) ? other : best));
    if (handle.pixel === undefined) return;
    const { element } = handle;
    // The pointer keeps its place on the handle.
    const [gripX, gripY] = [handle.pixel[0] - x, handle.pixel[1] - y];
    event.preventDefault();
    element.focus({ preventScroll: true });
    element.setPointerCapture(event.pointerId);
    element.classList.add("held");
    begin(handle);
    const controller = new AbortController();
    const { signal } = controller;
    const move = (event: PointerEvent) => {
      const from = handle.options.at();
      if (event.pointerId !== moved || from === undefined) return;
      const box = pane.getBoundingClientRect();
      handle.options.move(view.unproject(event.clientX - box.left + gripX, event.clientY - box.top + gripY, from));
    };
    const stop = (event: PointerEvent) => {
      if (event.pointerId !== moved) return;
      // Where it has been let go: browsers merge the last moves.
      if (event.type === "pointerup") move(event);
      controller.abort();
      element.classList.remove("held");
      end(handle);
    };
    const moved = event.pointerId;
    element.addEventListener("pointermove", move, { signal });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"] as const) element.addEventListener(name, stop, { signal });
  });
}
