/** What a page is to people who do not see it, or see it otherwise. */
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Looks at the page in light and in dark: axe finds nothing to object to. https://github.com/dequelabs/axe-core */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.map(({ id, help, nodes }) => ({
      id,
      help,
      where: nodes.map(({ target, failureSummary }) => [target.join(" "), failureSummary]),
    }));
    expect(found, `${colorScheme}, ${page.url()}`).toEqual([]);
  }
}
