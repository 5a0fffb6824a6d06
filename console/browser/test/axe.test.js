import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { scene } from "./running.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const paths = ["", "timers", "timers/order-close/o-0", "timers/order-close/o-0/payload", "timers/order-close/o-every", "timers/order-close/o-every/rule", "types", "types/order-close", "jobs", "dispatches", "forecast", "emergency", "health"];

const shared = scene();

for (const [locale, colorScheme, width] of [["en", "light", 1280], ["zh-CN", "dark", 390]]) {
  test(`no page hinders anybody, nor is wider than its window: ${locale}, ${colorScheme}, ${width} px`, async () => {
    const page = await shared.browser.open("/console/", { locale, colorScheme, viewport: { width, height: 900 } });
    for (const path of paths) {
      await page.goto(`${shared.running.url}/console/${path}`);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] }));
      assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target)}`), [], path);
      const [scrolls, shows] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      assert.ok(scrolls <= shows, `${path} is ${scrolls} px wide`);
    }
    assert.deepEqual(shared.browser.wrong, []);
  });
}
