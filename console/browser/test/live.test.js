import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, scene } from "./running.js";

const shared = scene();

/** Within how long a page shows what happened, in milliseconds: what people are promised, and slack for a busy machine. */
const soon = { timeout: 15_000 };

test("a row and its ring appear without reload, while typed text and focus stay", async () => {
  const page = await shared.browser.open("/console/timers");
  await page.evaluate(() => { window.loaded = "once"; });
  await page.check('input[name=row][value^="order-close/o-0 "]');
  await page.focus("#q");
  await page.keyboard.type("half a wo");
  await shared.running.book("order-close", "o-1", "4s");
  await page.waitForSelector('text="o-1"', soon);
  await page.waitForFunction(() => document.getElementById("row-order-close/o-1").textContent.includes("delivered"), null, soon);
  assert.equal(await page.inputValue("#q"), "half a wo");
  assert.equal(await page.evaluate(() => document.activeElement.id), "q");
  assert.equal(await page.evaluate(() => window.loaded), "once");
  assert.ok(await page.isChecked('input[name=row][value^="order-close/o-0 "]'));
  await page.context().close();
});

test("the page of a timer tells its story as it goes on, and a form that is being filled stays", async () => {
  await shared.running.book("order-close", "o-2", "1h");
  const page = await shared.browser.open("/console/timers/order-close/o-2");
  await page.click('form[action$="/move"] summary');
  await page.fill('form[action$="/move"] input[name=delay]', "2h");
  await shared.running.call("POST", "/v1/timers/order-close/o-2/fire");
  await page.waitForSelector(".story .event-delivered", soon);
  await page.waitForSelector(".sentence .status-delivered", soon);
  await page.context().close();
});

test("the two plots have one cursor, and a drag zooms in", async () => {
  const page = await shared.browser.open("/console/types/order-close");
  const [upper, lower] = await page.locator(".plot svg").all(), box = await upper.boundingBox();
  const over = (share) => page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  await over(0.75);
  await page.waitForFunction(() => document.querySelector(".says").textContent.includes("due"));
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
  await page.mouse.move(box.x + box.width / 2, 5);
  await page.waitForFunction(() => document.querySelector(".says").textContent.startsWith("Drag"));
  await page.context().close();
});

test("on a phone a forecast begins with the present hour, and its days stay in sight", async () => {
  const page = await shared.browser.open("/console/forecast", { viewport: { width: 390, height: 844 } });
  const hour = page.locator("th[aria-current]"), day = page.locator(".heat tbody th").first();
  const within = async (cell) => { const box = await cell.boundingBox(); return box.x >= 0 && box.x + box.width <= 390; };
  assert.ok(await within(hour) && await within(day));
  const scrolled = (to) => page.evaluate((left) => { document.querySelector(".heat").closest(".wide").scrollLeft = left; }, to);
  for (const [end, column] of [[0, 24], [10_000, 1]]) { // the control: one of both ends is out of sight
    await scrolled(end);
    assert.ok(!(await within(page.locator(`.heat thead th >> nth=${column}`))));
    assert.ok(await within(day));
  }
  await page.context().close();
});

test("the strip says what is grave", async () => {
  const page = await shared.browser.open("/console/health");
  assert.equal(await page.locator(".strip").count(), 0);
  await shared.running.call("POST", "/v1/emergency/pause", { business_types: ["order-close"], note: "prices" });
  await page.waitForSelector('.strip >> text="prices"', soon);
  await shared.running.call("POST", "/v1/emergency/resume", { business_types: ["order-close"] });
  await eventually(async () => (await page.locator(".strip").count()) === 0);
  await page.context().close();
});

test("each load opens the stream", async () => {
  for (let load = 0; load < 25; load++) {
    const page = await shared.browser.open("/console/types");
    await page.waitForFunction(() => document.querySelector("[hx-sse\\:connect]")._htmx?.sse?.status === 200, null, soon);
    await page.context().close();
  }
});

test("keys lead, and none acts", async () => {
  const page = await shared.browser.open("/console/");
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.waitForURL("**/console/timers");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  assert.equal(await page.locator("input[name=row]:checked").count(), 1);
  await page.keyboard.press("?");
  assert.ok(await page.locator("#keys").isVisible());
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "q");
  await page.goto(`${shared.running.url}/console/timers/order-close/o-0`);
  await page.keyboard.press("c");
  assert.ok(await page.locator('form[action$="/cancel"] button').isVisible());
  assert.equal((await shared.running.call("GET", "/v1/timers/order-close/o-0")).status, "scheduled");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".status-cancelled", soon);
  await page.context().close();
});

test("without script a timer is paused, found and moved", async () => {
  await shared.running.book("order-close", "o-3", "1h");
  const page = await shared.browser.open("/console/", { javaScriptEnabled: false });
  await page.fill("#q", "o-3");
  await page.press("#q", "Enter");
  await page.waitForURL("**/console/timers/order-close/o-3");
  await page.click('form[action$="/pause"] summary');
  await page.click('form[action$="/pause"] button');
  await page.waitForSelector(".sentence .status-paused", soon);
  await page.context().close();
});

test("the gateway comes back, and the page lives again", async () => {
  const page = await shared.browser.open("/console/timers");
  const before = shared.browser.wrong.length;
  await shared.running.kill();
  await shared.running.up();
  shared.browser.wrong.splice(before); // a browser says that there was nobody
  await shared.running.book("order-close", "o-4", "1h");
  await page.waitForSelector('text="o-4"', { timeout: 30_000 });
  shared.browser.wrong.splice(before);
  await page.context().close();
});

test("nothing was wrong: no error, no breach of the policy, no request elsewhere", () => {
  assert.deepEqual(shared.browser.wrong, []);
});
