// A static server of the built pages, and a browser, for tests and pictures.

import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

import { chromium } from "playwright-core";

const dist = join(import.meta.dirname, "../dist");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** Serves `dist/` in a folder of its own, as any static server does. */
export async function serve() {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    try {
      if (!path.startsWith("/some/folder/")) throw new Error("outside the folder");
      const body = await readFile(join(dist, path.slice("/some/folder".length)));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" }).end(body);
    } catch {
      response.writeHead(404, { "content-type": "text/plain" }).end("not found");
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { root: `http://127.0.0.1:${server.address().port}/some/folder/`, close: () => server.close() };
}

function executable() {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("which", [name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    } catch {
      // The next one.
    }
  }
  throw new Error("there is no Chromium: `apt-get install -y --no-install-recommends chromium` installs it");
}

const ARGUMENTS = [
  ...["--no-sandbox", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

/** Starts Chromium with a fresh folder of user data; `options` are those of Playwright's contexts. */
export async function browse({ args = [], ...options } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "playground-chromium-"));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: executable(),
    headless: true,
    args: [...ARGUMENTS, ...args],
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  return {
    context,
    /** Opens a page, and records errors of its console and requests that leave the origin. Waits until the figures are there. */
    async open(url, { ready = true } = {}) {
      const page = await context.newPage();
      const [errors, foreign, loaded] = [[], [], []];
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      page.on("pageerror", (error) => errors.push(String(error)));
      page.on("request", (request) => {
        if (/^(data|blob):/.test(request.url())) return;
        if (new URL(request.url()).origin !== new URL(url).origin) foreign.push(request.url());
        loaded.push(request.url());
      });
      await page.goto(url);
      if (ready) await page.waitForFunction(() => window.playground !== undefined);
      return { page, errors, foreign, loaded };
    },
    async close() {
      await context.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until what has changed is drawn. */
export async function drawn(page) {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** Waits by a timer of the page itself, which fires after those that the page has set for an earlier time. */
export function settled(page, milliseconds = 400) {
  return page.evaluate((time) => new Promise((resolve) => setTimeout(resolve, time)), milliseconds);
}

/** Brings each figure to the screen, and waits until what it loads there has come. Returns their ids. */
export async function awake(page) {
  const ids = await page.$$eval(".figure", (all) => all.map(({ id }) => id));
  for (const id of ids) {
    if (!(await page.evaluate((id) => window.playground.figures[id].busy, id))) continue;
    await page.$eval(`#${id}`, (element) => element.scrollIntoView());
    await page.waitForFunction((id) => !window.playground.figures[id].busy, id);
  }
  await page.evaluate(() => scrollTo(0, 0));
  return ids;
}

/** A figure's handle by its label. */
export const handle = (page, id, name) => page.$(`#${id} .handle[aria-label="${name}"]`);

/** Moves a figure's slider to a value. */
export const slide = (page, id, label, value) =>
  page.$eval(`#${id} .slider:has-text("${label}") input`, (input, value) => {
    input.value = String(value);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, value);

/** The middle of a handle, scrolled into view. */
export async function middle(handle) {
  await handle.scrollIntoViewIfNeeded();
  const box = await handle.boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** Drags a handle by pixels with the mouse; returns where it has been let go. */
export async function dragMouse(page, handle, dx, dy, { release = true } = {}) {
  const [x, y] = await middle(handle);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx, y + dy, { steps: 8 });
  if (release) await page.mouse.up();
  await drawn(page);
  return [x + dx, y + dy];
}

/** Drags a handle by pixels with a finger. */
export async function dragTouch(page, handle, dx, dy) {
  const [x, y] = await middle(handle);
  const session = await page.context().newCDPSession(page);
  const touch = (type, points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points });
  await touch("touchStart", [{ x, y }]);
  for (let n = 1; n <= 8; n++) await touch("touchMove", [{ x: x + (dx * n) / 8, y: y + (dy * n) / 8 }]);
  await touch("touchEnd", []);
  await session.detach();
  await drawn(page);
  return [x + dx, y + dy];
}

/** Presses a key on a handle some times. */
export async function pressKeys(page, handle, key, times) {
  await handle.focus();
  for (let n = 0; n < times; n++) await page.keyboard.press(key);
  await drawn(page);
}

/** State and probe of a figure. */
export function look(page, id) {
  return page.evaluate((id) => {
    const figure = window.playground.figures[id];
    return JSON.parse(JSON.stringify({ state: figure.state, probe: figure.probe(), time: figure.time, code: figure.code }));
  }, id);
}
