/**
 * Pictures of the dashboard for `npm run demo -- dashboard --screenshots <folder>`: each screen that the page leads to, in light, in
 * dark, and as wide as a phone. Once they are there, it says in a line of JSON on standard output what they are called, and
 * waits for its end.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Command, Option } from "commander";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { openBrowser } from "../harness/chromium.ts";

/** What a demo asks for. */
interface Options {
  readonly url: string;
  readonly namespace: string;
  readonly github: string;
  readonly folder: string;
  readonly person: { readonly name: string; readonly password: string };
}

const options = new Command("screenshots")
  .description("take a picture of each screen of a dashboard")
  .requiredOption("--url <url>", "where it is")
  .requiredOption("--namespace <name>", "what is looked at")
  .requiredOption("--github <login>", "the account at GitHub that is connected")
  .requiredOption("--folder <path>", "where the pictures are put")
  .addOption(
    new Option("--person <json>", "who logs in: { name, password }")
      .env("DEMO_PERSON")
      .argParser((text) => JSON.parse(text))
      .makeOptionMandatory(),
  )
  .parse()
  .opts<Options>();

/** How each screen is looked at, by what the picture's name ends with. */
const looks: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 800 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 800 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 },
};

/** A page of somebody who is logged in, has connected GitHub, and looks at the namespace. */
async function open(browser: Browser, look: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext(look);
  await context.addInitScript((name) => localStorage.setItem("denrei.namespace", name), options.namespace);
  const page = await context.newPage();
  await page.goto(options.url);
  await page.getByRole("link", { name: "Log in" }).click();
  await page.getByLabel("Name").fill(options.person.name);
  await page.getByLabel("Password").fill(options.person.password);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator("main#content").waitFor();
  await page.goto(new URL("/auth/github/login", options.url).href);
  await page.getByRole("button", { name: `Authorize as ${options.github}` }).click();
  await page.locator("main#content").waitFor();
  return page;
}

/** Goes to a screen; resolves when there is on it what there is to be seen. */
async function show(page: Page, path: string): Promise<void> {
  await page.goto(new URL(path, options.url).href);
  await page.locator("main h1").first().waitFor();
  const loading = page.locator("main .loading");
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: "detached" });
  // A log is asked for when it is looked at.
  const waiting = page.getByText("Waiting for lines");
  while ((await waiting.count()) > 0) await waiting.first().waitFor({ state: "detached" });
}

/**
 * Paths of the screens: those in the navigation, and of each its parts, the forms that they lead to, and an object with the
 * parts of that; and the first history that one of them leads to.
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
  let history: string | undefined;
  const look = async (path: string) => {
    found.add(path);
    await show(page, path);
    history ??= (await linked('main a[href^="/bus/history?"]'))[0];
  };
  for (const place of new Set(await linked("header nav a"))) {
    await look(place);
    for (const part of new Set([place, ...(await parts())])) {
      await look(part);
      const beside = [...(await linked("main .head a")), ...(await parts())];
      for (const one of beside) found.add(one);
      // One that is well has more to show, and one that is on its way more than one that is not.
      const rows = ["tr:has(.status.good)", "tr:not(:has(.status.bad))", ""];
      const objects = await Promise.all(rows.map((row) => linked(`main ${row} a[href^="${part}/"]`)));
      const first = objects.flat().find((href) => !beside.includes(href) && !href.includes("?"));
      if (first === undefined) continue;
      await look(first);
      for (const one of await parts()) await look(one);
    }
  }
  return [...found, ...(history === undefined ? [] : [history])];
}

/** `/applications/team/web/logs`: `applications-object-logs`. */
const nameOf = (path: string): string => {
  const [steps = [], ...query] = path.split("?").map((part) => part.split("/").filter(Boolean));
  if (query.length > 0) return [...steps, "found"].join("-");
  const at = steps.indexOf(options.namespace);
  return (at < 0 ? steps : steps.toSpliced(at, 2, "object")).join("-") || "start";
};

const browser = await openBrowser();
await mkdir(options.folder, { recursive: true });
const pictures: string[] = [];
let paths: readonly string[] | undefined;
for (const [name, look] of Object.entries(looks)) {
  const page = await open(browser, look);
  paths ??= await screens(page);
  for (const path of paths) {
    await show(page, path);
    const picture = `${nameOf(path)}-${name}.png`;
    await page.screenshot({ path: join(options.folder, picture), animations: "disabled", fullPage: true });
    pictures.push(picture);
  }
  await page.context().close();
}
await browser.close();
process.stdout.write(`${JSON.stringify({ pictures })}\n`);
// What has been spawned ends when it is told to.
setInterval(() => undefined, 60_000);
