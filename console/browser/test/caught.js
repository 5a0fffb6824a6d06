import assert from "node:assert/strict";
import { eventually } from "./running.js";

/** What no page may do, done by one. A breach of the policy is an error on the console too. */
const sins = {
  console: (page) => page.evaluate(() => console.error("wrong")),
  error: (page) => page.evaluate(() => { setTimeout(() => { throw new Error("wrong"); }); }),
  policy: (page) => page.evaluate(() => { document.head.append(Object.assign(document.createElement("style"), { textContent: "p { color: red }" })); }),
  elsewhere: (page, { callback }) => page.goto(callback).catch(() => 0),
};

/** The negative control of what all tests share: it sees each kind of what no page may do. */
export function caught(shared) {
  shared.test("a page that does wrong is caught, whatever it does", async () => {
    const page = await shared.open("/console/health");
    for (const [kind, sin] of Object.entries(sins)) {
      assert.ok(!shared.browser.noted(kind), kind);
      await sin(page, shared.running);
      await eventually(() => shared.browser.noted(kind));
    }
    const kinds = (await shared.browser.settle()).map((wrong) => wrong.kind);
    assert.deepEqual(new Set(kinds), new Set(Object.keys(sins)));
  });

  shared.test("what is expected and does not come is caught", async () => {
    shared.browser.expect(/wrong/);
    assert.deepEqual((await shared.browser.settle()).map((wrong) => wrong.kind), ["missing"]);
  });
}
