/** A live figure: a state, panes that show it, handles and controls that change it. */

import type { DrawList } from "sinew/core";

import * as address from "./address.ts";
import { Controls } from "./controls.ts";
import { copyButtons, type Code } from "./copy.ts";
import { initialState, readState, writeState, type Fields, type StateOf } from "./fields.ts";
import { Pane, type PaneOptions } from "./pane.ts";
import { sayAtRest } from "./speech.ts";

/** Options of a figure. */
export interface FigureOptions<F extends Fields> {
  /** Id of its element in the page, and its name in the address. */
  id: string;
  fields: F;
  /** The list to draw with, shared by all figures of a page. */
  list: DrawList;
  /** Whether the fields of an address fit each other; if not, the figure starts as it does without. */
  valid?(state: StateOf<F>): boolean;
  /**
   * Brings the engine into line with the state, after each change. What the engine works out may be written back to the state.
   * Its time is measured, and its errors are shown.
   */
  solve(state: StateOf<F>): void;
  /** The result in a line: shown beside the figure, and spoken at rest. */
  read(state: StateOf<F>): string;
  /** Programs of the state. */
  code: Code<StateOf<F>>;
  /** What tests read from the engine: the tip that the programs of `code` print, and more. */
  probe(): { tip: readonly number[] | undefined } & Record<string, unknown>;
}

/**
 * A figure in an element of this form, where its caption stands already:
 *
 * ```html
 * <figure class="figure" id="trail">
 *   <div class="panes"><div class="pane" data-pane="main" style="--ratio: 16 / 9"></div></div>
 *   <figcaption>Drag the target.</figcaption>
 * </figure>
 * ```
 */
export class Figure<F extends Fields = Fields> {
  readonly id: string;
  readonly element: HTMLElement;
  readonly controls: Controls;
  readonly panes: Pane[] = [];
  /** The present state. Change it by {@link Figure.set}. */
  state: StateOf<F>;
  /** Whether it waits for something that is loaded, or what it waited for has failed. Meanwhile nothing is solved. */
  busy: boolean | "failed" = false;
  /** Time of the engine: count of solves, milliseconds in all. */
  readonly time = { solves: 0, milliseconds: 0 };
  readonly #options: FigureOptions<F>;
  readonly #readout = document.createElement("p");
  readonly #error = document.createElement("p");
  #start: (() => void) | undefined;
  #play: (() => void) | undefined;
  #animation: { frame: number; playing: boolean } = { frame: 0, playing: false };

  constructor(options: FigureOptions<F>) {
    const { id, fields, valid, code } = options;
    this.#options = options;
    this.id = id;
    this.element = figureElement(id);
    this.state = initialState(fields);
    this.#readout.className = "readout";
    this.#error.className = "error";
    this.#error.setAttribute("role", "alert");
    this.#error.hidden = true;
    const bar = document.createElement("div");
    bar.className = "controls";
    const foot = document.createElement("div");
    foot.className = "foot";
    foot.append(this.#readout, copyButtons(code, () => this.state));
    this.element.querySelector(".panes")!.after(this.#error, bar, foot);
    this.controls = new Controls(bar);
    const restore = () => {
      const read = readState(fields, address.read(id));
      this.state = valid?.(read) === false ? initialState(fields) : read;
      this.refresh();
    };
    address.listen(id, restore);
    const read = readState(fields, address.read(id));
    if (valid?.(read) !== false) this.state = read;
    figures[id] = this as unknown as Figure;
  }

  /** Adds the view of the element with this `data-pane`. */
  pane(name: string, options: PaneOptions): Pane {
    const element = this.element.querySelector<HTMLElement>(`[data-pane="${name}"]`);
    if (element === null) throw new Error(`the figure ${this.id} has no pane ${name}`);
    const pane = new Pane(element, options, {
      begin: () => element.classList.add("dragging"),
      end: () => {
        element.classList.remove("dragging");
        address.flush();
      },
      failed: (error) => this.fail(error),
      shown: () => this.#start?.(),
      list: () => {
        this.#options.list.clear();
        return this.#options.list;
      },
    });
    this.panes.push(pane);
    return pane;
  }

  /** Changes the state: solves, draws, writes the address, and says the result once nothing moves. */
  set(change: Partial<StateOf<F>>): void {
    Object.assign(this.state, change);
    this.refresh();
    address.write(this.id, writeState(this.#options.fields, this.state));
    sayAtRest(() => this.#options.read(this.state));
  }

  /** Goes back to the state at first. */
  reset(): void {
    this.pause();
    this.set(initialState(this.#options.fields));
  }

  /** Solves and draws the present state. Called once when the figure is complete. */
  refresh(): void {
    const start = performance.now();
    if (this.busy) this.#readout.textContent = this.busy === "failed" ? "" : "Loading…";
    else try {
      this.#options.solve(this.state);
      this.#error.hidden = true;
      this.#readout.textContent = this.#options.read(this.state);
    } catch (error) {
      this.fail(error);
    }
    this.time.milliseconds += performance.now() - start;
    this.time.solves += 1;
    this.controls.sync();
    for (const pane of this.panes) pane.redraw();
  }

  /**
   * Adds a button that plays and pauses a motion, which changes the state by the time in seconds since its start. Nothing plays by
   * itself, and it rests while the figure is off the screen.
   */
  motion(label: string, at: (seconds: number) => Partial<StateOf<F>>): void {
    let [seconds, last] = [0, 0];
    const tick = (now: number) => {
      if (!this.#animation.playing) return;
      this.#animation.frame = requestAnimationFrame(tick);
      // After a pause of the tab, the motion continues where it was.
      const passed = Math.min((now - last) / 1000, 0.1);
      last = now;
      if (!this.panes.some(({ visible }) => visible)) return;
      seconds += passed;
      this.set(at(seconds));
    };
    this.#play = () => {
      this.#animation.playing = true;
      last = performance.now();
      this.#animation.frame = requestAnimationFrame(tick);
      this.controls.sync();
    };
    this.controls.button({
      label: () => (this.#animation.playing ? "Pause" : label),
      pressed: () => this.#animation.playing,
      press: () => (this.#animation.playing ? this.pause() : this.play()),
    });
  }

  /** Plays the motion, if it does not already: for what a reader does that sets something in motion. */
  play(): void {
    if (!this.#animation.playing) this.#play?.();
  }

  /** Loads something once the figure comes near the screen, and solves then. What fails is shown. */
  later(load: () => Promise<void>): void {
    this.busy = true;
    this.#start = () => {
      this.#start = undefined;
      load().then(
        () => {
          this.busy = false;
          this.refresh();
        },
        (error: unknown) => {
          this.busy = "failed";
          this.refresh();
          this.fail(error);
        },
      );
    };
  }

  /** Ends a motion. */
  pause(): void {
    cancelAnimationFrame(this.#animation.frame);
    this.#animation.playing = false;
    this.controls.sync();
    address.flush();
  }

  /** Programs of the present state. */
  get code(): { typescript: string; rust: string } {
    const { code } = this.#options;
    return { typescript: code.typescript(this.state), rust: code.rust(this.state) };
  }

  /** What tests read from the engine. */
  probe(): Record<string, unknown> {
    return this.#options.probe();
  }

  /** Shows an error until the next solve. */
  fail(error: unknown): void {
    showError(this.#error, error);
  }
}

/** All figures of the page, by their ids. */
export const figures: Record<string, Figure> = {};

function figureElement(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no figure ${id}`);
  return element;
}

function showError(element: HTMLElement, error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  // Names of files stay as they are.
  const first = /^\S*[./]\S/.test(text) ? text.charAt(0) : text.charAt(0).toUpperCase();
  element.textContent = first + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
  element.hidden = false;
}

/** Says in every figure of the page why there is none. */
export function failAll(error: unknown): void {
  for (const element of document.querySelectorAll<HTMLElement>(".figure")) {
    if (figures[element.id]) continue;
    const sentence = document.createElement("p");
    sentence.className = "error";
    sentence.setAttribute("role", "alert");
    showError(sentence, error);
    element.querySelector(".panes")?.after(sentence);
  }
}
