/** Pictures of the dashboard: each screen that the page links to, at three widths, in the light and in the dark theme. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { openBrowser } from "../harness/chromium.ts";

/** The dashboard, and the user who looks at it. */
export interface Shown {
  readonly url: string;
  readonly namespace: string;
  /** Login of the account at GitHub that the user connects. */
  readonly github: string;
  readonly user: { readonly name: string; readonly password: string };
}

/** How each screen is shown, by the suffix of the picture's name. */
const styles: ReadonlyMap<string, BrowserContextOptions> = new Map(
  [1280, 768, 320].flatMap((width) =>
    (["light", "dark"] as const).map((colorScheme) => [
      `${width}-${colorScheme}`,
      { colorScheme, viewport: { width, height: 800 } },
    ]),
  ),
);

/** Screens that no list leads to: the first one that another screen links to. */
const reached = ["/bus/functions/", "/bus/runbooks/", "/bus/history?", "/bus/causality?"] as const;

/** Logs in, connects GitHub, and selects the namespace. */
async function open(browser: Browser, style: BrowserContextOptions, shown: Shown): Promise<Page> {
  const { namespace, user, github } = shown;
  const context = await browser.newContext(style);
  await context.addInitScript((name) => localStorage.setItem("denrei.namespace", name), namespace);
  const page = await context.newPage();
  await page.goto(shown.url);
  await page.getByRole("link", { name: "Log in" }).click();
  await page.getByLabel("Name").fill(user.name);
  await page.getByLabel("Password").fill(user.password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator("main#content").waitFor();
  await page.goto(new URL("/auth/github/login", shown.url).href);
  await page.getByRole("button", { name: `Authorize as ${github}` }).click();
  await page.locator("main#content").waitFor();
  return page;
}

/** Opens a screen; resolves when it has loaded. */
async function show(page: Page, path: string): Promise<void> {
  await page.goto(new URL(path, page.url()).href);
  await page.locator("main h1").first().waitFor();
  const loading = page.locator("main .loading");
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: "detached" });
  // The page requests a log when it shows it.
  const waiting = page.getByText("Waiting for log lines");
  while ((await waiting.count()) > 0) await waiting.first().waitFor({ state: "detached" });
}

/**
 * Paths of all screens: those in the navigation with their tabs, the forms that they link to, one object of each with its tabs,
 * and one of each that is {@link reached} from them.
 */
async function screens(page: Page): Promise<readonly string[]> {
  const linked = async (selector: string) => {
    const found = await page
      .locator(selector)
      .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
    return found.filter((href) => href.startsWith("/"));
  };
  const parts = () => linked("main nav a");
  const found = new Set<string>();
  const others = new Map<string, string>();
  const look = async (path: string) => {
    found.add(path);
    await show(page, path);
    for (const start of reached) {
      const first = others.get(start) ?? (await linked(`main a[href^="${start}"]`))[0];
      if (first !== undefined) others.set(start, first);
    }
  };
  for (const place of new Set(await linked("header nav a"))) {
    await look(place);
    for (const part of new Set([place, ...(await parts())])) {
      await look(part);
      const beside = [...(await linked("main .head a")), ...(await parts())];
      for (const one of beside) found.add(one);
      // A healthy object shows most, and one that is progressing shows more than one that failed.
      const rows = ["tr:has(.status.good)", "tr:not(:has(.status.bad))", ""];
      const objects = await Promise.all(rows.map((row) => linked(`main ${row} a[href^="${part}/"]`)));
      const first = objects.flat().find((href) => !beside.includes(href) && !href.includes("?"));
      if (first === undefined) continue;
      await look(first);
      for (const one of await parts()) await look(one);
    }
  }
  // A history leads to its causal history.
  for (const start of reached) if (others.has(start)) await look(others.get(start) ?? "");
  return [...new Set([...found, ...others.values()])];
}

/** `/applications/team/web/logs`: `applications-object-logs`. */
const nameOf = (path: string, namespace: string): string => {
  const [steps = [], ...query] = path.split("?").map((part) => part.split("/").filter(Boolean));
  if (query.length > 0) return [...steps, "found"].join("-");
  const at = steps.indexOf(namespace);
  return (at < 0 ? steps : steps.toSpliced(at, 2, "object")).join("-") || "start";
};

/** Takes a picture of each screen; resolves with the names of the files in the folder. */
export async function takeScreenshots(shown: Shown, folder: string): Promise<readonly string[]> {
  const browser = await openBrowser();
  try {
    await mkdir(folder, { recursive: true });
    const pictures: string[] = [];
    let paths: readonly string[] | undefined;
    for (const [name, style] of styles) {
      const page = await open(browser, style, shown);
      paths ??= await screens(page);
      for (const path of paths) {
        await show(page, path);
        const picture = `${nameOf(path, shown.namespace)}-${name}.png`;
        await page.screenshot({ path: join(folder, picture), animations: "disabled", fullPage: true });
        pictures.push(picture);
      }
      await page.context().close();
    }
    return pictures;
  } finally {
    await browser.close();
  }
}
