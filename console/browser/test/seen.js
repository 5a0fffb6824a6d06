import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What a page has that hinders people (WCAG 2.2 AA). */
export async function violations(page) {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`);
  });
}

/**
 * What of a page is wider than its place, and cannot be scrolled there: the page itself, and text within
 * what hides the rest. What is for screen readers only is hidden on purpose.
 */
export function cutOff(page) {
  return page.evaluate(() => {
    const named = (node) => `${node.tagName.toLowerCase()}${node.id && `#${node.id}`}.${node.className} ${node.scrollWidth} > ${node.clientWidth}`;
    const hides = (node) => node === document.documentElement || node.matches("input, select, button") || ["hidden", "clip"].includes(getComputedStyle(node).overflowX);
    const shown = (node) => node.clientWidth > 1 && !node.closest(".unseen, svg, .cards thead");
    return [...document.querySelectorAll("html, body *")].filter((node) => shown(node) && node.scrollWidth > node.clientWidth && hides(node)).map(named);
  });
}

const outline = "header, nav, #strip, main, h1, h2, .tiles, .plots, .plot, .actions, table, .sheet, dl, .story, footer";

/** Where the landmarks of a page are, in pixels, without what changes, and scrolled to the left. */
export function landmarks(page, changing) {
  return page.evaluate(([outline, changing]) => { // at once, or the stream of the page brings back what was hidden
    for (const one of document.querySelectorAll(changing)) one.style.display = "none";
    for (const box of document.querySelectorAll(".wide")) box.scrollLeft = 0;
    const named = (node) => node.tagName.toLowerCase() + (node.id ? `#${node.id}` : node.classList.length > 0 ? `.${node.classList[0]}` : "");
    const seen = [...document.querySelectorAll(outline)].filter((node) => node.getClientRects().length > 0);
    return seen.map((node) => {
      const { x, y, width, height } = node.getBoundingClientRect();
      return [named(node), ...[x + scrollX, y + scrollY, width, height].map(Math.round)];
    });
  }, [outline, changing]);
}
