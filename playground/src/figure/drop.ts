/** Files that are dropped onto a figure. */

let guarded = false;

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;

/** Calls back with the first file of each drop onto an element. */
export function dropFiles(element: HTMLElement, take: (file: File) => void): void {
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
