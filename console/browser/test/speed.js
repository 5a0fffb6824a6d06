import { long } from "./running.js";

/** By how much a slow machine is slower, and how often it is measured. */
const slower = 4;
const times = 5;

const median = (all) => all.sort((a, b) => a - b)[all.length >> 1];

/** How fast pages are. A busy machine makes them slow, so this says it and asserts nothing. */
export function speed(shared) {
  if (!long) return;
  shared.test("how fast the first page is on a slow machine", async (t) => {
    const paints = [];
    const plots = [];
    for (let n = 0; n < times; n++) {
      const page = await shared.open("/console/health", {});
      const browser = await page.context().newCDPSession(page);
      await browser.send("Emulation.setCPUThrottlingRate", { rate: slower });
      await page.goto(`${shared.running.url}/console/`);
      paints.push(await painted(page));
      plots.push(await drawn(page));
    }
    t.diagnostic(`first paint: ${median(paints).toFixed()} ms of 500, plots: ${median(plots).toFixed()} ms of 100`);
  });
}

/** When the page was first seen. */
const painted = (page) =>
  page.evaluate(
    () =>
      new Promise((seen) => {
        new PerformanceObserver((all) => seen(all.getEntriesByName("first-contentful-paint")[0].startTime)).observe({ type: "paint", buffered: true });
      }),
  );

/** How long it takes to draw the plots: to parse, to lay out, and to paint. */
const drawn = (page) =>
  page.evaluate(
    () =>
      new Promise((seen) => {
        requestAnimationFrame(() => {
          const began = performance.now();
          const plots = document.getElementById("drawn");
          plots.innerHTML = String(plots.innerHTML);
          requestAnimationFrame(() => setTimeout(() => seen(performance.now() - began)));
        });
      }),
  );
