/** States of figures in the address: `#trail=target:1.2,0.4&limits=lead:root`. */

/** Milliseconds between two writes while something is dragged. Browsers refuse more than some hundred in 30 s. */
const PAUSE = 300;

const texts = new Map<string, string>(parse());
const listeners = new Map<string, () => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
/** The address as it was read or written last. */
let known = location.hash;

function parse(): [string, string][] {
  return location.hash
    .slice(1)
    .split("&")
    .filter((part) => part.includes("="))
    .map((part) => {
      const at = part.indexOf("=");
      return [part.slice(0, at), decode(part.slice(at + 1))];
    });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** The text of a figure; empty without one. */
export function read(id: string): string {
  return texts.get(id) ?? "";
}

/** Calls back when the address's text of a figure has been changed by the reader. */
export function listen(id: string, changed: () => void): void {
  listeners.set(id, changed);
}

/** Writes the text of a figure, a moment later. */
export function write(id: string, text: string): void {
  if (text === read(id)) return;
  if (text === "") texts.delete(id);
  else texts.set(id, text);
  timer ??= setTimeout(flush, PAUSE);
}

/** Writes what waits to be written, now. */
export function flush(): void {
  clearTimeout(timer);
  timer = undefined;
  // The reader has just changed it: that comes first, in the next task.
  if (location.hash !== known) return;
  const hash = [...texts].map(([id, text]) => `${id}=${text}`).join("&");
  try {
    history.replaceState(history.state, "", hash === "" ? location.pathname + location.search : `#${hash}`);
    known = location.hash;
  } catch {
    // Too many writes for this browser: the next one will do.
  }
}

addEventListener("hashchange", () => {
  known = location.hash;
  const given = new Map(parse());
  // An anchor of the page is no state.
  if (given.size === 0 && location.hash.length > 1) return;
  const changed = [...listeners.keys()].filter((id) => given.get(id) !== texts.get(id));
  texts.clear();
  for (const [id, text] of given) texts.set(id, text);
  for (const id of changed) listeners.get(id)?.();
});
