import assert from "node:assert/strict";
import { eventually } from "./running.js";
import { soon } from "./scene.js";
import { desk, phone } from "./watching.js";

/** The size of a target that a finger or a shaky hand hits, in pixels (WCAG 2.2, 2.5.8). */
const target = 24;

/** How often the tab key is pressed: through the head of a page, and far into a list. */
const steps = 60;

/** What hides the element that has the focus; "" where some of it is seen, and undefined once none has it. */
const hidden = (page) =>
  page.evaluate(() => {
    const focused = document.activeElement;
    if (focused === document.body) return undefined;
    const { x, y, width, height } = focused.getBoundingClientRect();
    const at = [[0.5, 0.5], [0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]].map(([h, v]) => document.elementFromPoint(x + width * h, y + height * v));
    const seen = at.some((top) => top && (focused.contains(top) || top.closest("a, label")?.contains(focused)));
    return seen ? "" : `${focused.tagName} ${focused.name ?? focused.textContent} at ${Math.round(y)}, behind ${at.find(Boolean)?.outerHTML.slice(0, 60)}`;
  });

/** How many buttons the bar at the bottom has, and what lies over them wherever the page is scrolled to. */
const bar = (page) =>
  page.evaluate(() => {
    const buttons = [...document.querySelectorAll(".actions :is(button, summary)")].filter((node) => node.checkVisibility());
    const over = new Set();
    for (let scrolled = 0; scrolled < document.body.scrollHeight; scrolled += 8) {
      scrollTo(0, scrolled);
      for (const button of buttons) {
        const { x, y, width, height } = button.getBoundingClientRect();
        const top = document.elementFromPoint(x + width / 2, y + height / 2);
        if (top && !button.contains(top)) over.add(top.outerHTML.slice(0, 60));
      }
    }
    return { buttons: buttons.length, over: [...over] };
  });

/** How many times below the pictures are broken, where the first one has its day as well: it is of yesterday. */
const broken = (page) =>
  page.locator(".plots > .xs").evaluate((axis) => {
    const [first, ...others] = axis.querySelectorAll("time");
    first.textContent = "11/28/2026 23:44:00";
    for (const time of others) time.textContent = "00:14:00";
    return others.filter((time) => time.checkVisibility() && time.getClientRects().length > 1).length;
  });

/** What can be pressed and is too small. What stands in a sentence may be. */
const small = (page) =>
  page.evaluate((target) => {
    const all = [...document.querySelectorAll("a, button, summary, input:not([type=hidden]), select, textarea")].filter((node) => !node.closest(".unseen, .plots, .skip, p, small, footer, dialog"));
    const sized = all.map((node) => [node, node.getBoundingClientRect()]).filter(([node, { width }]) => width > 1 && node.checkVisibility());
    return sized.filter(([, { width, height }]) => width < target || height < target).map(([node, { width, height }]) => `${node.outerHTML.slice(0, 90)} ${width} x ${height}`);
  }, target);

/** Who has a keyboard sees where it is, and who has a thumb hits what is there. */
export function reach(shared) {
  for (const window of [desk, phone, { viewport: { width: 320, height: 256 } }]) {
    const { width, height } = window.viewport;
    shared.test(`the focus is never behind a bar: ${width} x ${height} px`, async () => {
      for (const path of ["timers", "types/order-close"]) {
        const page = await shared.open(`/console/${path}`, window);
        let stops = 0;
        for (let behind; stops < steps; stops++) {
          await page.keyboard.press("Tab");
          behind = await hidden(page);
          if (behind === undefined) break;
          assert.equal(behind, "", path);
        }
        assert.ok(stops > 20, `${stops} stops`);
      }
    });
  }

  shared.test("nothing lies over the actions of a phone, and no time below its pictures is broken", async () => {
    const before = shared.running.status;
    shared.running.status = 503;
    await shared.running.book("order-close", "r-1", "0s");
    await eventually(async () => (await shared.running.timer("order-close", "r-1")).status === "failed");
    shared.running.status = before;
    const page = await shared.open("/console/timers/order-close/r-1", phone);
    await page.waitForSelector(".story .event-failed", soon);
    assert.deepEqual(await bar(page), { buttons: 1, over: [] });
    const type = await shared.open("/console/types/order-close", phone);
    assert.equal(await broken(type), 0);
    const seen = await type.locator("div.actions").evaluate((actions) => {
      const before = actions.checkVisibility();
      actions.replaceChildren("\n"); // as for who may do nothing
      return [before, actions.checkVisibility()];
    });
    assert.deepEqual(seen, [true, false], "no line without a button");
  });

  shared.test("what can be pressed is large enough", async () => {
    for (const window of [desk, phone]) {
      for (const path of ["", "timers", "types/order-close"]) {
        const page = await shared.open(`/console/${path}`, window);
        await page.waitForSelector("#strip a");
        assert.deepEqual(await small(page), [], `${path}, ${window.viewport.width} px`);
      }
    }
  });
}
