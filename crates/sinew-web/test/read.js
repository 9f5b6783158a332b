/** The bytes of a file beside the tests, in Node and in browsers. */
export async function read(url) {
  if (url.protocol !== "file:") return new Uint8Array(await (await fetch(url)).arrayBuffer());
  return new Uint8Array(await (await import("node:fs/promises")).readFile(url));
}

/** The solves of the native engine, which `npm run native` writes. */
export async function nativeCases() {
  return JSON.parse(new TextDecoder().decode(await read(new URL("../build/native.json", import.meta.url))));
}

/** Walks and arms of the native engine, for `sinew/files`. */
export async function nativeFiles() {
  return JSON.parse(new TextDecoder().decode(await read(new URL("../build/native.files.json", import.meta.url))));
}
