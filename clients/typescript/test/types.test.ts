import assert from "node:assert/strict";
import { test } from "node:test";
import type { components } from "../src/openapi.js";

type NewTimer = components["schemas"]["NewTimer"];

const timer: NewTimer = {
  business_type: "order",
  business_id: "1",
  delay: "10ms",
  payload: { order: 4711 },
  callback: { url: "https://example.com/", timeout: "5s" },
  retry: { steps: ["1s", "2s"] },
};

// The types are there: without them, these lines would be in order.
// @ts-expect-error a duration is a text
const seconds: NewTimer = { ...timer, delay: 90 };
// @ts-expect-error a field that is not known
const misspelt: NewTimer = { business_type: "order", business_id: "1", dealy: "90s" };
// @ts-expect-error a URL is a text
const nowhere: NewTimer = { ...timer, callback: { url: 1 } };

// Nothing but the receiver must be said.
const policy: components["schemas"]["NewPolicy"] = { callback: { url: "https://example.com/" } };
const again: components["schemas"]["Recurrence"] = { every: "1h" };

function told(event: components["schemas"]["AlertEvent"]): string {
  return event.type === "timer.failed" ? event.data.business_id : event.data.business_type;
}

test("the types of the document hold what is written in them", () => {
  assert.equal(told.length, 1);
  for (const body of [timer, seconds, misspelt, nowhere, policy, again]) {
    assert.ok(JSON.stringify(body).length > 2);
  }
});
