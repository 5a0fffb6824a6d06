import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { long, Running } from "./running.js";
import { Browser } from "./watching.js";

/** How long a test waits for what a page is to show, in milliseconds: a busy machine is slow, and how long it took is said. */
export const soon = { timeout: 60_000 };

/** What a browser says of an answer with a status that a test provokes. */
export const answered = (status) => new RegExp(`status of ${status}`);

/**
 * What the tests of a file share, from before the first to after the last. Each test fails where a page
 * did what none may do.
 */
export function scene(settings) {
  const shared = {};
  before(async () => {
    shared.running = await Running.start(settings);
    shared.browser = await Browser.start(shared.running.url);
    shared.browser.state = await signedIn(shared);
  });
  after(async () => {
    await shared.browser?.close();
    await shared.running?.remove();
  });
  shared.open = (...what) => shared.browser.open(...what);
  shared.still = (...what) => still(shared, ...what);
  shared.test = (name, body) =>
    test(name, async (t) => {
      try {
        await body(t);
      } catch (error) {
        t.diagnostic(`its pages: ${await shared.browser.pictures()}`);
        for (const { kind, text } of await shared.browser.settle()) t.diagnostic(`${kind}: ${text}`);
        throw error;
      }
      assert.deepEqual(await shared.browser.settle(), []);
    });
  // What costs more than the gate can give, or is much like what it sees anyway, is left to the night.
  shared.atNight = (...what) => long && shared.test(...what);
  return shared;
}

/** Opens a page whose stream is over at once: it stays as it is, whatever happens behind it. */
async function still({ browser, running }, path, options) {
  const page = await browser.blank(options);
  await page.route("**/console/live*", (route) => route.fulfill({ contentType: "text/event-stream", body: "event: over\ndata:\n\n" }));
  await browser.visit(page, running.url + path);
  return page;
}

/** Signs in by the page for that, and returns the cookies. */
async function signedIn({ running, browser }) {
  const page = await browser.open("/console/", {});
  await signIn(page, running.key);
  const state = await page.context().storageState();
  assert.deepEqual(await browser.settle(), []);
  return state;
}

export async function signIn(page, key) {
  await page.fill("#key", key);
  await page.click('form[action="/console/login"] button');
  await page.waitForSelector("#q");
}
