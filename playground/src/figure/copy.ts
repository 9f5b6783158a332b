/** "Copy as code": text of a program that makes a figure's solve. */

import { rounded } from "./fields.ts";

/** Programs of a state, each of which prints the tip. */
export interface Code<S> {
  /** For Node and browsers, with the package `sinew`. Prints x, y and z, if any, in a line. */
  typescript(state: S): string;
  /** A `main.rs`, with the crate `sinew`. Prints the same. */
  rust(state: S): string;
}

/** A number as both languages write it, with a point. */
export function literal(value: number): string {
  const text = String(rounded(value));
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** Numbers as TypeScript lists them. */
export const list = (numbers: readonly number[]): string => numbers.map(rounded).join(", ");
/** Numbers as Rust lists them, each with a point. */
export const reals = (numbers: readonly number[]): string => numbers.map(literal).join(", ");

/** Buttons that copy programs. */
export function copyButtons<S>(code: Code<S>, state: () => S): HTMLElement {
  const group = document.createElement("div");
  group.className = "copy";
  const label = document.createElement("span");
  label.textContent = "Copy as code";
  const buttons = (["typescript", "rust"] as const).map((language) => {
    const name = { typescript: "TypeScript", rust: "Rust" }[language];
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.setAttribute("aria-label", `Copy as code in ${name}`);
    button.addEventListener("click", async () => {
      button.textContent = (await copy(code[language](state()))) ? "Copied" : "Not allowed here";
      setTimeout(() => (button.textContent = name), 1600);
    });
    return button;
  });
  group.append(label, ...buttons);
  return group;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages of other origins than https and localhost have no clipboard: the old way.
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
