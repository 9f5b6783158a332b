// Pictures of every built page at 1280 and 390 px, light and dark, while a target is dragged: `npm run shots` writes them to shots/.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { pages } from "../pages.js";
import { awake, browse, drawn, middle, serve } from "./browser.mjs";

const shots = join(import.meta.dirname, "../shots");
mkdirSync(shots, { recursive: true });
const built = (file) => existsSync(join(import.meta.dirname, "../dist", file));
const only = process.argv[2] ?? "";
const server = await serve();
for (const width of [1280, 390]) {
  for (const colorScheme of ["light", "dark"]) {
    const browser = await browse({ viewport: { width, height: 1200 }, deviceScaleFactor: 2, colorScheme, hasTouch: width < 500 });
    for (const file of ["index.html", ...pages.map(({ file }) => file).filter(built)]) {
      const name = `${file.replace(".html", "")}-${width}-${colorScheme}`;
      if (!name.includes(only)) continue;
      const { page, errors } = await browser.open(server.root + file);
      for (const id of await awake(page)) {
        // In the middle of the screen, so that a picture does not scroll what is being dragged.
        await page.$eval(`#${id}`, (element) => element.scrollIntoView({ block: "center" }));
        const handles = await page.$$(`#${id} .handle-target`);
        for (const handle of handles.slice(0, 1)) {
          const [x, y] = await middle(handle);
          await page.mouse.move(x, y);
          await page.mouse.down();
          await page.mouse.move(x + width / 20, y - 40, { steps: 12 });
          await drawn(page);
          await (await page.$(`#${id}`)).screenshot({ path: join(shots, `${name}-${id}.png`) });
          await page.mouse.up();
        }
      }
      // Figures off the screen are not drawn: the whole page is made a screen.
      await page.setViewportSize({ width, height: await page.evaluate(() => document.documentElement.scrollHeight) });
      await page.mouse.move(0, 0);
      await page.evaluate(() => document.activeElement?.blur());
      await page.waitForTimeout(300);
      await drawn(page);
      await page.screenshot({ path: join(shots, `${name}.png`), scale: "css" });
      if (errors.length > 0) console.log(`${name}: ${errors.join("; ")}`);
      await page.close();
    }
    await browser.close();
  }
}
server.close();
