#!/usr/bin/env node
// Renders a planted clip at even times into a contact sheet, for people to look at.
import { createReadStream, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import puppeteer from "puppeteer-core";

const HELP = `node render.mjs FILE.glb [options]
  --animation NAME   which one (default: the last whose name ends in "(planted)")
  --times N          how many tiles (default 8)
  --view side|front  where one stands (default side)
  --focus feet       nearer, feet and shins only
  --hide PATTERN     nodes whose name fits are not drawn (weapons, capes)
  --from S --to S    seconds (default: the whole clip)
  --columns N        tiles a row (default: 4, or all of up to 4)
  --size WxH         of a tile (default 480x540)
  -o FILE.png        default: sheet.png
  --browser PATH     Chromium (default: the variable CHROMIUM, else the one on PATH)`;

function fail(code, message) {
  console.error(message);
  process.exit(code);
}

function options() {
  let parsed;
  try {
    const text = { type: "string" };
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        animation: text, times: { ...text, default: "8" }, view: { ...text, default: "side" }, focus: text, hide: text, from: text, to: text,
        columns: text, size: { ...text, default: "480x540" }, out: { ...text, short: "o", default: "sheet.png" }, browser: text,
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    fail(2, error.message);
  }
  const { values, positionals } = parsed;
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  const number = (name) => (values[name] === undefined ? null : Number(values[name]));
  const [width, height] = values.size.split("x").map(Number);
  const times = number("times");
  const o = {
    animation: values.animation ?? null, times, view: values.view, focus: values.focus ?? null, hide: values.hide ?? null, from: number("from"), to: number("to"),
    columns: number("columns") ?? Math.min(times, 4), width, height,
  };
  if (positionals.length !== 1) fail(2, HELP);
  if (!["side", "front"].includes(o.view)) fail(2, `--view ${o.view}: side or front`);
  for (const n of [times, o.columns, width, height]) if (!(Number.isInteger(n) && n > 0)) fail(2, "numbers of tiles and pixels are whole and positive");
  for (const n of [o.from, o.to]) if (n !== null && !Number.isFinite(n)) fail(2, "--from and --to are seconds");
  if (!existsSync(positionals[0])) fail(1, `${positionals[0]}: no such file`);
  return { file: positionals[0], out: values.out, browser: values.browser ?? process.env.CHROMIUM ?? onPath(), sheet: o };
}

function onPath() {
  const places = (process.env.PATH ?? "").split(delimiter);
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    for (const place of places) if (existsSync(join(place, name))) return join(place, name);
  }
  fail(1, "no Chromium on PATH; name one with --browser");
}

const KINDS = { ".html": "text/html", ".js": "text/javascript", ".glb": "model/gltf-binary", ".gltf": "model/gltf+json" };

// Serves this folder and, as `/model`, the file; what a .gltf refers to is served from beside it.
function serve(file) {
  const here = dirname(fileURLToPath(import.meta.url));
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    const tries = path === "/model" ? [file] : [join(here, path), join(dirname(file), path)];
    const found = tries.find((p) => existsSync(p));
    if (!found || path.includes("..")) return response.writeHead(path === "/favicon.ico" ? 204 : 404).end();
    response.writeHead(200, { "content-type": KINDS[extname(found)] ?? "application/octet-stream" });
    createReadStream(found).on("error", () => response.destroy()).pipe(response);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const { file, out, browser: executablePath, sheet } = options();
const server = await serve(file);
const profile = mkdtempSync(join(tmpdir(), "sinew-view-"));
let browser;
try {
  browser = await puppeteer.launch({
    executablePath,
    userDataDir: profile,
    args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-unsafe-swiftshader"],
  });
  const page = await browser.newPage();
  page.on("pageerror", (error) => console.error(error.message));
  await page.goto(`http://127.0.0.1:${server.address().port}/page.html`);
  await page.waitForFunction("window.ready === true", { timeout: 30000 });
  const picture = await page.evaluate((o) => window.sheet(o), sheet);
  writeFileSync(out, Buffer.from(picture.split(",")[1], "base64"));
  console.log(out);
} catch (error) {
  console.error(`${file}: ${error.message.split("\n")[0]}`);
  process.exitCode = 1;
} finally {
  await browser?.close();
  server.close();
  rmSync(profile, { recursive: true, force: true });
}
