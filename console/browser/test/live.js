import assert from "node:assert/strict";
import { limited } from "./looks.js";
import { eventually, long } from "./running.js";
import { soon } from "./scene.js";

/** Waits for what a page is to show, and says how long it took. */
async function within(t, what, waits) {
  const began = performance.now();
  await waits();
  t.diagnostic(`${what}: ${Math.round(performance.now() - began)} ms`);
}

/** A console begins empty. */
export function empty(shared) {
  shared.test("an empty console says how to begin, and fills by itself", async (t) => {
    const page = await shared.open("/console/");
    assert.match(await page.textContent(".empty pre"), /^curl .*\/v1\/policies\/demo .*\ncurl .*\/v1\/timers .*\n.*wakecall.* listen --type demo [^\n]*$/);
    await shared.running.policy("order-close", limited);
    await shared.running.book("order-close", "o-0", "1h");
    await within(t, "the first type", () => page.waitForSelector("#row-order-close", soon));
  });
}

/** Pages show what happens, and keep what people do on them. */
export function live(shared) {
  shared.test("a row and its ring appear without reload, while typed text, focus and selection stay", async (t) => {
    const page = await shared.open("/console/timers");
    await page.evaluate(() => { window.loaded = "once"; });
    await page.check('input[name=row][value^="order-close/o-0 "]');
    await page.fill("#q", "half a wo");
    await page.evaluate(() => document.getElementById("q").setSelectionRange(5, 6));
    await shared.running.book("order-close", "o-1", "4s");
    await within(t, "the row", () => page.waitForSelector('text="o-1"', soon));
    await eventually(async () => (await shared.running.timer("order-close", "o-1")).status === "delivered");
    await within(t, "the ring", () => page.waitForSelector('[id="row-order-close/o-1"] .status-delivered', soon));
    const box = await page.locator("#q").evaluate((q) => [q.value, q.selectionStart, q.selectionEnd, document.activeElement.id, window.loaded]);
    assert.deepEqual(box, ["half a wo", 5, 6, "q", "once"]);
    assert.ok(await page.isChecked('input[name=row][value^="order-close/o-0 "]'));
  });

  shared.test("the page of a timer tells its story as it goes on, and a form that is being filled stays", async () => {
    await shared.running.book("order-close", "o-2", "1h");
    const page = await shared.open("/console/timers/order-close/o-2");
    await page.click('form[action$="/move"] summary');
    await page.fill('form[action$="/move"] input[name=delay]', "2h");
    await shared.running.call("PATCH", "/v1/timers/order-close/o-2", { delay: "3h" });
    await page.waitForSelector(".story .event-changed", soon);
    assert.equal(await page.inputValue('form[action$="/move"] input[name=delay]'), "2h");
    await shared.running.call("POST", "/v1/timers/order-close/o-2/fire");
    await page.waitForSelector(".story .event-delivered", soon);
    await page.waitForSelector(".sentence .status-delivered", soon);
  });

  shared.test("what was done is said once, and not to who comes back to the address", async () => {
    const page = await shared.open("/console/types/order-close?at=02:41&done=pause&range=6h");
    const said = page.locator("#said .done");
    assert.equal(await said.count(), 1);
    assert.equal(new URL(page.url()).search, "?at=02:41&range=6h");
    await page.reload();
    assert.equal(await said.count(), 0);
  });

  shared.atNight("what was answered stays said while the page lives", async () => {
    await shared.running.book("order-close", "o-5", "1h");
    const page = await shared.open("/console/timers/order-close/o-5");
    await page.click('form[action$="/pause"] summary');
    await page.fill('form[action$="/pause"] input[name=note]', "a look");
    await page.click('form[action$="/pause"] button');
    await page.waitForSelector("#said .done", soon);
    await shared.running.call("POST", "/v1/timers/order-close/o-5/resume");
    await page.waitForSelector(".story .event-resumed", soon);
    assert.equal(await page.locator("#said .done").count(), 1);
  });

  shared.test("the two plots have one cursor, and a drag zooms in", async () => {
    const page = await shared.open("/console/types/order-close");
    const [upper, lower] = await page.locator(".plot svg").all();
    const box = await upper.boundingBox();
    const over = (share) => page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
    await over(0.75);
    await page.waitForSelector('.says:has-text("due")');
    await eventually(async () => (await upper.locator(".hit.at").count()) === 1 && (await lower.locator(".hit.at").count()) === 1);
    await page.evaluate(() => { for (const hit of document.querySelectorAll(".hit.at")) hit.classList.remove("at"); });
    await shared.running.book("order-close", "o-3", "1h"); // the pictures are drawn again, and the cursor stays
    await eventually(async () => (await upper.locator(".hit.at").count()) === 1);
    await page.mouse.down();
    await over(0.9);
    await eventually(async () => (await lower.locator(".hit.at").count()) > 10);
    await page.mouse.up();
    await page.waitForURL(/range=.*\.\..*#plots$/);
    const { from, to } = await page.locator("#plots").evaluate((plots) => ({ ...plots.dataset }));
    const minutes = (Date.parse(to) - Date.parse(from)) / 60_000;
    assert.ok(minutes >= 17 && minutes <= 20, `${minutes} minutes of 120`);
  });

  shared.atNight("the strip says what is grave, once", async () => {
    const page = await shared.open("/console/health");
    const said = page.locator('.strip li:has-text("prices")');
    assert.equal(await said.count(), 0);
    await shared.running.call("POST", "/v1/emergency/pause", { business_types: ["order-close"], note: "prices" });
    await said.waitFor(soon);
    assert.equal(await said.count(), 1);
    await shared.running.call("POST", "/v1/emergency/resume", { business_types: ["order-close"] });
    await said.waitFor({ state: "detached", ...soon });
  });

  shared.test("each load opens the stream", async () => {
    const loads = long ? 100 : 4;
    const page = await shared.browser.blank(); // the first load counts as well: its stream may open after it
    let streams = 0;
    page.on("response", (answer) => { streams += answer.url().includes("/console/live") && answer.status() === 200; });
    for (let load = 1; load <= loads; load++) {
      await page.goto(`${shared.running.url}/console/types`, { waitUntil: "commit" });
      await eventually(() => streams === load);
    }
  });

  shared.test("a hidden tab asks nothing, and catches up", async () => {
    const page = await shared.open("/console/timers");
    const seen = await shared.open("/console/timers");
    await streaming(page);
    await hide(page, true);
    let requests = 0;
    page.on("request", () => requests++);
    await shared.running.book("order-close", "o-6", "1h");
    await seen.waitForSelector('text="o-6"', soon);
    assert.equal(requests, 0);
    assert.equal(await page.locator('text="o-6"').count(), 0);
    await hide(page, false);
    await page.waitForSelector('text="o-6"', soon);
  });
}

/** Pages come back when the gateway does. */
export function broken(shared) {
  shared.test("a page says that its gateway stands still, and lives again when that goes on", async (t) => {
    const page = await shared.open("/console/timers");
    await streaming(page);
    const said = page.locator(".silent div");
    assert.ok(await said.isHidden());
    shared.running.freeze();
    try {
      await within(t, "said", () => said.waitFor(soon));
      assert.match(await said.textContent(), /nothing since \d\d:\d\d:\d\d\. /);
      assert.match(await page.locator("main").evaluate((main) => getComputedStyle(main).filter), /grayscale/);
    } finally {
      shared.running.thaw();
    }
    await shared.running.book("order-close", "o-7", "1h");
    await within(t, "alive again", () => page.waitForSelector('text="o-7"', soon));
    await said.waitFor({ state: "hidden", ...soon });
  });

  shared.test("the gateway comes back, and the page lives again within ten seconds", async (t) => {
    const page = await shared.open("/console/timers");
    await streaming(page);
    // While it comes back it may answer that it is not ready.
    shared.browser.expect(/net::ERR_|network error|Failed to fetch|status of 503/);
    await shared.running.kill();
    await shared.running.up();
    await shared.running.book("order-close", "o-4", "1h");
    await within(t, "alive again", () => page.waitForSelector('text="o-4"', soon));
  });
}

/** Waits until a page's stream is open. */
const streaming = (page) => page.waitForFunction(() => document.querySelector("[hx-sse\\:connect]")._htmx?.sse?.status === 200, null, soon);

/**
 * Tells a page that it is hidden, or seen again. A browser without a screen that is driven shows all pages,
 * so the page is told by what the browser would change.
 */
const hide = (page, hidden) =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    Object.defineProperty(document, "visibilityState", { value: hidden ? "hidden" : "visible", configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  }, hidden);
