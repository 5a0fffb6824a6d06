import assert from "node:assert/strict";
import { hands } from "./hand.js";
import { eventually, long } from "./running.js";
import { soon } from "./scene.js";
import { desk, phone } from "./watching.js";

const failed = ["f-1", "f-2", "f-3"];

/** The minute of an alert, as its link names it: that in which timers failed last. */
const minute = ({ failedAt }) => failedAt.toISOString().slice(11, 16);

/** Where people come from: the way to the type, and to the button that pauses it. */
const starts = {
  alert: { path: (running) => `/console/types/order-close?at=${minute(running)}`, toType: [], pauses: '.actions form[action$="/pause"]' },
  overview: { path: () => "/console/", toType: ['#row-order-close th a'], pauses: '#row-order-close form[action$="/pause"]' },
};

/** What people want at three in the morning: what to press, what to confirm, and how it is known to be done. */
const goals = {
  "the failing attempt": {
    press: (start) => [...start.toType, '[aria-labelledby="failures"] td a'],
    done: ({ page }) => page.waitForSelector('.story .attempt:has-text("HTTP 503")', soon),
  },
  paused: {
    press: (start) => [`${start.pauses} summary`],
    confirm: (start) => `${start.pauses} button`,
    done: async ({ page, running }) => {
      await page.waitForSelector("#said .done", soon);
      const { paused } = await running.call("GET", "/v1/emergency");
      assert.deepEqual(paused.map((one) => one.business_type), ["order-close"]);
      await running.call("POST", "/v1/emergency/resume", { business_types: ["order-close"] });
    },
  },
  "moved to the second link": {
    press: (start) => [...start.toType, 'form[action$="/links"] button'],
    confirm: () => 'button[name="sure"]',
    done: async ({ page, running }) => {
      await page.waitForSelector("#said .done", soon);
      const { callback } = await running.call("GET", "/v1/policies/order-close");
      assert.equal(callback.url, `${running.callback}second`);
      await running.policy("order-close");
      // Pages look every other second. What one shows of before would be refused.
      await page.goto(`${running.url}/console/types/order-close`);
      await eventually(async () => {
        await page.reload();
        return (await page.locator('form input[name="url"]').inputValue()) === running.callback;
      });
    },
  },
  redelivered: {
    press: (start) => [...start.toType, '[aria-labelledby="failures"] form[action="/console/jobs"] button'],
    confirm: () => 'form[action$="/go"] button',
    done: async ({ page, running }) => {
      await page.waitForURL(/-go$/, soon);
      await page.waitForSelector("h1 .status-done", soon);
      const all = () => Promise.all(failed.map((id) => running.timer("order-close", id)));
      await eventually(async () => (await all()).every((timer) => running.called.includes(timer.webhook_id) && timer.status === "failed"));
      await running.listed("order-close", "failed", failed.length);
      running.failedAt = new Date();
    },
  },
};

/** Presses and confirms what leads to a goal, and counts. */
async function reach(running, goal, start, hand) {
  for (const one of goal.press(start)) await hand.press(one);
  if (goal.confirm) await hand.confirm(goal.confirm(start));
  await goal.done({ page: hand.page, running });
  assert.ok(hand.pressed <= 2, `${hand.pressed} clicks`);
  assert.ok(hand.confirmed <= 1, `${hand.confirmed} confirmations`);
}

/** Each goal from each start, with each hand. In the gate each goal is reached in one way: the failing attempt by its minute. */
const ways = Object.keys(goals).flatMap((goal) =>
  Object.keys(starts).flatMap((start) => Object.keys(hands).map((hand) => ({ goal, start, hand }))),
);
const gate = {
  paused: "alert, keyboard",
  "moved to the second link": "alert, thumb",
  redelivered: "overview, mouse",
};
const inGate = ({ goal, start, hand }) => gate[goal] === `${start}, ${hand}`;

/** Three in the morning: from an alert, and from the overview, to what has failed and to what mends it. */
export function mending(shared) {
  // This comes first: the failures have another minute once they were redelivered.
  shared.test("the failing minute leads to the failing attempt within two clicks", async () => {
    const hand = new hands.mouse(await shared.open(starts.alert.path(shared.running)));
    await hand.press('.plot a:has(title:text-matches("[1-9][0-9]* failed"))');
    await hand.press("main tbody tr:has(.status-failed) th a");
    await goals["the failing attempt"].done(hand);
  });

  for (const { goal, start, hand } of ways.filter((way) => long || inGate(way))) {
    shared.test(`${goal} from the ${start} within two clicks, by ${hand}`, async () => {
      Object.assign(shared.running, { status: 503, called: [] });
      const page = await shared.open(starts[start].path(shared.running), hand === "thumb" ? phone : desk);
      await reach(shared.running, goals[goal], starts[start], new hands[hand](page));
    });
  }

  shared.atNight("on a phone what can be done is in reach of a thumb", async () => {
    for (const path of ["/console/types/order-close", "/console/timers/order-close/f-1"]) {
      const page = await shared.open(path, phone);
      const { y, height } = await page.locator(".actions").boundingBox();
      assert.ok(y > phone.viewport.height / 2 && y + height <= phone.viewport.height, `${path}: at ${y}, ${height} high`);
    }
  });
}
