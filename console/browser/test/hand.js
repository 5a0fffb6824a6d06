import assert from "node:assert/strict";

/** The size of a target that a finger or a shaky hand hits, in pixels (WCAG 2.2, 2.5.8). */
const target = 24;

/** A hand that presses things, and counts: what it presses, and what it confirms. */
class Hand {
  pressed = 0;
  confirmed = 0;

  constructor(page) {
    this.page = page;
  }

  async press(what) {
    await this.hit(this.page.locator(what).first());
    this.pressed++;
  }

  async confirm(what) {
    await this.hit(this.page.locator(what).first());
    this.confirmed++;
  }
}

class Mouse extends Hand {
  hit(what) {
    return what.click();
  }
}

class Thumb extends Hand {
  async hit(what) {
    await what.waitFor();
    const box = await what.boundingBox();
    assert.ok(box.height >= target, `${what} is ${box.height} px high`);
    await what.tap();
  }
}

/** How often the tab key is pressed at most until what is looked for has the focus. */
const steps = 300;

class Keyboard extends Hand {
  async hit(what) {
    await what.waitFor();
    for (let step = 0; step < steps; step++) {
      await this.page.keyboard.press("Tab");
      const seen = await what.evaluate((node) => node === document.activeElement && getComputedStyle(node).outlineStyle);
      if (!seen) continue;
      assert.notEqual(seen, "none", `where the focus is cannot be seen: ${what}`);
      return this.page.keyboard.press("Enter");
    }
    assert.fail(`no key leads to ${what}`);
  }
}

/** What pages are used with. */
export const hands = { mouse: Mouse, thumb: Thumb, keyboard: Keyboard };
