/** What a page is to people who do not see it, or see it otherwise. */
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** The rules of axe whose outcome depends on the color scheme. https://dequeuniversity.com/rules/axe */
const ofColors = ["color-contrast", "link-in-text-block"];

/** Looks at the page in light, and at its colors in dark: axe finds nothing to object to. https://github.com/dequelabs/axe-core */
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
