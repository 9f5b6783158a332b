/** Loading the engine: from a file, a URL, bytes or a compiled module. */

import type { glue } from "./core.glue.js";
import { Engine, describe } from "./engine.js";
import { SinewError } from "./error.js";
import { Guard } from "./guard.js";

/**
 * Where the engine's WebAssembly comes from: its URL, the response to a request, its bytes, or the compiled module. A string is
 * relative to the page, in Node to the working directory. One module serves several workers.
 */
export type WasmSource = ReadableSource | WebAssembly.Module;

type ReadableSource = URL | string | Response | BufferSource;

/** One build of the engine. @internal */
export interface Build {
  /** Its name in messages: that of the entry point. */
  readonly name: string;
  readonly glue: typeof glue;
  /** Where it is by default. */
  readonly source: () => WasmSource | Promise<WasmSource>;
}

type Bytes = Uint8Array<ArrayBuffer>;

declare const process:
  | { getBuiltinModule?(name: "node:fs"): { promises: { readFile(path: URL | string): Promise<Bytes> } } }
  | undefined;

/** Makes an instance of the engine. @internal */
export async function instantiate(build: Build, given?: WasmSource | Promise<WasmSource>): Promise<Engine> {
  const { name } = build;
  if (typeof WebAssembly === "undefined") {
    throw new SinewError("load", `${name} cannot be loaded: there is no WebAssembly here, or it is switched off`);
  }
  const source = await (given === undefined ? build.source() : given);
  const from = origin(source);
  const failed = (why: string, cause: unknown): SinewError =>
    new SinewError("load", `${name} cannot be loaded from ${from}: ${why}`, { cause });

  let module: WebAssembly.Module;
  if (source instanceof WebAssembly.Module) {
    module = source;
  } else {
    let bytes: Bytes;
    try {
      bytes = await read(source as ReadableSource);
    } catch (cause) {
      throw failed(message(cause), cause);
    }
    try {
      module = await WebAssembly.compile(bytes);
    } catch (cause) {
      // Bytes that begin like WebAssembly are damaged, or a security policy forbids them: the browser says which.
      throw failed(begins(bytes, "\0asm") ? message(cause) : contents(bytes), cause);
    }
  }
  try {
    const guard = new Guard();
    const glue = build.glue((exports) => guard.wrap(exports));
    const { memory } = await glue({ module_or_path: module });
    return new Engine(glue, memory, guard);
  } catch (cause) {
    throw failed(`it is not the WebAssembly of this version of ${name} (${message(cause)})`, cause);
  }
}

/** A source as messages name it. */
function origin(given: WasmSource): string {
  if (given instanceof WebAssembly.Module) return "the given module";
  const source = given as ReadableSource;
  if (typeof source === "string" || source instanceof URL) return clip(String(source), 200);
  if (typeof Response !== "undefined" && source instanceof Response) return source.url || "the given response";
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return `the given ${source.byteLength} bytes`;
  throw new SinewError("type", `the source must be a URL, a Response, bytes or a WebAssembly.Module, not ${describe(source)}`);
}

async function read(source: ReadableSource): Promise<Bytes> {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength);
  if (typeof source === "string" || source instanceof URL) {
    // Node fetches no files, and its paths may look like URLs (`C:\core.wasm`).
    const files = typeof process === "undefined" ? undefined : process?.getBuiltinModule?.("node:fs").promises;
    if (files && !/^(https?|data|blob):/.test(String(source))) {
      return files.readFile(/^file:/.test(String(source)) ? new URL(source) : source);
    }
    source = await fetch(source);
  }
  if (!source.ok) throw new Error(`the server answered ${source.status} ${source.statusText}`.trimEnd());
  return new Uint8Array(await source.arrayBuffer());
}

/** What bytes are that do not begin like WebAssembly. */
function contents(bytes: Bytes): string {
  if (bytes.length === 0) return "it is empty";
  const text = new TextDecoder().decode(bytes.subarray(0, 200)).trimStart();
  if (text.startsWith("<")) {
    return "it is a page, as servers send for files that they do not have; the entry points that end in `/inline` need no file";
  }
  return `it is not WebAssembly, but ${bytes.length} bytes that begin with ${JSON.stringify(clip(text, 20))}`;
}

function begins(bytes: Bytes, text: string): boolean {
  return [...text].every((letter, i) => bytes[i] === letter.charCodeAt(0));
}

function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}...` : text;
}

function message(given: unknown): string {
  if (!(given instanceof Error)) return String(given);
  // In Node, `fetch failed` and its cause.
  return given.cause instanceof Error ? `${given.message}: ${message(given.cause)}` : given.message;
}

/** A class whose static functions know the instance that they belong to. */
interface Bound {
  new (...given: never[]): object;
  engine?: Engine | undefined;
}

/** The classes, bound to an instance of the engine. @internal */
export function bind<T extends Record<string, Bound>>(engine: Engine, classes: T): T {
  const bound = Object.entries(classes).map(([name, type]) => {
    const own = class extends (type as new (...given: unknown[]) => object) {
      static engine = engine;
      // What others of the package make is of the base class: poses of \`rest()\`, for one.
      static override [Symbol.hasInstance](given: unknown): boolean {
        return given instanceof type && (given as { engine?: Engine }).engine === engine;
      }
    };
    Object.defineProperty(own, "name", { value: name });
    return [name, own];
  });
  return Object.fromEntries(bound) as T;
}

/** The bytes of an inline build, which a module holds as compressed text. @internal */
export async function inlined(text: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/**
 * Makes the `load` of a build. Without a source, all calls give the same instance; with one, each call makes an instance of its
 * own, whose objects are of no use to others.
 * @internal
 */
export function loader<T>(build: Build, classes: (engine: Engine) => T): (source?: WasmSource | Promise<WasmSource>) => Promise<T> {
  let shared: Promise<[Engine, T]> | undefined;
  const make = async (source?: WasmSource | Promise<WasmSource>): Promise<[Engine, T]> => {
    const engine = await instantiate(build, source);
    return [engine, classes(engine)];
  };
  return async (source) => {
    if (source !== undefined) return (await make(source))[1];
    // One that has failed to load, or has stopped since, is made anew.
    shared = shared === undefined ? make() : shared.then((made) => (made[0].broken ? make() : made), () => make());
    return (await shared)[1];
  };
}
