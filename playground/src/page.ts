/** A page with figures: loads the engine, and makes them. */

import { load, type Core, type DrawList } from "sinew/core";

import { failAll, figures, type Figure } from "./figure/figure.ts";

declare global {
  interface Window {
    /** For tests: the figures by their ids, once all are made. */
    playground?: { figures: Record<string, Figure>; core: Core };
  }
}

/** Loads the engine and calls back with its classes, and a list to draw with. If that fails, each figure says why. */
export async function start(make: (core: Core, list: DrawList) => void): Promise<void> {
  try {
    const core = await load();
    make(core, new core.DrawList());
    for (const figure of Object.values(figures)) figure.refresh();
    performance.mark("playground ready");
    window.playground = { figures, core };
  } catch (error) {
    failAll(error);
  }
}
