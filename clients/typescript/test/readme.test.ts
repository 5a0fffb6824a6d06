import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { Running } from "./running.js";
import { closedUrl } from "./scripted.js";

const run = promisify(execFile);
const dir = "out/readme";

/** The programs of the page, each with what it prints. */
function programsOf(page: string): { text: string; prints: string }[] {
  const blocks = [...page.matchAll(/```ts\n(.*?)```\n\n```text\n(.*?)```/gs)];
  return blocks.map(([, text = "", prints = ""]) => ({ text, prints }));
}

/** What was printed as a regular expression, … standing for anything. */
function pattern(text: string): RegExp {
  const quoted = text.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${quoted.replaceAll("…", "[^]*")}$`);
}

describe("the page", { timeout: 300_000 }, () => {
  let running: Running;
  const page = readFileSync("README.md", "utf8");
  const programs = programsOf(page);

  before(async () => {
    running = await Running.start();
    const [host, port] = (await closedUrl()).slice("http://".length).split(":") as [string, string];
    mkdirSync(dir, { recursive: true });
    for (const [i, { text }] of programs.entries()) {
      const here = text
        .replaceAll("http://127.0.0.1:8080", running.url)
        .replaceAll("127.0.0.1:9000", `${host}:${port}`);
      writeFileSync(`${dir}/program${i}.ts`, here.replace("9000,", `${port},`));
    }
    const settings = { extends: "../../tsconfig.json", compilerOptions: { noEmit: false }, include: ["*.ts"] };
    writeFileSync(`${dir}/tsconfig.json`, JSON.stringify(settings));
    await run("node", ["node_modules/typescript/bin/tsc", "--project", dir]).catch((error: { stdout: string }) => {
      throw new Error(error.stdout);
    });
  });

  after(() => running?.remove());

  test("every program compiles, and prints what stands below it", async () => {
    assert.equal(programs.length, page.split("```ts\n").length - 1, "each has its output");
    for (const [i, { prints }] of programs.entries()) {
      const { stdout } = await run("node", [`${dir}/program${i}.js`]);
      assert.match(stdout.trim(), pattern(prints));
    }
    assert.doesNotMatch(
      "409 already-finished",
      pattern("409 already-finished cancelled"),
      "the oracle sees what is missing",
    );
  });

  test("every command of npm is a script", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
    const named = [...page.matchAll(/^ {4}npm (?:run )?(\w+)$/gm)]
      .map(([, name = ""]) => name)
      .filter((name) => name !== "ci");
    assert.ok(named.length > 2);
    for (const name of named) assert.ok(scripts[name], name);
  });
});
