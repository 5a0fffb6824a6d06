import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

/** How the window of a desk is. One that is kept is opened once for all tests. */
export const desk = { viewport: { width: 1280, height: 900 }, kept: true };

/** How a phone is. */
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, kept: true };

/** The state of a window in which no one is signed in. */
export const stranger = { cookies: [], origins: [] };

/** What a browser says of a page that a busy machine did not answer within a second. The page says so itself. */
const slow = /status of 503/;

/** A browser whose pages note what no page may do: breaches of the policy, errors, requests elsewhere. */
export class Browser {
  #home;
  #kept = new Map();
  #idle = new Map();
  #open = [];
  #noted = [];
  #expected = [];

  /** Starts one. Its contexts begin with `state`, unless they have one of their own. */
  static async start(home, state) {
    const browser = new Browser();
    browser.#home = home;
    browser.state = state;
    browser.chromium = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--renderer-process-limit=1", "--disable-site-isolation-trials"], // a process for each page costs as much as the page
    });
    return browser;
  }

  /** Opens a page: in the window of a desk, or in one with options. That of a window that is kept is used again. */
  async open(path, options) {
    const page = await this.blank(options);
    await this.visit(page, this.#home + path);
    return page;
  }

  /** Goes to an address, and again while a busy machine does not answer within a second. */
  async visit(page, url) {
    for (let tries = 1; ; tries++) {
      const answer = await page.goto(url);
      if (answer?.status() !== 503 || tries === 30) return;
      this.expect(slow);
    }
  }

  /** The same before it shows anything. */
  async blank(options = desk) {
    const context = await this.#contextOf(options);
    const page = this.#idle.get(context)?.pop() ?? (await context.newPage());
    this.#open.push(page);
    return page;
  }

  async #contextOf({ kept, ...options }) {
    const key = JSON.stringify(options);
    const context = (kept && this.#kept.get(key)) || (await this.#watched(options));
    if (kept) this.#kept.set(key, context);
    if (kept) this.#idle.set(context, this.#idle.get(context) ?? []);
    return context;
  }

  /** A context that is watched. */
  async #watched(options) {
    const context = await this.chromium.newContext({ viewport: desk.viewport, storageState: this.state, ...options });
    await context.exposeBinding("noteBreach", (_, breach) => this.#note("policy", breach));
    await context.addInitScript(() =>
      addEventListener("securitypolicyviolation", (e) => window.noteBreach(`${e.effectiveDirective} ${e.blockedURI}`)),
    );
    context.on("weberror", (error) => this.#note("error", error.error()));
    context.on("console", (message) => message.type() === "error" && this.#note("console", `${message.text()} ${message.location().url}`));
    context.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${this.#home}/`) && !url.startsWith("data:")) this.#note("elsewhere", url);
    });
    return context;
  }

  #note(kind, text) {
    this.#noted.push({ kind, text: String(text) });
  }

  /** Whether something of a kind was wrong. */
  noted(kind) {
    return this.#noted.some((one) => one.kind === kind);
  }

  /** Says that a test provokes what would else be wrong, as often as it comes. */
  expect(pattern) {
    this.#expected.push(pattern);
  }

  /** Stores how the pages of a test look, and returns where. */
  async pictures() {
    const dir = mkdtempSync(join(tmpdir(), "wakecall-pages-"));
    for (const [n, page] of this.#open.entries()) {
      const path = join(dir, `${n}.png`);
      await page.screenshot({ path }).catch((error) => writeFileSync(path, String(error)));
    }
    return dir;
  }

  /** Closes what a test has opened, and returns what was wrong: also what was expected and did not come. */
  async settle() {
    for (const page of this.#open.splice(0)) await this.#leave(page);
    const noted = this.#noted.splice(0);
    const expected = this.#expected.splice(0);
    const wrong = noted.filter(({ text }) => !expected.some((pattern) => pattern.test(text)));
    const missing = expected.filter((pattern) => !noted.some(({ text }) => pattern.test(text)));
    return [...wrong, ...missing.map((pattern) => ({ kind: "missing", text: String(pattern) }))];
  }

  /** Closes a page, or puts it by: it is stopped, and what it has said by now has been heard. */
  async #leave(page) {
    await page.evaluate(() => document.querySelector("[hx-sse\\:connect]")?.remove()).catch(() => 0);
    const idle = this.#idle.get(page.context());
    if (!idle) return page.context().close();
    page.removeAllListeners();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    idle.push(page);
  }

  close() {
    return this.chromium.close();
  }
}
