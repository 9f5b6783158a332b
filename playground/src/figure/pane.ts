/** A pane of a figure: a canvas with handles and labels over it. */

import type { Scene } from "three";

import type { DrawList } from "sinew/core";

import { dragHandles, Handle, type HandleOptions } from "./handle.ts";
import { Painter } from "./painter.ts";
import { onThemeChange, theme, type Theme } from "./theme.ts";
import type { View } from "./view.ts";

/** Options of a pane. */
export interface PaneOptions {
  view: View;
  /** Adds what the pane shows to an empty list, for a theme, with the length of a pixel. */
  draw(list: DrawList, theme: Theme, pixel: number): void;
  /** Solids with light and shadows, which are drawn before the list; {@link PaneOptions.draw} places them. */
  solids?: Scene;
}

/** What a pane tells its figure. */
export interface PaneEvents {
  begin(handle: Handle): void;
  end(handle: Handle): void;
  failed(error: unknown): void;
  /** It has come to the screen, or nearly so. */
  shown(): void;
  /** An empty list, shared by all panes. */
  list(): DrawList;
}

const NO_WEBGL = "The figures on this page need WebGL 2, which this browser does not have or has switched off.";

/** Pixels between a label and its point. */
const LABEL_GAP = 18;

const waiting = new Set<Pane>();
let frame = 0;
let painter: Painter | undefined;
let tried = false;
const all: Pane[] = [];

function paintWaiting(): void {
  frame = 0;
  if (!tried) {
    tried = true;
    painter = Painter.make(() => all.forEach((pane) => pane.redraw()));
  }
  for (const pane of [...waiting]) if (pane.paint(painter)) waiting.delete(pane);
}

onThemeChange(() => all.forEach((pane) => pane.redraw()));

/** Pixels of the screen for each of CSS. More than 3 cannot be seen. */
function ratio(): number {
  return Math.min(devicePixelRatio, 3);
}

/** Made by {@link Figure.pane}. */
export class Pane {
  readonly element: HTMLElement;
  readonly view: View;
  readonly handles: Handle[] = [];
  readonly #canvas = document.createElement("canvas");
  readonly #labels = document.createElement("div");
  readonly #options: PaneOptions;
  readonly #events: PaneEvents;
  /** Whether it is on the screen, or nearly so. */
  visible = false;

  constructor(element: HTMLElement, options: PaneOptions, events: PaneEvents) {
    [this.element, this.view, this.#options, this.#events] = [element, options.view, options, events];
    this.#labels.className = "labels";
    this.#labels.setAttribute("aria-hidden", "true");
    this.#canvas.setAttribute("aria-hidden", "true");
    element.prepend(this.#canvas, this.#labels);
    dragHandles(element, { handles: () => this.handles, view: this.view, begin: events.begin, end: events.end });
    if (this.view.orbit) this.#orbit();
    new ResizeObserver(() => this.#resize()).observe(element);
    new IntersectionObserver(
      ([entry]) => {
        this.visible = entry!.isIntersecting;
        if (this.visible) events.shown();
        if (this.visible && waiting.has(this)) this.redraw();
      },
      { rootMargin: "100px" },
    ).observe(element);
    this.#resize();
    all.push(this);
  }

  /** Adds a point to drag. */
  handle(options: HandleOptions): Handle {
    const handle = new Handle(options, this.view);
    this.handles.push(handle);
    this.element.append(handle.element);
    return handle;
  }

  /** Removes all handles from the given one on. */
  dropHandles(from: number): void {
    for (const { element } of this.handles.splice(from)) element.remove();
  }

  /** Draws the pane in the next frame, or once it comes to the screen. */
  redraw(): void {
    waiting.add(this);
    if (frame === 0) frame = requestAnimationFrame(paintWaiting);
  }

  /** Draws the pane; false if it must wait until it is on the screen. */
  paint(painter: Painter | undefined): boolean {
    for (const handle of this.handles) handle.place(this.view);
    if (!this.visible) return false;
    if (painter === undefined) {
      this.#events.failed(NO_WEBGL);
      return true;
    }
    // It is drawn again when the context is restored.
    if (painter.lost) return true;
    try {
      const list = this.#events.list();
      const shade = theme();
      this.#options.draw(list, shade, this.view.pixel);
      painter.paint(list.batches(shade), this.view, this.#canvas, ratio(), this.#options.solids);
      this.#label(list);
    } catch (error) {
      this.#events.failed(error);
    }
    return true;
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width === 0 || height === 0) return;
    const [w, h] = [Math.round(width * ratio()), Math.round(height * ratio())];
    if (this.#canvas.width !== w || this.#canvas.height !== h) [this.#canvas.width, this.#canvas.height] = [w, h];
    this.view.fit(width, height);
    this.redraw();
  }

  #label(list: DrawList): void {
    const labels = list.labels(theme());
    while (this.#labels.children.length < labels.length) this.#labels.append(document.createElement("span"));
    while (this.#labels.children.length > labels.length) this.#labels.lastChild?.remove();
    labels.forEach(({ text, at, away, color }, n) => {
      const element = this.#labels.children[n] as HTMLElement;
      const [x, y] = this.view.project(at);
      const [u, v] = this.view.project(at.map((value, axis) => value + 0.01 * away[axis]!));
      const size = Math.hypot(u - x, v - y);
      const [dx, dy] = size > 0 ? [(u - x) / size, (v - y) / size] : [0, -1];
      element.textContent = text;
      element.style.color = `#${color.toString(16).padStart(6, "0")}`;
      // The text's box touches the circle of the gap around the point, on the side that leads away.
      element.style.transform =
        `translate(${x + LABEL_GAP * dx}px, ${y + LABEL_GAP * dy}px) translate(${50 * (dx - 1)}%, ${50 * (dy - 1)}%)`;
    });
  }

  #orbit(): void {
    const { element, view } = this;
    let turning = false;
    element.classList.add("orbits");
    element.tabIndex = 0;
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", "View: arrow keys turn it");
    element.setAttribute("aria-roledescription", "view to turn");
    element.addEventListener("pointerdown", (event) => {
      // One finger turns the view: others neither do nor stop it.
      if (turning || event.button !== 0 || (event.target as Element).closest(".handle")) return;
      turning = true;
      let [x, y] = [event.clientX, event.clientY];
      element.setPointerCapture(event.pointerId);
      const controller = new AbortController();
      const { signal } = controller;
      element.addEventListener(
        "pointermove",
        ({ clientX, clientY, pointerId }) => {
          if (pointerId !== event.pointerId) return;
          view.orbit?.(clientX - x, clientY - y);
          [x, y] = [clientX, clientY];
          this.redraw();
        },
        { signal },
      );
      const stop = ({ pointerId }: PointerEvent) => {
        if (pointerId !== event.pointerId) return;
        controller.abort();
        turning = false;
      };
      for (const name of ["pointerup", "pointercancel", "lostpointercapture"] as const) element.addEventListener(name, stop, { signal });
    });
    element.addEventListener("keydown", (event) => {
      const turn = { ArrowLeft: [20, 0], ArrowRight: [-20, 0], ArrowUp: [0, 20], ArrowDown: [0, -20] }[event.key];
      if (event.target !== element || turn === undefined) return;
      event.preventDefault();
      view.orbit?.(turn[0]!, turn[1]!);
      this.redraw();
    });
    // The wheel scrolls the page, unless the reader zooms.
    element.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        view.zoom?.(Math.exp(-event.deltaY * 0.005));
        this.redraw();
      },
      { passive: false },
    );
  }
}
