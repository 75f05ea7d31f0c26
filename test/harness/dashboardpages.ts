/** Pages of a dashboard in the shared browser, each with its own session. */
import type { BrowserContext, Page } from "playwright-core";
import type { Person } from "../../deploy/simulators/login/loginpage.ts";
import { sharedBrowser } from "./chromium.ts";
import { logIn, sessionCookieName } from "./visitor.ts";

/** Opens pages of the dashboard at a URL. */
export class DashboardPages {
  readonly #url: string;
  readonly #contexts: BrowserContext[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  /** A page with a logged-in user, and with the namespace selected if one is given. */
  async loggedIn(person: Person, namespace?: string): Promise<Page> {
    const url = this.#url;
    const page = await this.#emptyPage();
    const { cookies } = await logIn(url, person);
    const cookie = { name: sessionCookieName, value: cookies.get(sessionCookieName) ?? "", url };
    await page.context().addCookies([{ ...cookie, httpOnly: true, sameSite: "Lax" }]);
    await page.goto(url);
    return inside(page, namespace);
  }

  /** The same through the issuer's login page, so that the browser has a session there as well. */
  async loggedInByHand(person: Person, namespace?: string): Promise<Page> {
    const page = await this.#emptyPage();
    await page.goto(this.#url);
    await page.getByRole("link", { name: "Log in" }).click();
    await page.getByLabel("Name").fill(person.name);
    await page.getByLabel("Password").fill(person.password);
    await page.getByRole("button", { name: "Log in" }).click();
    return inside(page, namespace);
  }

  /** Closes all pages. */
  async close(): Promise<void> {
    for (const context of this.#contexts) await context.close();
  }

  async #emptyPage(): Promise<Page> {
    // Animations cost CPU time and change nothing that tests check.
    const context = await (await sharedBrowser()).newContext({ reducedMotion: "reduce" });
    this.#contexts.push(context);
    context.setDefaultTimeout(60_000);
    return context.newPage();
  }
}

/** Waits for the logged-in page, and selects the namespace if one is given. */
async function inside(page: Page, namespace: string | undefined): Promise<Page> {
  await page.getByRole("button", { name: "Log out" }).waitFor();
  // The first page redirects to another, which renders the header again and discards text typed before.
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  if (namespace !== undefined) {
    await page.getByLabel("Namespace", { exact: true }).fill(namespace);
    await page.keyboard.press("Enter");
  }
  return page;
}
