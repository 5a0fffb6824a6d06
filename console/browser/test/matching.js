import assert from "node:assert/strict";
import { long } from "./running.js";
import { answered, soon } from "./scene.js";

const many = long ? 5000 : 30;

/** Above how many the number that was counted must be typed. */
const typedAbove = 100;

/** How many of them change in a second: it takes some seconds, in which one changes otherwise. */
const perSecond = many / 10;

/** What is done with all that match a search. */
export function matching(shared) {
  shared.test(`all ${many} that match are counted, moved, and the one that ended meanwhile is reported`, async () => {
    await shared.running.policy("coupon-expire");
    await shared.running.bookMany("coupon-expire", many);
    const page = await shared.open("/console/timers?q=type:coupon-expire+status:scheduled");
    await count(page);
    assert.match(await page.textContent("#go"), new RegExp(`^${many.toLocaleString("en")} `));
    assert.equal(await page.locator("#go ~ ul li").count(), 10);
    await carryOut(shared, page);
    await endTwo(shared);
    await page.waitForURL(/-go$/);
    await page.waitForSelector("h1 .status-done", { timeout: long ? 600_000 : 120_000 });
    await reported(shared, page);
  });
}

const jobOf = (page) => new URL(page.url()).pathname.split("/").at(-1);

/** Counts those that a list shows, to move them. */
async function count(page) {
  const all = page.locator('details:has(> form[action="/console/jobs"])');
  await all.locator("summary").click();
  await all.locator("select").selectOption("move");
  await all.locator("[name=shift]").fill("2h");
  await all.locator("button").click();
  await page.waitForSelector('form[action$="/go"]', soon);
}

/** Goes on: where there are many, only with the number that was counted. */
async function carryOut(shared, page) {
  if (many > typedAbove) await mistype(shared, page);
  await page.fill("[name=per_second]", String(perSecond));
  await page.click('form[action$="/go"] button');
}

async function mistype(shared, page) {
  shared.browser.expect(answered(422));
  await page.fill("[name=number]", "7");
  await page.click('form[action$="/go"] button');
  await page.waitForSelector('form[action$="/go"] .problem', soon);
  await page.fill("[name=number]", String(many));
}

/**
 * Cancels the first and the last of the list behind the page, while the job works: it has not been at both. It
 * takes the list that was counted.
 */
async function endTwo({ running }) {
  await Promise.all([0, many - 1].map((n) => running.call("DELETE", `/v1/timers/coupon-expire/n-${n}`)));
}

/** The page counts what was left alone, and its results name it, with the reason. */
async function reported({ running }, page) {
  const job = await running.call("GET", `/v1/bulk/${jobOf(page)}`);
  assert.ok(job.skipped >= 1, "one had ended before its turn");
  assert.deepEqual([job.done + job.skipped, job.failed], [many, 0]);
  const shown = await page.locator("dl dd").allTextContents();
  for (const number of [job.done, job.skipped]) assert.ok(shown.includes(number.toLocaleString("en")), `${number} in ${shown}`);
  const results = await page.context().request.get(running.url + (await page.getAttribute("a[download]", "href")));
  const lines = (await results.text()).trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines.length, many);
  const left = lines.filter((line) => line.result === "skipped");
  assert.deepEqual(new Set(left.map((line) => line.code)), new Set(["already-finished"]));
}
