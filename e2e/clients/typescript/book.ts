// Books a timer by the client that openapi-typescript makes of the document.
import createClient from "openapi-fetch";
import type { components, paths } from "./wakecall.js";

const [baseUrl, businessType, url] = process.argv.slice(2) as [string, string, string];
const client = createClient<paths>({ baseUrl });

const timer: components["schemas"]["NewTimer"] = {
  business_type: businessType,
  business_id: "typescript",
  delay: "10ms",
  payload: { order: 4711 },
  callback: { url, timeout: "5s" },
  retry: { steps: ["1s", "2s"] },
};

// The types are there: without them, these lines would be in order.
// @ts-expect-error a duration is a text
export const seconds: components["schemas"]["NewTimer"] = { ...timer, delay: 90 };
// @ts-expect-error a field that is not known
export const misspelt: components["schemas"]["NewTimer"] = { business_type: businessType, business_id: "1", dealy: "90s" };
// @ts-expect-error a URL is a text
export const nowhere: components["schemas"]["NewTimer"] = { ...timer, callback: { url: 1 } };

// Nothing but the receiver must be said.
export const policy: components["schemas"]["NewPolicy"] = { callback: { url } };
export const again: components["schemas"]["Recurrence"] = { every: "1h" };
export function told(event: components["schemas"]["AlertEvent"]): string {
  return event.type === "timer.failed" ? event.data.business_id : event.data.business_type;
}

const booked = await client.POST("/v1/timers", { body: timer });
if (booked.data === undefined) throw new Error(booked.error.detail);
const shown = await client.GET("/v1/timers/{type}/{id}", {
  params: { path: { type: businessType, id: booked.data.business_id } },
});
if (shown.data === undefined) throw new Error(shown.error.detail);
console.log(`${booked.response.status} ${shown.data.webhook_id}`);
