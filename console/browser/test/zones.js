import assert from "node:assert/strict";
import { eventually } from "./running.js";
import { soon } from "./scene.js";

/** Someone in a zone that no server of ours is in. */
const tokyo = { timezoneId: "Asia/Tokyo" };
const clock = new Intl.DateTimeFormat("en", { timeStyle: "medium", hourCycle: "h23", timeZone: tokyo.timezoneId });

/**
 * The instants in a part of a page, once it has some: each in the zone of who looks, and in UTC for those who
 * point at it. A loaded page does not wait for what its plots show.
 */
async function times(page, part) {
  await page.waitForSelector(`${part} time`, { state: "attached", ...soon });
  const all = await page.locator(`${part} time`).evaluateAll((found) => found.map(({ dateTime, textContent, title }) => ({ dateTime, textContent, title })));
  assert.notEqual(all.length, 0, part);
  for (const { dateTime, textContent, title } of all) {
    assert.ok(textContent.endsWith(clock.format(new Date(dateTime))), `${part}: ${textContent} for ${dateTime}`);
    assert.equal(title, `${dateTime.slice(0, 19).replace("T", " ")} UTC`);
  }
  assert.doesNotMatch((await page.locator(part).allInnerTexts()).join(), /UTC/, part);
  return all;
}

/** Pages say times in the zone of who looks. What the server sends is for readers in all zones. */
export function zones(shared) {
  const { test } = shared;
  const emergency = (what) => shared.running.call("POST", `/v1/emergency/${what}`, { business_types: ["order-close"], note: "zones" });

  test("a page has one zone: that of who looks, also in what comes later", async () => {
    await shared.running.book("order-close", "z-1", "1h");
    await shared.running.call("POST", "/v1/timers/order-close/z-1/pause");
    const page = await shared.open("/console/timers/order-close/z-1", tokyo);
    await times(page, ".story");
    await times(page, '[aria-labelledby="why"]');
    await emergency("pause");
    await page.waitForSelector('#strip li:has-text("zones")', soon);
    await times(page, "#strip");
    await shared.browser.visit(page, `${shared.running.url}/console/types`);
    await page.waitForSelector("#row-order-close .state-emergency", soon);
    await times(page, '#row-order-close [data-label="State"]');
    await emergency("resume");
    await page.waitForSelector("#row-order-close .state-emergency", { state: "detached", ...soon }); // other tests are without it
    await shared.running.call("DELETE", "/v1/timers/order-close/z-1");
  });

  test("the cursor of the plots says the time of their axis, and so does the table", async () => {
    const page = await shared.open("/console/types/order-close", tokyo);
    await times(page, "#plots .xs");
    const agrees = ([tick, x]) => {
      const says = document.querySelector(".says").textContent, time = document.querySelectorAll("#plots .xs time")[tick].textContent;
      return says.startsWith(`${time} GMT+9: `) && says === document.querySelector(`.hit[x="${x}"]`).textContent;
    };
    for (const at of [0, 250, 500, 750].entries()) {
      await page.locator(`.plot .hit[x="${at[1]}"]`).first().hover({ force: true });
      await eventually(() => page.evaluate(agrees, at)); // they are drawn again now and then
    }
    await page.click("#plots summary");
    await times(page, "#plots tbody");
    const from = Date.now() - 3_600_000;
    await shared.browser.visit(page, `${shared.running.url}/console/?range=${new Date(from).toISOString()}..${new Date(from + 7_200_000).toISOString()}`);
    await times(page, "#plots figcaption");
  });

  test("a forecast has hours of UTC and says so, and each of them says when it is", async () => {
    const page = await shared.open("/console/forecast?type=order-close", tokyo);
    assert.match(await page.innerText("main"), /Days and hours are those of UTC\./);
    const href = await page.locator(".heat a").last().getAttribute("href"); // of a recurring timer: none before it comes or goes
    const cell = page.locator(`.heat a[href="${href}"]`);
    const hour = new URL(href, page.url()).searchParams.get("q").match(/due:(\S+)\.\./)[1];
    const when = `${clock.format(new Date(hour))} GMT+9: `;
    assert.ok((await cell.getAttribute("title")).includes(when));
    await page.fill("[name=limit]", "0.0001");
    assert.match(await cell.getAttribute("title"), new RegExp(`${when.replace("+", "\\+")}.*, .* late$`));
  });
}
