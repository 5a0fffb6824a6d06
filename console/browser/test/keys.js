import assert from "node:assert/strict";
import { soon } from "./scene.js";

const focused = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.href || document.activeElement.tagName);

/** What keys must not mistake for the row that has the focus. Pages look rarely, so it is there some time before. */
export function second(shared) {
  shared.test("there is a second type, which is paused", async () => {
    await shared.running.policy("slowpoke");
    await shared.running.call("POST", "/v1/emergency/pause", { business_types: ["slowpoke"] });
  });
}

/** Keys lead to what has to be pressed, and none acts by itself. */
export function keys(shared) {
  const press = async (page, ...all) => {
    for (const key of all) await page.keyboard.press(key);
  };

  shared.test("keys lead from page to page, along the rows and into one", async () => {
    const page = await shared.open("/console/types");
    await press(page, "g", "o");
    await page.waitForURL("**/console/");
    await press(page, "g", "t");
    await page.waitForURL("**/console/timers");
    await press(page, "/");
    assert.equal(await focused(page), "q");
    await press(page, "Escape", "j");
    const first = await focused(page);
    await press(page, "j");
    assert.notEqual(await focused(page), first);
    await press(page, "k", "x");
    assert.equal(await focused(page), first);
    assert.equal(await page.locator("input[name=row]:checked").count(), 1);
    const href = await page.evaluate(() => document.activeElement.href);
    await press(page, "Enter");
    await page.waitForURL(href);
  });

  shared.test("the help is a dialog, and gives the focus back", async () => {
    const page = await shared.open("/console/timers");
    await press(page, "j");
    const before = await focused(page);
    await press(page, "?");
    assert.ok(await page.locator("#keys").isVisible());
    assert.ok(await page.evaluate(() => document.getElementById("keys").contains(document.activeElement)));
    await press(page, "Escape");
    assert.ok(await page.locator("#keys").isHidden());
    assert.equal(await focused(page), before);
    await page.click('form[action$="/preferences"] legend'); // away from the row
    await press(page, "?");
    await page.click("#keys button");
    assert.ok(await page.locator("#keys").isHidden());
  });

  for (const [key, id, action] of [["p", "o-paid", "pause"], ["c", "o-paid", "cancel"], ["r", "f-2", "redeliver"]]) {
    shared.test(`the key ${key} leads to what confirms it, and does nothing`, async () => {
      const before = await shared.running.timer("order-close", id);
      const page = await shared.open(`/console/timers/order-close/${id}`);
      await press(page, key);
      const form = await page.evaluate(() => document.activeElement.form?.action);
      assert.ok(form?.endsWith(`/${id}/${action}`), form);
      assert.ok(await page.locator(`form[action$="/${action}"] button`).isVisible());
      assert.deepEqual(await shared.running.timer("order-close", id), before);
    });
  }

  shared.test("a key means the row that has the focus, and what it leads to names it", async () => {
    const lead = async (page) => {
      await press(page, "p");
      return page.evaluate(() => { const { form } = document.activeElement; return form && [form.getAttribute("action"), form.querySelector("button").textContent]; });
    };
    const types = await shared.open("/console/types");
    await types.waitForSelector("#row-slowpoke form[action$=resume]", { timeout: 2 * soon.timeout });
    assert.equal(await lead(types), undefined, "two types, and neither is meant");
    await types.focus("#row-slowpoke th a");
    assert.deepEqual(await lead(types), ["/console/types/slowpoke/resume", "Resume slowpoke"]);
    await types.focus("#row-order-close th a");
    assert.deepEqual(await lead(types), ["/console/types/order-close/pause", "Yes, pause order-close"]);
    const emergency = await shared.open("/console/emergency");
    assert.deepEqual(await lead(emergency), ["/console/emergency/pause", "Pause everything"]);
    await press(emergency, "Escape", "j");
    assert.deepEqual(await lead(emergency), ["/console/emergency/resume", "Resume slowpoke"]);
    await shared.running.call("POST", "/v1/emergency/resume", { business_types: ["slowpoke"] });
    await shared.running.call("DELETE", "/v1/policies/slowpoke");
  });

  shared.test("the key r leads to the failures of a type", async () => {
    const page = await shared.open("/console/types/order-close");
    await page.waitForSelector('form[action="/console/jobs"] button', soon);
    await press(page, "r");
    assert.equal(await page.evaluate(() => document.activeElement.form?.elements.operation?.value), "redeliver");
  });

  shared.test("what is copied can be pasted", async () => {
    const page = await shared.open("/console/timers/order-close/o-paid");
    const command = await page.textContent("dd:has([data-copy]) code >> nth=0");
    await page.click("[data-copy] >> nth=0");
    await page.waitForSelector("[data-copy].copied");
    await press(page, "/", "Control+v");
    assert.equal(await page.inputValue("#q"), command);
  });

  shared.test("keys lead along the rows that are seen, below the plots too", async () => {
    for (const [path, row] of [["/console/", "#row-order-close"], ["/console/types/order-close", '[aria-labelledby="failures"] tr']]) {
      const page = await shared.open(path);
      await page.waitForSelector(".plots details td", { state: "attached", ...soon });
      await page.waitForSelector(`${row}:first-child`, soon); // a type that was paused is above it for a moment
      await press(page, "j");
      assert.ok(await page.locator(row).evaluateAll((rows) => rows.some((one) => one.contains(document.activeElement))), path);
    }
  });

  shared.test("what a key leads to is confirmed by Enter", async () => {
    await shared.running.book("order-close", "k-1", "1h");
    const page = await shared.open("/console/timers/order-close/k-1");
    await press(page, "c", "Enter");
    await page.waitForSelector(".sentence .status-cancelled", soon);
  });

  shared.test("keys are switched off, and on again", async () => {
    const page = await shared.open("/console/timers");
    await page.click('button[name=keys][value=off]');
    await page.waitForSelector("html.scripted[data-keys=off]");
    const before = await focused(page);
    await press(page, "?", "j", "/", "g", "o");
    assert.equal(await focused(page), before);
    assert.ok(await page.locator("#keys").isHidden());
    assert.equal(new URL(page.url()).pathname, "/console/timers");
    await page.click('button[name=keys][value=on]');
    await page.waitForSelector("html.scripted:not([data-keys])");
    await press(page, "/");
    assert.equal(await focused(page), "q");
  });
}
