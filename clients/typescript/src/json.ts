import { randomUUID } from "node:crypto";
/** JSON that is sent as it is written, byte for byte. */
export class RawJSON {
  readonly text: string;

  constructor(text: string) {
    JSON.parse(text); // what is no JSON would change what stands around it
    this.text = text;
  }
}

/**
 * A payload that is JSON already: a receiver gets it with its spaces, the order of its names and all digits of its
 * numbers.
 */
export function rawJSON(text: string): RawJSON {
  return new RawJSON(text);
}

/** Writes a body as JSON, with each {@link RawJSON} in its place. */
export function encode(body: unknown): string {
  const raws: string[] = [];
  const mark = `raw:${randomUUID()}:`;
  const text = JSON.stringify(body, (_, value: unknown) =>
    value instanceof RawJSON ? `${mark}${raws.push(value.text) - 1}` : value,
  );
  if (raws.length === 0) return text;
  return text.replace(new RegExp(`"${mark}(\\d+)"`, "g"), (_, index: string) => raws[Number(index)] ?? "");
}
