// The package as its users get it: packed, installed into an empty folder, and used from Node, from a plain page, from vite
// and from TypeScript.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { build, createServer } from "vite";

import { browse, serve } from "./browser/server.mjs";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "sinew-pack-"));
const run = (command, given, cwd = folder) => execFileSync(command, given, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** Lifts the tip of a limb, from the package's entry point `from`. */
const program = (from) => `
import { load } from ${JSON.stringify(from)};
const { Skeleton, TwoBone } = await load();
const skeleton = Skeleton.from([
  { name: "hip" },
  { name: "knee", parent: "hip", position: [0, -0.5, 0.02] },
  { name: "ankle", parent: "knee", position: [0, -0.5, -0.02] },
]);
const pose = skeleton.rest();
const leg = new TwoBone(skeleton, "hip", "knee", "ankle");
const report = leg.solve(pose, { position: [0.1, -0.7, 0.2] });
`;
const shown = "`${report.outcome} ${report.reached}`";
const page = (script) => `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">${script}`;
/** A page that writes its answer, or the error, as its text. */
const app = (from) => `import(${JSON.stringify(from)}).then(({ answer }) => answer, (error) => error.message).then((text) => {
  document.body.textContent = text;
});`;

writeFileSync(join(folder, "package.json"), '{ "name": "app", "version": "1.0.0", "private": true, "type": "module" }');
const tarball = run("npm", ["pack", "--silent", "--pack-destination", folder], root).trim();
run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--offline", `./${tarball}`]);

const browser = await browse();
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The text of a page once it has one. */
async function text(url) {
  const { page, errors, foreign } = await browser.open(url);
  await page.waitForFunction(() => document.body?.textContent.trim());
  const shown = await page.evaluate(() => document.body.textContent.trim());
  assert.deepEqual(foreign, [], "requests that left the origin");
  await page.close();
  return { shown, errors };
}

async function answers(url) {
  const { shown, errors } = await text(url);
  assert.equal(shown, "converged true");
  assert.deepEqual(errors, []);
}

test("the tarball has what it needs and no path of this machine", () => {
  const files = readdirSync(join(folder, "node_modules/sinew"));
  for (const file of ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "dist", "package.json"]) assert.ok(files.includes(file), file);
  // Exit code 1 of grep: nothing is found.
  const { status, stdout } = spawnSync("grep", ["-rlaE", "/(root|home|work|Users|tmp)/", join(folder, "node_modules/sinew")], { encoding: "utf8" });
  assert.deepEqual([status, stdout], [1, ""]);
});

// `.ci/run` builds `sinew/core` and `sinew/files`, and `npm run test:all` all three.
const built = [["sinew/core", "core"], ["sinew", "whole"], ["sinew/files", "files"]].filter(
  ([, name]) => name !== "whole" || process.env.SINEW_WEB_ALL || existsSync(join(root, "dist/whole.js")),
);
for (const from of built.flatMap(([name]) => [name, `${name}/inline`])) {
  test(`${from} in Node`, () => {
    writeFileSync(join(folder, "node.js"), `${program(from)}console.log(${shown});`);
    assert.equal(run(process.execPath, ["node.js"]).trim(), "converged true");
  });
}

test("a plain page with a module script", async () => {
  const script = `${program("./node_modules/sinew/dist/core.js")}document.body.textContent = ${shown};`;
  writeFileSync(join(folder, "plain.html"), page(`<script type="module">${script}</script><body></body>`));
  const server = await serve(folder);
  await answers(`${server.origin}/plain.html`);
  server.close();
});

/** A vite project that uses an entry point. */
function project(name, from) {
  const at = join(folder, name);
  mkdirSync(at);
  writeFileSync(join(at, "index.html"), page('<body></body><script type="module" src="/main.js"></script>'));
  writeFileSync(join(at, "main.js"), app("./app.js"));
  writeFileSync(join(at, "app.js"), `${program(from)}export const answer = ${shown};`);
  return { root: at, configFile: false, logLevel: "error", cacheDir: join(at, ".vite"), server: { host: "127.0.0.1", hmr: false }, build: { target: "esnext" } };
}

async function developed(config, check) {
  const server = await createServer(config);
  await server.listen(0);
  await check(`http://127.0.0.1:${server.httpServer.address().port}/`);
  await server.close();
}

test("vite's build has the file", async () => {
  const config = project("built", "sinew/core");
  await build(config);
  const server = await serve(join(config.root, "dist"), () => undefined);
  await answers(`${server.origin}/index.html`);
  server.close();
});

test("vite's dev server has the inline entry point", async () => {
  await developed(project("inline", "sinew/core/inline"), answers);
});

test("vite's dev server has the file where it leaves the package alone", async () => {
  await developed({ ...project("excluded", "sinew/core"), optimizeDeps: { exclude: ["sinew"] } }, answers);
});
test("TypeScript takes the types", () => {
  const mistakes = `
// @ts-expect-error: a goal's position has three numbers
leg.solve(pose, { position: "here" });
// @ts-expect-error: a chain has two ends
new TwoBone(skeleton, "hip");
`;
  writeFileSync(join(folder, "types.ts"), `${program("sinew/core")}const shown: string = ${shown};\nexport { shown };${mistakes}`);
  for (const [module, moduleResolution] of [["NodeNext", "NodeNext"], ["ESNext", "Bundler"]]) {
    const options = { target: "ES2022", lib: ["ES2022", "DOM", "ESNext.Disposable"], module, moduleResolution, strict: true, noEmit: true, types: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["types.ts"] }));
    try {
      run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."]);
    } catch (error) {
      assert.fail(error.stdout);
    }
  }
});
