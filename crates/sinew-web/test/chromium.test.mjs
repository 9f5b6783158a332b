// The tests of this folder once more, in Chromium: one page a file, from a server on localhost.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { browse, serve } from "./browser/server.mjs";

const here = import.meta.dirname;
const imports = {
  "node:test": "/test/browser/test.js",
  "node:assert/strict": "/test/browser/assert.js",
  "sinew/core": "/dist/core.js",
  "sinew/core/inline": "/dist/core.inline.js",
  "sinew/files": "/dist/files.js",
  three: "/node_modules/three/build/three.module.js",
  "three/addons/": "/node_modules/three/examples/jsm/",
};
const page = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">import { run } from "/test/browser/test.js"; window.run = run;</script>`;
const blocked = page.replace("<script", `<meta http-equiv="content-security-policy" content="script-src 'self' 'unsafe-inline'"><script`);

const server = await serve(join(here, ".."), (path) => {
  if (path === "/") return { type: "text/html", body: page };
  if (path === "/blocked") return { type: "text/html", body: blocked };
  return undefined;
});
const browser = await browse();
after(async () => {
  await browser.close();
  server.close();
});

for (const file of readdirSync(here).filter((name) => name.endsWith(".test.js"))) {
  test(`${file} in Chromium`, async (context) => {
    const opened = await browser.open(server.origin);
    await opened.page.waitForFunction(() => window.run !== undefined);
    const results = await opened.page.evaluate((path) => window.run(path), `/test/${file}`);
    for (const { name, error } of results) {
      await context.test(name, () => assert.equal(error, undefined, error));
    }
    assert.ok(results.length > 0, "the file has no tests");
    assert.deepEqual(opened.foreign, [], "requests that left the origin");
    assert.deepEqual(opened.errors, [], "errors in the console");
    await opened.page.close();
  });
}

test("a page whose policy forbids WebAssembly gets a sentence", async () => {
  const { page } = await browser.open(`${server.origin}/blocked`);
  const { kind, message } = await page.evaluate(async () => {
    const { load } = await import("sinew/core");
    return load().then(() => ({}), ({ kind, message }) => ({ kind, message }));
  });
  assert.equal(kind, "load");
  assert.match(message, /^sinew\/core cannot be loaded from http.*core\.wasm: .*Content Security Policy/i);
});
