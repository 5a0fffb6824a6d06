import assert from "node:assert/strict";
import { eventually } from "./running.js";
import { answered, soon } from "./scene.js";

/** What people are told whose change comes too late: its timer, or its policy, was changed behind their page. */
export function conflicts(shared) {
  shared.test("who changes what was changed meanwhile is shown that, and asked again", async () => {
    await shared.running.book("order-close", "m-1", "1h");
    const page = await shared.open("/console/timers/order-close/m-1");
    await page.click('form[action$="/move"] summary');
    await page.fill('form[action$="/move"] input[name=delay]', "3h");
    const { due_at: moved } = await shared.running.call("PATCH", "/v1/timers/order-close/m-1", { delay: "2h" });
    shared.browser.expect(answered(412));
    await page.click('form[action$="/move"] button');
    await page.waitForSelector('.problem + p:has-text("changed meanwhile")', soon);
    assert.match(await page.textContent(".problem ~ .story"), /changed/);
    assert.equal((await shared.running.timer("order-close", "m-1")).due_at, moved);
    assert.equal(await page.inputValue('form[action$="/move"] input[name=delay]'), "3h");
    await page.click('form[action$="/move"] button');
    await page.waitForSelector("#said .done", soon);
    assert.ok((await shared.running.timer("order-close", "m-1")).due_at > moved);
  });

  shared.test("what an answer to a form could not read comes later", async () => {
    await shared.running.book("order-close", "m-3", "1h");
    const path = "/console/timers/order-close/m-3", story = 'section[aria-labelledby="story"]';
    const page = await shared.still(path);
    await page.click('form[action$="/move"] summary');
    await page.fill('form[action$="/move"] input[name=delay]', "soon");
    shared.browser.expect(answered(422));
    await page.click('form[action$="/move"] button');
    await page.waitForSelector(".problem", soon);
    shared.browser.expect(answered(503)); // what still cannot be read leaves the part as it is
    await page.route(`**${path}`, (route) => route.fulfill({ status: 503, body: "" }), { times: 1 });
    await page.locator(story).evaluate((part, path) => { // as where Temporal is slow
      part.innerHTML = `<h2 id="story"></h2><p hx-get="${path}" hx-trigger="again" hx-target="closest section" hx-select="[aria-labelledby=story]" hx-swap="outerHTML"></p>`;
      window.htmx.process(part);
    }, path);
    await page.waitForSelector(`${story} .event-booked`, soon);
    assert.equal(await page.inputValue('form[action$="/move"] input[name=delay]'), "soon");
  });

  shared.test("who cancels what was delivered meanwhile is told that the delivery came first", async () => {
    await shared.running.book("order-close", "m-2", "1h");
    const page = await shared.still("/console/timers/order-close/m-2");
    await page.click('form[action$="/cancel"] summary');
    shared.running.status = 200;
    await shared.running.call("POST", "/v1/timers/order-close/m-2/fire");
    await eventually(async () => (await shared.running.timer("order-close", "m-2")).status === "delivered");
    shared.browser.expect(answered("4(09|12)"));
    await page.click('form[action$="/cancel"] button');
    await page.waitForSelector('.problem + p:has-text("The delivery came first")', soon);
  });

  shared.atNight("what is redelivered twice is refused in the words of the API", async () => {
    const page = await shared.still("/console/timers/order-close/f-1");
    shared.running.status = 200;
    await shared.running.call("POST", "/v1/timers/order-close/f-1/redeliver");
    await eventually(async () => (await shared.running.timer("order-close", "f-1")).status === "delivered");
    shared.browser.expect(answered(409));
    await page.click('form[action$="/redeliver"] button');
    await page.waitForSelector(".problem + p", soon);
  });

  shared.atNight("who changes a policy that was changed meanwhile is shown what it is to change now", async () => {
    const page = await shared.open("/console/types/order-close");
    await page.fill('form[action$="/edit"] input[name=priority]', "2");
    await shared.running.policy("order-close", { priority: 4 });
    shared.browser.expect(answered(412));
    await page.click('form[action$="/edit"] button');
    await page.waitForSelector(".problem", soon);
    assert.match(await page.textContent(".problem ~ .story"), /changed by .*\/priority/s);
    assert.equal((await shared.running.call("GET", "/v1/policies/order-close")).priority, 4);
    assert.equal(await page.inputValue('form[action$="/edit"] input[name=priority]'), "2", "what was typed stays");
    await page.click('form[action$="/edit"] button');
    await page.waitForSelector("del", soon);
    assert.equal(await page.textContent("del"), "4");
    assert.equal(await page.textContent("ins"), "2");
    await shared.running.policy("order-close");
  });
}
