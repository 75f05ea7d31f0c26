/** What a page is to people who do not see it, or see it otherwise. */
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** The rules of axe whose outcome depends on the color scheme. https://dequeuniversity.com/rules/axe */
const ofColors = ["color-contrast", "link-in-text-block"];

/** Looks at the page in light, and at its colors in dark: axe finds nothing to object to. https://github.com/dequelabs/axe-core */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // The pages have no frames, so axe needs no second page to merge their results.
    const axe = new AxeBuilder({ page }).setLegacyMode(true);
    const { violations } = await (colorScheme === "light" ? axe : axe.withRules(ofColors)).analyze();
    const found = violations.map(({ id, help, nodes }) => ({
      id,
      help,
      where: nodes.map(({ target, failureSummary }) => [target.join(" "), failureSummary]),
    }));
    expect(found, `${colorScheme}, ${page.url()}`).toEqual([]);
  }
}
