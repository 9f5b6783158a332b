// A static server and a browser for tests and benchmarks.

import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";

import { chromium } from "playwright-core";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".json": "application/json" };

/**
 * Serves a folder on localhost. `pages` answers some paths instead: a function of the request's path to `{ type, body, headers }`
 * or undefined.
 */
export async function serve(folder, pages = () => undefined) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    try {
      const page = pages(path) ?? { type: TYPES[extname(path)], body: await readFile(join(folder, path)) };
      response.writeHead(200, { "content-type": page.type ?? "application/octet-stream", ...page.headers });
      response.end(page.body);
    } catch {
      response.writeHead(404, { "content-type": "text/plain" }).end("not found");
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
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

/** Starts Chromium with a fresh folder of user data. */
export async function browse() {
  const folder = await mkdtemp(join(tmpdir(), "sinew-chromium-"));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: executable(),
    headless: true,
    args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  return {
    /** Opens a page that records errors of its console, and requests that leave the origin. */
    async open(url) {
      const page = await context.newPage();
      const errors = [];
      const foreign = [];
      page.on("console", (message) => {
        // Chromium itself reports requests that fail; tests make some for addresses that say so.
        if (message.type() === "error" && !message.location().url.includes("nowhere")) errors.push(message.text());
      });
      page.on("pageerror", (error) => errors.push(String(error)));
      page.on("request", (request) => {
        if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== new URL(url).origin) foreign.push(request.url());
      });
      await page.goto(url);
      return { page, errors, foreign };
    },
    async close() {
      await context.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
