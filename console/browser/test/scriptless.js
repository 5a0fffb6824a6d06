import assert from "node:assert/strict";
import { eventually } from "./running.js";
import { signIn, soon } from "./scene.js";
import { desk, stranger } from "./watching.js";

const without = { ...desk, javaScriptEnabled: false };

/** A broken script never stands between an operator and what has to be pressed. */
export function scriptless(shared) {
  const status = async (id) => (await shared.running.timer("order-close", id)).status;

  shared.test("without script one signs in, and is led to where one wanted to go", async () => {
    const page = await shared.open("/console/types", { ...without, kept: false, storageState: stranger });
    assert.equal(await page.locator("#q").count(), 0);
    await signIn(page, shared.running.key);
    assert.equal(new URL(page.url()).pathname, "/console/types");
  });

  shared.test("without script a timer is found, paused and cancelled", async () => {
    await shared.running.book("order-close", "s-1", "1h");
    const page = await shared.open("/console/", without);
    await page.fill("#q", "order-close/s-1");
    await page.press("#q", "Enter");
    await page.waitForURL("**/console/timers/order-close/s-1");
    await page.click('form[action$="/pause"] summary');
    await page.click('form[action$="/pause"] button');
    await page.waitForSelector(".sentence .status-paused", soon);
    assert.equal(await status("s-1"), "paused");
    await page.click('form[action$="/cancel"] summary');
    await page.click('form[action$="/cancel"] button');
    await page.waitForSelector(".sentence .status-cancelled", soon);
    assert.equal(await status("s-1"), "cancelled");
  });

  shared.test("without script a search finds what has failed, and it is redelivered", async () => {
    const page = await shared.open("/console/timers?q=type:order-close+status:failed", without);
    await page.click('a:has-text("f-3")');
    shared.running.status = 200;
    await page.click('form[action$="/redeliver"] button');
    await page.waitForSelector("#said .done", soon);
    await eventually(async () => (await status("f-3")) === "delivered");
  });

  shared.atNight("without script a type is paused and goes on, and a count leads to a job", async () => {
    const page = await shared.open("/console/types/order-close", without);
    await page.click('.actions form[action$="/pause"] summary');
    await page.click('.actions form[action$="/pause"] button');
    await page.waitForSelector("h1 .state-emergency", soon);
    await page.click('.actions form[action$="/resume"] button');
    await page.waitForSelector("h1 .mark:not(.state-emergency)", soon);
    assert.deepEqual((await shared.running.call("GET", "/v1/emergency")).paused, []);
    await shared.browser.visit(page, `${shared.running.url}/console/timers?q=type:order-close+status:scheduled`);
    await page.click('details:has(> form[action="/console/jobs"]) summary');
    await page.click('form[action="/console/jobs"] button');
    await page.waitForSelector('form[action$="/go"]', soon); // the page is shown anew by itself
  });
}
