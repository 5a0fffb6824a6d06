import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { endless, keyed, named, once, repeatable } from "../src/repeat.js";

const document = readFileSync("../../api/openapi.yaml", "utf8");

/** The paths of the document, each with the text that describes it. */
function pathsOf(text: string): Map<string, string> {
  const paths = text.slice(text.indexOf("\npaths:"), text.indexOf("\nwebhooks:"));
  return new Map(
    [...paths.matchAll(/^ {2}(\/\S+):\n((?:(?: {3,}.*)?\n)*)/gm)].map(([, path = "", body = ""]) => [path, body]),
  );
}

test("of every POST somebody has decided whether it may be repeated", () => {
  const paths = pathsOf(document);
  const posts = [...paths].filter(([, text]) => text.includes("    post:")).map(([path]) => path);
  assert.ok(posts.length > 15, "the oracle sees paths");
  assert.deepEqual([...new Set([...repeatable, ...named, ...once])].sort(), posts.sort());
  assert.equal(new Set([...repeatable, ...named, ...once]).size, repeatable.length + named.length + once.length);
});

test("every call that takes an idempotency key has one", () => {
  const paths = [...pathsOf(document)].filter(([, text]) => text.includes("parameters/IdempotencyKey"));
  assert.deepEqual(paths.map(([path]) => path).sort(), [...keyed].sort());
});

test("of every answer that goes on for ever somebody knows", () => {
  const lines = /application\/x-ndjson|text\/event-stream/;
  const paths = [...pathsOf(document)].filter(([, text]) => lines.test(text)).map(([path]) => path);
  assert.deepEqual(paths.sort(), [...endless].sort());
});
