/** The page's only live region: what screen readers are told once nothing moves any more. */

/** Milliseconds without a change after which something rests. */
const REST = 500;

let region: HTMLElement | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says a text once nothing else has been said for half a second. */
export function sayAtRest(text: () => string): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (region === undefined) {
      region = document.createElement("div");
      region.className = "unseen";
      region.setAttribute("aria-live", "polite");
      region.id = "speech";
      document.body.append(region);
    }
    region.textContent = text();
  }, REST);
}
