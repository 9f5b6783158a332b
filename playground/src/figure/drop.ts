/** Files of the reader's: dropped onto a figure, or opened by a button. */

import type { Figure } from "./figure.ts";

/** Largest size of a file that is read, in bytes. */
const MOST = 200e6;

let guarded = false;

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;

/** Calls back with the first file of each drop onto an element. */
function dropFiles(element: HTMLElement, take: (file: File) => void): void {
  if (!guarded) {
    guarded = true;
    // A drop beside a figure would otherwise replace the page.
    for (const name of ["dragover", "drop"] as const) {
      document.addEventListener(name, (event) => {
        if (hasFiles(event)) event.preventDefault();
      });
    }
  }
  let inside = 0;
  const show = (by: number) => {
    inside = Math.max(inside + by, 0);
    element.classList.toggle("dropping", inside > 0);
  };
  // Entering a child comes before leaving its parent.
  element.addEventListener("dragenter", (event) => hasFiles(event) && show(1));
  element.addEventListener("dragleave", (event) => hasFiles(event) && show(-1));
  element.addEventListener("drop", (event) => {
    show(-inside);
    const file = event.dataTransfer?.files[0];
    if (file) take(file);
  });
}

/**
 * Takes files, dropped onto a figure or opened by a button. A file that cannot be read is told, and the figure stays as it is.
 */
export function takeFiles(figure: Figure<any>, label: string, endings: readonly string[], open: (file: File) => Promise<void>): void {
  const take = async (file: File) => {
    try {
      if (!endings.some((ending) => file.name.toLowerCase().endsWith(ending))) {
        throw new Error(`${file.name} is none of the files that this figure takes: ${endings.join(", ")}`);
      }
      if (file.size > MOST) throw new Error(`${file.name} has ${Math.round(file.size / 1e6)} MB; at most ${MOST / 1e6} are read here`);
      await open(file);
    } catch (error) {
      figure.fail(error);
    }
  };
  dropFiles(figure.element, (file) => void take(file));
  // Hidden inputs take part in the order of Tab and look like the buttons that they are in.
  const row = document.createElement("label");
  const input = document.createElement("input");
  row.className = "control plain file";
  input.className = "unseen";
  Object.assign(input, { type: "file", accept: endings.join() });
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    // The same file can be opened again.
    input.value = "";
    if (file) void take(file);
  });
  row.append(label, input);
  figure.controls.element.append(row);
}
