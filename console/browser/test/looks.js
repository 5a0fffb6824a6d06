import assert from "node:assert/strict";
import { compare, moved } from "./layout.js";
import { long } from "./running.js";
import { answered, soon } from "./scene.js";
import { cutOff, violations } from "./seen.js";
import { desk, stranger, phone } from "./watching.js";

/** Each way in which pages are looked at. One that differs in everything from another one is as far behind it as that is from the end. */
const variants = ["light", "dark"].flatMap((colorScheme) =>
  ["en", "zh-CN"].flatMap((locale) => [desk, phone].map((window) => ({ colorScheme, locale, ...window }))),
);

/** All pages, and how one gets there where that takes more than an address. */
const pages = {
  overview: { path: "" },
  timers: { path: "timers" },
  "timers, none found": { rare: true, path: "timers?q=status:expired" },
  "timers, not understood": { rare: true, path: "timers?q=nonsense:x" },
  timer: { path: "timers/order-close/o-paid" },
  "timer, failed": { rare: true, path: "timers/order-close/f-2" },
  "timer, recurring": { rare: true, path: "timers/order-close/o-every" },
  payload: { rare: true, path: "timers/order-close/o-paid/payload" },
  rule: { path: "timers/order-close/o-every/rule" },
  selected: { rare: true, path: "timers?q=type:order-close+status:scheduled", then: select },
  types: { path: "types" },
  type: { path: "types/order-close" },
  plan: { rare: true, path: "types/order-close", then: (page) => page.click('form[action$="/links"] button') },
  test: { rare: true, path: "types/order-close", then: ringOnce },
  jobs: { path: "jobs" },
  job: { path: "jobs/counted" },
  dispatches: { path: "dispatches" },
  dispatch: { path: "dispatches/order-close/d-0" },
  forecast: { path: "forecast?type=order-close" },
  emergency: { path: "emergency" },
  health: { path: "health" },
  audit: { path: "audit" },
  absent: { rare: true, path: "nowhere", status: 404 },
  login: { path: "", signedOut: true, then: (page) => page.waitForSelector("#key") },
};

async function select(page) {
  await page.check("input[name=row] >> nth=0");
  await page.click('button[name=action][value="pause"]');
}

/** The policy of the pages. The tests before them put the same one, or the list of its versions would have another length. */
export const limited = { limits: { callbacks_per_second: 20 } };

/** What the pages are of. */
export function furnish(shared) {
  shared.test("the pages have something to show", async () => {
    const { running } = shared;
    await running.policy("order-close", limited);
    await running.book("order-close", "o-paid", "1h", { payload: { order: 4711 }, labels: { customer: "42" } });
    await running.book("order-close", "o-every", undefined, { recurrence: { every: "24h" } });
    await running.call("POST", "/v1/dispatches", { business_type: "order-close", business_id: "d-0", per_second: 5, delay: "1h", items: [{ id: "i-1" }] });
    await running.listed("order-close", "scheduled", 2); // a job shows what its count has found: the first of these
    await running.call("POST", "/v1/bulk", { id: "counted", operation: "cancel", dry_run: true, filter: { business_type: "order-close", labels: { customer: "42" } } });
    await running.fail("order-close", "f-1", "f-2", "f-3");
    running.status = 200;
    if (long) await counted(shared);
  });
}

/** Waits until the failures are counted: from then on pages have the same parts each night. */
async function counted(shared) {
  const page = await shared.open("/console/types");
  await page.waitForSelector("#strip li", { timeout: 60_000 });
  await page.waitForSelector("td svg.plot", { timeout: 60_000 });
}

/**
 * Every page, as people see it, in every way. In the gate each page is seen in one way and each way with
 * some page, and pages that are like another one are left out.
 */
export function looks(shared) {
  Object.entries(pages).filter(([, page]) => long || !page.rare).forEach(([name, page], n) => {
    variants.filter((_, m) => long || m === (n * 3) % variants.length).forEach((variant) => {
      shared.test(`nothing of a page hinders, or is cut off: ${name}, ${worded(variant)}`, () => look(shared, name, page, variant));
    });
  });

  shared.test("what hinders and what is cut off is seen", async () => {
    const page = await shared.still("/console/emergency");
    await page.evaluate(() => {
      document.querySelector("main").append(document.createElement("img"));
      document.querySelector("h1").style.cssText = "width: 20px; overflow: hidden; white-space: nowrap";
    });
    assert.match((await violations(page)).join(), /^image-alt/);
    assert.match((await cutOff(page)).join(), /^h1/);
    await page.evaluate(() => { document.querySelector("h1").style.cssText = "width: 2000px"; });
    assert.match((await cutOff(page)).join(), /^html/);
  });

  shared.test("what has moved is seen", () => {
    const then = [["h1", 10, 10, 100, 30], ["table", 10, 50, 900, 950]];
    assert.deepEqual(moved(then, then, 1000), []);
    assert.equal(moved([then[0], ["table", 21, 50, 900, 950]], then, 1000).length, 1);
    assert.equal(moved([then[0]], then, 1000).length, 1);
    assert.equal(moved([...then, ["p", 1, 1, 1, 1]], then, 1000).length, 1);
  });

  tastes(shared);
}

const worded = ({ colorScheme, locale, viewport }) => `${colorScheme}, ${locale}, ${viewport.width} px`;

/** The window in which all pages are looked at: another one for each way would cost as much as the look. */
const room = { ...desk, reducedMotion: "reduce" };

/** A zone in which the next hour is of the next day: its times are long. It is that of dark pages. */
function beforeMidnight() {
  const hour = new Date().getUTCHours();
  return `Etc/GMT${hour < 12 ? `+${hour + 1}` : `-${23 - hour}`}`;
}

/** Sends a test event. There is one a second at most, and the look before may have sent one just now. */
async function ringOnce(page, browser) {
  const there = page.url();
  const answer = page.waitForResponse((response) => response.request().method() === "POST");
  await page.click('button[value="callback"]');
  if ((await answer).status() !== 429) return;
  browser.expect(answered(429));
  await browser.visit(page, there);
  await ringOnce(page, browser);
}

async function look({ running, browser }, name, { path, then, status, signedOut }, variant) {
  if (status) browser.expect(answered(status));
  const zone = variant.colorScheme === "dark" ? { timezoneId: beforeMidnight() } : {};
  const page = await browser.blank({ ...room, ...zone, ...(signedOut ? { storageState: stranger } : {}) });
  await page.context().addCookies([{ name: "wakecall-lang", value: variant.locale, url: `${running.url}/console/` }]);
  await page.emulateMedia({ colorScheme: variant.colorScheme });
  await page.setViewportSize(variant.viewport);
  await browser.visit(page, `${running.url}/console/${path}`);
  await then?.(page, browser);
  await page.waitForLoadState();
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight)); // on a phone the actions lie over what is above the end
  assert.equal(await page.getAttribute("html", "lang"), variant.locale);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await cutOff(page), []);
  if (variant.colorScheme === "light") await compare(page, name, variant);
}

/** What people have set in their system, and what they choose at the foot of a page. */
function tastes(shared) {
  const styleOf = (page, what, name) => page.locator(what).first().evaluate((node, name) => getComputedStyle(node)[name], name);

  shared.atNight("where the system paints, what colour alone would say has a border", async () => {
    const page = await shared.open("/console/types/order-close");
    for (const [forcedColors, border] of [["active", "1px"], ["none", "0px"]]) {
      await page.emulateMedia({ forcedColors });
      assert.equal(await styleOf(page, "h1 .mark", "borderTopWidth"), border);
    }
  });

  shared.atNight("nothing moves for those who want that", async () => {
    const page = await shared.open("/console/health");
    for (const [reducedMotion, duration] of [["reduce", "0s"], ["no-preference", "0.1s"]]) {
      await page.emulateMedia({ reducedMotion });
      assert.equal(await styleOf(page, "button", "transitionDuration"), duration);
    }
  });

  shared.test("on a phone a forecast begins with the present hour, and its days stay in sight", async () => {
    const page = await shared.open("/console/forecast", { viewport: { width: 390, height: 844 } });
    const hour = page.locator("th[aria-current]"), day = page.locator(".heat tbody th").first();
    const within = async (cell) => { const box = await cell.boundingBox(); return box.x >= 0 && box.x + box.width <= 390; };
    assert.ok(await within(hour) && await within(day));
    const heat = await page.locator(".wide:has(.heat)").evaluate((wide) => { wide.remove(); return wide.outerHTML; }); // it comes later, as from a slow Temporal
    await page.evaluate((heat) => {
      document.querySelector("main").insertAdjacentHTML("beforeend", heat);
      document.dispatchEvent(new Event("htmx:sse:after:message", { bubbles: true }));
    }, heat);
    assert.ok(await within(hour) && await within(day));
    const scrolled = (to) => page.evaluate((left) => { document.querySelector(".heat").closest(".wide").scrollLeft = left; }, to);
    for (const [end, column] of [[0, 24], [10_000, 1]]) { // the control: one of both ends is out of sight
      await scrolled(end);
      assert.ok(!(await within(page.locator(`.heat thead th >> nth=${column}`))));
      assert.ok(await within(day));
    }
  });

  shared.test("a forecast reckons with another limit as it is typed: 0 and 1,200 as well", async () => {
    const page = await shared.still("/console/forecast?type=order-close"); // what comes is as the policy has it, until it is reckoned anew
    const allLate = () => page.locator(".heat td:has(a)").evaluateAll((cells) => cells.map((cell) => cell.matches(".late")));
    await page.waitForSelector(".heat td a", soon);
    const before = await page.textContent(".sentence");
    for (const [typed, said, late] of [["0", "nothing is let through", true], ["1,200", "With a limit of 1,200 a second, none is late", false], ["0.0", "nothing is let through", true]]) {
      await page.fill("input[name=limit]", typed);
      await page.waitForSelector(`.sentence:has-text("${said}")`, soon);
      assert.deepEqual(new Set(await allLate()), new Set([late]));
      assert.doesNotMatch(await page.getAttribute(".heat td a", "title"), /late|∞/);
    }
    const steps = await page.locator(".heat").evaluate((heat) => { // what a dispatch cannot send at once it sends later
      const { steps } = heat.dataset;
      heat.dataset.steps = "0,60,0,600 0,60,10,0";
      return steps;
    });
    await page.fill("input[name=limit]", "1");
    await page.waitForSelector('.sentence:has-text("The last one is 40 sec late")', soon);
    await page.locator(".heat").evaluate((heat, steps) => { heat.dataset.steps = steps; }, steps);
    for (const nothing of ["", " ", "1,5", "soon"]) {
      await page.fill("input[name=limit]", "0.0");
      await page.waitForSelector('.sentence:has-text("nothing is let through")', soon);
      await page.fill("input[name=limit]", nothing); // it asks for no limit: that of the policy holds
      assert.equal(await page.textContent(".sentence"), before);
      assert.deepEqual(new Set(await allLate()), new Set([false]));
    }
  });

  shared.test("the table of types fits on a desk, and none of its numbers breaks", async () => {
    const page = await shared.still("/console/types");
    for (const lang of ["en", "zh-CN"]) {
      await shared.browser.visit(page, `${shared.running.url}/console/types?lang=${lang}`);
      await page.evaluate(() => {
        const [name, state, ...more] = document.querySelector(".cards tbody tr").children;
        name.firstChild.textContent = "a-very-long-name-of-a-business-type";
        state.firstChild.textContent = document.documentElement.lang === "en" ? "emergency pause" : "紧急暂停";
        state.firstChild.className = "mark";
        for (const [n, text] of Object.entries(["1,000,000", "3,000", "3,000", "1,000.5 / 1,200", "100.00 %", "1,000", "", "3,000 due, 9 min 59 s late, at 17:45:00"])) if (text) more[n].textContent = text;
      });
      const scrolls = () => page.locator(".wide").evaluate((wide) => wide.scrollWidth > wide.clientWidth);
      const broken = () => page.locator(".cards td.number").evaluateAll((cells) => cells.filter((cell) => {
        const lines = document.createRange();
        lines.selectNodeContents(cell);
        return new Set([...lines.getClientRects()].map((line) => line.y)).size > 1;
      }).length);
      assert.equal(await scrolls(), false, lang);
      assert.equal(await broken(), 0, lang);
      await page.evaluate(() => { document.querySelector(".wide").style.width = "600px"; }); // the controls
      assert.equal(await scrolls(), true);
      await page.locator(".cards td.number").first().evaluate((cell) => { cell.style.cssText = "display: block; width: 4ch; white-space: normal"; });
      assert.equal(await broken(), 1);
    }
  });

  shared.test("on a phone the longest name of a type fits into its row", async () => {
    const page = await shared.still("/console/forecast", phone);
    const long = (within) => page.locator(".row select").evaluate((select, within) => {
      select.options[0].textContent = "w".repeat(63);
      select.closest("label").style.maxWidth = within;
    }, within);
    await long("");
    assert.deepEqual(await cutOff(page), []);
    await long("none"); // the control
    assert.notDeepEqual(await cutOff(page), []);
  });

  shared.atNight("a theme and a language that are chosen win over the system's", async () => {
    const page = await shared.open("/console/health", { colorScheme: "light", locale: "en" });
    await page.click("button[name=theme][value=dark]");
    await page.waitForSelector("html.theme-dark");
    await page.click('button[name=lang][value="zh-CN"]');
    await page.waitForSelector('html[lang="zh-CN"].theme-dark');
    assert.equal(await styleOf(page, "html", "colorScheme"), "dark");
  });
}
