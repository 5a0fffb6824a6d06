import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { long } from "./running.js";
import { landmarks } from "./seen.js";

const dir = join(dirname(fileURLToPath(import.meta.url)), "..", "testdata");
const file = join(dir, "layout.json");
const pictures = join(dir, "pictures");
const recording = Boolean(process.env.WAKECALL_RECORD);
const recorded = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};

/** How far a landmark may be from where it was, as a share of the window or, downwards, of the page. */
const tolerance = 0.01;

/**
 * Compares where the landmarks of a page are with where they were when it was looked at. That depends on
 * the fonts of the machine, so the gate leaves it to the night. With WAKECALL_RECORD it is stored.
 * A screenshot of each page is left beside it, to look at: those are large, and Git ignores them.
 */
export async function compare(page, name, { locale, viewport }) {
  const key = `${name}, ${locale}, ${viewport.width}`;
  if (recording) return record(page, key, viewport.width);
  if (long && existsSync(file)) assert.deepEqual(moved(await landmarks(page, changing(viewport.width)), recorded[key], viewport.width), [], "WAKECALL_RECORD=1 stores what is right");
}

/** What is another each night or machine: what else is wrong on a busy one, rows after the first two, what plots say and list, paths of programs, and on a phone, where names of processes break, what cards say. */
const changing = (width) => `#strip details, .cards tbody tr:nth-child(n + 3), .plots small, .plots details, dd:has([data-copy])${width < 600 ? ", .cards td, .cards tbody th" : ""}`;

/** The landmarks that are not where they were, there no more, or new. */
export function moved(now, then = [], width) {
  const tall = Math.max(...then.map(([, , y, , height]) => y + height), 1);
  const far = (a, b, whole) => Math.abs(a - b) > whole * tolerance;
  const wrong = now.filter(([named, x, y, w, h], n) => {
    const [was, wasX, wasY, wasW, wasH] = then[n] ?? [];
    return named !== was || far(x, wasX, width) || far(w, wasW, width) || far(y, wasY, tall) || far(h, wasH, tall);
  });
  return now.length < then.length ? [...wrong, ...then.slice(now.length)] : wrong;
}

async function record(page, key, width) {
  mkdirSync(pictures, { recursive: true });
  recorded[key] = await landmarks(page, changing(width));
  const lines = Object.entries(recorded).map(([key, all]) => `${JSON.stringify(key)}: [\n  ${all.map((one) => JSON.stringify(one)).join(",\n  ")}\n]`);
  writeFileSync(file, `{\n${lines.join(",\n")}\n}\n`);
  await page.screenshot({ path: join(pictures, `${key.replaceAll(", ", "-").replaceAll(" ", "-")}.jpg`), type: "jpeg", quality: 40, scale: "css", fullPage: true });
}
