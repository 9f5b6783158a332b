/** Native inputs of a figure. Each shows a part of the state, and takes it anew after every change. */

/** What a control shows and sets. */
interface Bound<T> {
  label: string;
  get(): T;
  set(value: T): void;
  /** Whether it can be used; always by default. */
  enabled?(): boolean;
}

export interface SliderOptions extends Bound<number> {
  min: number;
  max: number;
  step: number;
  /** The present maximum, where it changes; at most `max`. */
  limit?(): number;
  /** The value as text; with two decimals by default. */
  format?(value: number): string;
}

export interface ChoiceOptions<T extends string> extends Bound<T> {
  options: readonly (readonly [value: T, label: string])[];
}

export interface SelectOptions extends Bound<string> {
  /** The values that can be chosen now, which are their own labels. */
  options(): readonly string[];
}

export interface CounterOptions extends Bound<number> {
  min: number;
  max: number;
  /** Names of the buttons: "Remove a segment", "Add a segment". */
  less: string;
  more: string;
}

export interface ButtonOptions {
  label: string | (() => string);
  press(): void;
  enabled?(): boolean;
  /** Whether the button is on, for those that stay pressed. */
  pressed?(): boolean;
  /** Whether it is what the figure is for; at most one. */
  primary?: boolean;
}

let count = 0;

function element<K extends keyof HTMLElementTagNameMap>(tag: K, className: string, text = ""): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/** The control bar of a figure. */
export class Controls {
  readonly element: HTMLElement;
  readonly #syncs: (() => void)[] = [];
  #host: HTMLElement;

  constructor(host: HTMLElement) {
    this.element = this.#host = host;
  }

  /** Puts all further controls into columns of the same width. */
  columns(): void {
    this.#host = element("div", "columns");
    this.element.append(this.#host);
  }

  /** A part of the bar, in columns, whose controls can be taken away. */
  group(): Controls {
    const host = element("div", "columns");
    this.element.append(host);
    const group = new Controls(host);
    this.#syncs.push(() => group.sync());
    return group;
  }

  /** Takes all controls away. */
  clear(): void {
    this.element.replaceChildren();
    this.#syncs.length = 0;
  }

  /** Shows the present state in all controls. */
  sync(): void {
    for (const sync of this.#syncs) sync();
  }

  slider({ label, min, max, step, limit, format = (value) => value.toFixed(2), get, set, enabled }: SliderOptions): void {
    const row = element("label", "control slider");
    const input = element("input", "");
    Object.assign(input, { type: "range", min, max, step });
    const value = element("output", "value");
    row.append(element("span", "name", label), input, value);
    input.addEventListener("input", () => set(input.valueAsNumber));
    this.#add(row, () => {
      const top = limit?.() ?? max;
      input.max = String(top);
      input.valueAsNumber = get();
      input.disabled = enabled?.() === false;
      value.textContent = format(get());
      input.setAttribute("aria-valuetext", format(get()));
      input.style.setProperty("--share", `${(100 * (input.valueAsNumber - min)) / (top - min || 1)}%`);
    });
  }

  toggle({ label, get, set, enabled }: Bound<boolean>): void {
    const row = element("label", "control toggle");
    const input = element("input", "");
    Object.assign(input, { type: "checkbox", role: "switch" });
    row.append(input, element("span", "name", label));
    input.addEventListener("change", () => set(input.checked));
    this.#add(row, () => {
      input.checked = get();
      input.disabled = enabled?.() === false;
    });
  }

  choice<T extends string>({ label, options, get, set, enabled }: ChoiceOptions<T>): void {
    const group = element("fieldset", "control choice");
    const name = `choice-${++count}`;
    const inputs = options.map(([value, text]) => {
      const row = element("label", "");
      const input = element("input", "");
      Object.assign(input, { type: "radio", name, value });
      input.addEventListener("change", () => set(value));
      row.append(input, element("span", "", text));
      return [value, input, row] as const;
    });
    const segments = element("div", "segments");
    segments.append(...inputs.map(([, , row]) => row));
    group.append(element("legend", "name", label), segments);
    this.#add(group, () => {
      group.disabled = enabled?.() === false;
      for (const [value, input] of inputs) input.checked = value === get();
    });
  }

  select({ label, options, get, set, enabled }: SelectOptions): void {
    const row = element("label", "control select");
    const input = element("select", "");
    row.append(element("span", "name", label), input);
    input.addEventListener("change", () => set(input.value));
    this.#add(row, () => {
      const [given, shown] = [options(), Array.from(input.options, ({ value }) => value)];
      if (given.length !== shown.length || given.some((value, n) => value !== shown[n])) {
        input.replaceChildren(...given.map((value) => new Option(value, value)));
      }
      input.value = get();
      input.disabled = enabled?.() === false || given.length < 2;
    });
  }

  /** A count with buttons for one less and one more. */
  counter({ label, min, max, less, more, get, set }: CounterOptions): void {
    const group = element("div", "control counter");
    const value = element("output", "value");
    const button = (sign: string, name: string, by: number) => {
      const made = element("button", "round", sign);
      made.type = "button";
      made.setAttribute("aria-label", name);
      made.addEventListener("click", () => set(get() + by));
      return made;
    };
    const [minus, plus] = [button("−", less, -1), button("+", more, 1)];
    group.append(element("span", "name", label), minus, value, plus);
    this.#add(group, () => {
      value.textContent = String(get());
      minus.disabled = get() <= min;
      plus.disabled = get() >= max;
    });
  }

  button({ label, press, enabled, pressed, primary }: ButtonOptions): void {
    const made = element("button", `control plain${primary ? " primary" : ""}`);
    made.type = "button";
    made.addEventListener("click", press);
    this.#add(made, () => {
      made.textContent = typeof label === "string" ? label : label();
      made.disabled = enabled?.() === false;
      if (pressed) made.setAttribute("aria-pressed", String(pressed()));
    });
  }

  #add(row: HTMLElement, sync: () => void): void {
    this.#host.append(row);
    this.#syncs.push(sync);
  }
}
