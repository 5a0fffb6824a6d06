// Verifies a callback with the official Standard Webhooks library, which takes a
// body for text; one that is not UTF-8 by hand.
import { createHmac, timingSafeEqual } from "node:crypto";
import { Webhook } from "standardwebhooks";

const secret = process.env.SECRET;

function byLibrary(headers, body) {
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

function byHand(headers, body) {
  const id = headers["webhook-id"], timestamp = headers["webhook-timestamp"];
  if (!id || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const want = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return (headers["webhook-signature"] ?? "").split(" ").some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ""), "base64");
    return signature.startsWith("v1,") && given.length === want.length && timingSafeEqual(given, want);
  });
}

// verify is how a body was verified, "wrong", or "" where there is no secret.
export function verify(headers, body) {
  if (!secret) return "";
  if (byLibrary(headers, body)) return "library";
  return byHand(headers, body) ? "hand" : "wrong";
}
