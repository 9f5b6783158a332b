/** Light or dark, as the reader's system has it. */

export type Theme = "light" | "dark";

const dark = matchMedia("(prefers-color-scheme: dark)");
const still = matchMedia("(prefers-reduced-motion: reduce)");

export function theme(): Theme {
  return dark.matches ? "dark" : "light";
}

export function onThemeChange(changed: () => void): void {
  dark.addEventListener("change", changed);
}

/** Whether the reader has asked for less motion. */
export function reducedMotion(): boolean {
  return still.matches;
}
