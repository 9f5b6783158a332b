import { existsSync } from "node:fs";
import { basename } from "node:path";

import { pages } from "./pages.js";

const all = Boolean(process.env.PLAYGROUND_ALL);
const shown = pages.filter(({ file, linked }) => (linked || all) && existsSync(new URL(file, import.meta.url)));

/** Header, footer and the list of pages, written into the pages so that they need no script. */
function frame() {
  const link = (page, rel, arrow) => page && `<a rel="${rel}" href="./${page.file}">${arrow(page.title)}</a>`;
  return {
    name: "frame",
    transformIndexHtml: {
      order: "pre",
      handler(html, { filename }) {
        const at = shown.findIndex(({ file }) => file === basename(filename));
        const before = at > 0 && link(shown[at - 1], "prev", (title) => `<span aria-hidden="true">←</span> ${title}`);
        const after = link(shown[at + 1], "next", (title) => `${title} <span aria-hidden="true">→</span>`);
        const inner = at >= 0 ? `<nav aria-label="Pages">${[before, after].filter(Boolean).join("")}</nav>` : "";
        const header = `<header class="top"><a class="home" href="./index.html">Sinew</a>${inner}</header>`;
        const next = at >= 0 && after ? `<nav class="onward" aria-label="Next page">${after}</nav>` : "";
        const rows = shown.map(
          ({ file, title, summary }) => `<li><a href="./${file}"><strong>${title}</strong><span>${summary}</span></a></li>`,
        );
        return html
          .replace("<!--header-->", header)
          .replace("<!--next-->", next)
          .replace("<!--pages-->", `<ol class="contents">${rows.join("\n")}</ol>`);
      },
    },
  };
}

export default ({ command }) => ({
  base: "./",
  appType: "mpa",
  plugins: [frame()],
  // The package of the engine is a link to a folder beside this one.
  server: { fs: { allow: [".."] } },
  optimizeDeps: { exclude: ["sinew"], include: [] },
  // three.js by its single modules: what a page loads later then stays out of what it loads at once.
  resolve: command === "build" ? { alias: [{ find: /^three$/, replacement: "three/src/Three.js" }] } : {},
  worker: { format: "es" },
  build: {
    target: "es2022",
    // Browsers that do not preload modules by themselves load them a moment later.
    modulePreload: { polyfill: false },
    // three.js; tests bound what a page loads.
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      input: ["index.html", ...shown.map(({ file }) => file)],
      // What all pages have, in one file: it compresses better.
      output: { codeSplitting: { groups: [{ name: "base", minShareCount: shown.length + 1 }] } },
    },
  },
});
