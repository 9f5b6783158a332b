import assert from "node:assert/strict";
import test from "node:test";

import { SinewError, load } from "sinew/core";
import { load as inline } from "sinew/core/inline";

import { Guard } from "../dist/guard.js";
import { read } from "./read.js";

const file = new URL("../dist/core.wasm", import.meta.url);
const text = (given) => new TextEncoder().encode(given);

/** Whether what `load` returns works. */
function works({ Skeleton }) {
  const skeleton = Skeleton.from([{ name: "root" }, { name: "tip", parent: 0, position: [0, 1, 0] }]);
  assert.equal(skeleton.length, 2);
  skeleton.free();
}

test("all loads without a source return the same classes", async () => {
  const [first, second] = await Promise.all([load(), load()]);
  assert.equal(first, second);
  works(first);
});

test("the module inside a script needs no file", async () => {
  const classes = await inline();
  works(classes);
  assert.notEqual(classes, await load());
});

test("each source makes an instance of its own", async () => {
  const given = await read(file);
  const offset = new Uint8Array(given.length + 7);
  offset.set(given, 7);
  const sources = [
    file,
    file.href,
    given,
    given.buffer,
    offset.subarray(7),
    new Response(given),
    Promise.resolve(given),
    await WebAssembly.compile(given),
  ];
  const all = [];
  for (const source of sources) {
    const classes = await load(source);
    works(classes);
    all.push(classes);
  }
  assert.equal(new Set(all).size, sources.length);
});

const refused = [
  ["a file that is not there", () => new URL("nowhere.wasm", file), /sinew\/core cannot be loaded from .*nowhere\.wasm: (the server answered 404|ENOENT)/],
  ["a response without the file", () => new Response("not found", { status: 404, statusText: "Not Found" }), /the given response: the server answered 404 Not Found$/],
  ["a page", () => text("\n <!doctype html><p>not found"), /from the given \d+ bytes: it is a page, .*`\/inline`/],
  ["a page at an address", () => "data:text/html,<!doctype html>", /from data:text\/html,.*: it is a page/],
  ["other bytes", () => text("PK\x03\x04....."), /it is not WebAssembly, but 9 bytes that begin with "PK/],
  ["no bytes", () => new ArrayBuffer(0), /from the given 0 bytes: it is empty/],
  ["a damaged module", async () => (await read(file)).subarray(0, 1000), /from the given 1000 bytes: .*WebAssembly/],
  ["another module", () => text("\0asm\x01\0\0\0"), /it is not the WebAssembly of this version of sinew\/core/],
  ["an address that is none", () => "data:nowhere", /cannot be loaded from data:nowhere: ./],
];
for (const [name, source, message] of refused) {
  test(`${name} is refused in a sentence`, async () => {
    await assert.rejects(load(await source()), (error) => {
      assert.ok(error instanceof SinewError, String(error));
      assert.equal(error.name, "SinewError");
      assert.equal(error.kind, "load", error.message);
      assert.match(error.message, message);
      assert.ok(!error.message.includes("\n"), error.message);
      return true;
    });
  });
}

test("what is no source at all is refused by its type", async () => {
  for (const given of [null, 3, {}, [], true]) {
    await assert.rejects(load(given), { name: "SinewError", kind: "type", message: /^the source must be a URL/ });
  }
});

test("a failed load does not stand in the way of the next", async () => {
  await assert.rejects(load(text("")), { kind: "load" });
  works(await load());
});

test("a panic is told with its place, and ends the engine", () => {
  const guard = new Guard();
  const panic = () => {
    throw Object.assign(new Error("panicked at crates/sinew/src/pose.rs:7:5:\nout of bounds"), { name: "panic" });
  };
  const { solve, rest } = guard.wrap({ solve: panic, rest: () => 1 });
  assert.equal(rest(), 1);
  assert.throws(solve, { kind: "internal", message: /middle of a call \(panicked at crates\/sinew\/src\/pose\.rs:7:5: out of bounds\): load/ });
  assert.throws(rest, { kind: "internal", message: /earlier call \(panicked/ });
  // Errors of the engine's own end nothing.
  const refuse = () => {
    throw Object.assign(new Error("no such joint"), { name: "input" });
  };
  const other = new Guard().wrap({ refuse, rest: () => 1 });
  assert.throws(other.refuse, { name: "input" });
  assert.equal(other.rest(), 1);
});

test("an engine that has stopped says so, and the next load makes another", async () => {
  const { Skeleton } = await load();
  const skeleton = Skeleton.from([{ name: "root" }]);
  new Uint8Array(Skeleton.engine.memory.buffer).fill(0xff);
  const stopped = (error) => {
    assert.equal(error.kind, "internal", String(error));
    assert.match(error.message, /^the engine (has )?stopped in (the middle of a|an earlier) call \(.+\): load/);
    return true;
  };
  assert.throws(() => Skeleton.from([{ name: "root" }]), stopped);
  assert.throws(() => Skeleton.from([{ name: "root" }]), stopped);
  assert.throws(() => skeleton.rest(), stopped);
  skeleton.free();
  const again = await load();
  assert.notEqual(again.Skeleton, Skeleton);
  works(again);
});
