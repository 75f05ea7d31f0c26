/** Accessibility checks of pages. */
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** The rules of axe whose outcome depends on the color scheme. https://dequeuniversity.com/rules/axe */
const ofColors = ["color-contrast", "link-in-text-block"];

/**
 * Runs axe in the light scheme, and its color rules in the dark scheme, and expects no violations. https://github.com/dequelabs/axe-core
 */
export async function expectAccessible(page: Page): Promise<void> {
  // A reload removes it.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const options: axe.RunOptions = {
      resultTypes: ["violations"],
      ...(colorScheme === "dark" && { runOnly: { type: "rule", values: ofColors } }),
    };
    const { violations } = await page.evaluate<axe.AxeResults>(
      `axe.run(document, ${JSON.stringify(options)})`,
    );
    const found = violations.map(({ id, help, nodes }) => ({
      id,
      help,
      where: nodes.map(({ target, failureSummary }) => [target.join(" "), failureSummary]),
    }));
    expect(found, `${colorScheme}, ${page.url()}`).toEqual([]);
  }
}
