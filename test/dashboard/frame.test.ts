/** Behavior of all screens: keyboard, phone, dark mode, lost connection, and missing rights. */
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import {
  type DashboardEnvironment,
  foreign,
  people,
  startDashboardEnvironment,
  team,
} from "../harness/dashboard.ts";

let environment: DashboardEnvironment;
let page: Page;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  page = await environment.loggedIn(people.alice, team);
});
afterAll(() => environment?.stop());

const create = (name: string, namespace = team) =>
  environment.client.create(
    Application,
    {
      apiVersion: apiVersionOf(Application),
      kind: "Application",
      metadata: { name, namespace },
      spec: { domains: [`${name}.example.com`], replicas: 1 },
    },
    { fieldManager: "test" },
  );
const go = (path: string) => page.goto(`${environment.url}${path}`);
const link = (name: string) => page.getByRole("link", { name, exact: true });
const choose = async (namespace: string) => {
  await page.getByLabel("Namespace", { exact: true }).fill(namespace);
  await page.keyboard.press("Enter");
};

/** Lets responses name another version of the page, as after an update of the dashboard. */
const updatedTo =
  (version: () => string) =>
  async (route: Route): Promise<void> => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), "x-denrei-page": version() } });
  };
const newVersion = (fresh: Page) => fresh.getByRole("status").getByText("A new version is available.");

test("the keyboard reaches the content, another screen, and into and out of a dialog", async () => {
  await create("keys");
  await go("/applications");
  await link("keys").waitFor();
  await page.keyboard.press("Tab");
  expect(await page.locator(":focus").textContent()).toContain("Skip to content");
  await page.keyboard.press("Enter");
  await link("keys").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "keys", level: 1 }).waitFor();
  // A new screen starts with the focus at its beginning.
  expect(await page.locator(":focus").getAttribute("id")).toBe("content");
  const scale = page.getByRole("button", { name: "Scale" });
  await scale.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  expect(await page.locator("dialog :focus").count()).toBe(1);
  await page.keyboard.press("Escape");
  // The page removes a closed dialog, which has no role anymore, a moment later. Until then, it opens no other one.
  await page.locator("dialog").waitFor({ state: "detached" });
  expect(await page.locator(":focus").textContent()).toBe("Scale");
  // Also after the dialog was submitted.
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Scaling keys to 1 pod.").waitFor();
  await page.locator("dialog").waitFor({ state: "detached" });
  await expect.poll(() => page.locator(":focus").textContent()).toBe("Scale");
});

test("the address of an unknown tab shows that it does not exist, and the way back", async () => {
  await go(`/applications/${team}/keys/nonsense`);
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  await expectAccessible(page);
  await link("Overview of keys").click();
  await page.getByRole("region", { name: "Pods" }).waitFor();
});

test("a form can be filled in by keyboard: Tab reaches each field in turn", async () => {
  await go("/applications/new");
  await page.getByLabel("Name", { exact: true }).focus();
  const typed: Readonly<Record<string, string>> = {
    Name: "typed",
    Hosts: "typed.example.com",
    Image: "typed:1",
    "Name of variable 1": "GREETING",
    "Value of variable 1": "hello",
  };
  const label = () =>
    page.evaluate<string>(
      "(({ ariaLabel, labels, textContent }) => ariaLabel ?? labels?.[0]?.textContent ?? textContent)(document.activeElement)",
    );
  const come: string[] = [];
  for (let at = await label(); at !== "Create" && come.length < 30; at = await label()) {
    await page.keyboard.type(typed[at] ?? "");
    // Adding a row moves the focus into it.
    const isNew = at === "Add a variable" && !come.includes(at);
    await page.keyboard.press(isNew ? "Enter" : "Tab");
    come.push(at);
  }
  expect(come).toEqual([
    "Name",
    "Target namespace",
    "Hosts",
    "Image",
    "Add a variable",
    "Name of variable 1",
    "Source of variable 1",
    "Value of variable 1",
    "Remove variable 1",
    "Add a variable",
    "Paste .env",
    "Add a source",
    "Pods",
    "Port",
    "More: command, health check, resources, attributes",
  ]);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "typed", level: 1 }).waitFor();
  const { spec } = await environment.client.get(Application, { namespace: team, name: "typed" });
  expect(spec).toMatchObject({
    domains: ["typed.example.com"],
    env: [{ name: "GREETING", value: "hello" }],
    image: "typed:1",
  });
});

test("on a phone the navigation is behind a button, and nothing is wider than the screen", async () => {
  onTestFinished(() => page.setViewportSize({ width: 1280, height: 720 }));
  await page.setViewportSize({ width: 390, height: 800 });
  await go("/applications");
  await link("keys").waitFor();
  const places = page.getByRole("navigation", { name: "Main" });
  expect(await places.isVisible()).toBe(false);
  const menu = page.getByRole("button", { name: "Menu" });
  expect(await menu.getAttribute("aria-expanded")).toBe("false");
  await menu.click();
  await places.getByRole("link", { name: "Applications" }).waitFor();
  expect(await menu.getAttribute("aria-expanded")).toBe("true");
  await expectAccessible(page);
  await places.getByRole("link", { name: "Builds" }).focus();
  await page.keyboard.press("Escape");
  await places.waitFor({ state: "hidden" });
  expect(await page.locator(":focus").textContent()).toBe("Menu");
  for (const path of ["/applications", "/applications/new", `/applications/${team}/keys`]) {
    await go(path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.evaluate<number>("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(
      390,
    );
  }
});

test("the page reports a missing right and what the user can do", async () => {
  await go("/applications");
  // The namespace enters the address first, which discards typed text.
  await link("keys").waitFor();
  await choose(foreign);
  await page.getByRole("heading", { name: `You cannot view this in ${foreign}` }).waitFor();
  await expectAccessible(page);
  await choose("");
  await page.getByRole("heading", { name: "You cannot view this in all namespaces" }).waitFor();
  await page.getByLabel("Another namespace").fill(team);
  await page.getByRole("button", { name: "Switch namespace" }).click();
  await link("keys").waitFor();
});

test("the page reports a lost connection, and afterwards shows what it missed", async () => {
  await go("/applications");
  await link("keys").waitFor();
  await environment.dashboard.stop();
  await page.getByText("Live updates are interrupted").waitFor();
  await expectAccessible(page);
  await create("meanwhile");
  await page.route(
    "**/api/session",
    updatedTo(() => "/assets/newer.js"),
  );
  onTestFinished(() => page.unrouteAll({ behavior: "wait" }));
  await environment.dashboard.start();
  await link("meanwhile").waitFor();
  await newVersion(page).waitFor();
  await page.getByText("Live updates are interrupted").waitFor({ state: "detached" });
  expect(await page.getByRole("rowheader").allInnerTexts()).toEqual(["keys", "meanwhile", "typed"]);
});

test("typed text survives navigation and Back, until the user discards it or cancels", async () => {
  const name = page.getByLabel("Name", { exact: true });
  await go("/applications/new");
  await name.fill("unsent");
  await page.getByRole("link", { name: "Builds" }).click();
  await page.getByRole("heading", { name: "Builds", level: 1 }).waitFor();
  await page.goBack();
  await page.getByText("Your unsaved input was restored.").waitFor();
  expect(await name.inputValue()).toBe("unsent");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Discard it" }).click();
  await expect.poll(() => name.inputValue()).toBe("");
  await name.fill("canceled");
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.getByRole("heading", { name: "Applications", level: 1 }).waitFor();
  await page.goBack();
  await name.waitFor();
  expect(await name.inputValue()).toBe("");
});

test("input that was saved, although its response was lost, is not restored", async () => {
  const settings = `/applications/${team}/keys/settings`;
  const image = page.getByLabel("Image", { exact: true });
  await go(settings);
  await image.fill("keys:2");
  await page.route(/\/api\/kubernetes\/.*\/keys\?/, async (route) => {
    if (route.request().method() !== "PATCH") return route.fallback();
    await route.fetch();
    return route.abort();
  });
  onTestFinished(() => page.unrouteAll({ behavior: "wait" }));
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The dashboard does not respond. Check your network connection.").first().waitFor();
  expect(await image.inputValue()).toBe("keys:2");
  await go(settings);
  await expect.poll(() => image.inputValue()).toBe("keys:2");
  expect(await page.getByText("Your unsaved input was restored.").count()).toBe(0);
  expect(await page.getByText("The object changed since you started editing.").count()).toBe(0);
});

test("a message of Kubernetes follows a sentence, even if it looks like one, and the dashboard's own stands alone", async () => {
  onTestFinished(() => page.unrouteAll({ behavior: "wait" }));
  const status = { kind: "Status", reason: "Forbidden", message: "Quota is exhausted." };
  const own = { reason: "TooMany", message: "Too many requests. Try again in a moment." };
  const answers = [status, own];
  await page.route(/\/api\/kubernetes\/.*\/keys\?/, (route) =>
    route.request().method() === "PATCH"
      ? route.fulfill({ status: 403, json: answers.shift() })
      : route.fallback(),
  );
  await go(`/applications/${team}/keys/settings`);
  await page.getByLabel("Image", { exact: true }).fill("keys:3");
  const problems = page.locator("form .problems").getByRole("alert");
  for (const shown of ["The object was not saved: Quota is exhausted.", own.message]) {
    await page.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => problems.innerText()).toBe(shown);
  }
  const problem = { at: 0, status: 500, message: "The store is full.", kind: "Status" };
  await page.route(/\/api\/watch\?/, (route) =>
    route.fulfill({
      contentType: "text/event-stream",
      body: `event: problem\ndata: ${JSON.stringify(problem)}\n\n`,
    }),
  );
  await go("/applications");
  await page.getByText("Kubernetes responded with an error: The store is full.", { exact: true }).waitFor();
  await expectAccessible(page);
});

describe("a screen whose files cannot be loaded", () => {
  const files = /\/assets\/.*\.js$/;
  const heading = (fresh: Page, name: string) => fresh.getByRole("heading", { name, level: 1 }).waitFor();
  const visit = async () => {
    const fresh = await environment.loggedIn(people.alice, team);
    await heading(fresh, "Applications");
    return fresh;
  };

  test("is reported, and loads on request", async () => {
    const fresh = await visit();
    await fresh.route(files, (route) => route.abort());
    await fresh.route(`${environment.url}/`, (route) => route.abort());
    await fresh.getByRole("link", { name: "Builds" }).click();
    await heading(fresh, "This screen could not be loaded");
    await fresh.getByText("The dashboard does not respond. Check your network connection.").waitFor();
    await expectAccessible(fresh);
    await fresh.unroute(`${environment.url}/`);
    await fresh.getByRole("button", { name: "Try again" }).click();
    await fresh.getByText("some files of this screen are missing").waitFor();
    await fresh.unroute(files);
    await fresh.getByRole("button", { name: "Try again" }).click();
    await heading(fresh, "Builds");
  });

  test("loads the page again if the dashboard has a new version", async () => {
    const fresh = await visit();
    let version: "old" | "new" = "old";
    // The old page asks for files that the new version does not have.
    await fresh.route(files, (route) =>
      version === "old" ? route.fulfill({ status: 404 }) : route.fallback(),
    );
    const newer = '<script type="module" src="/assets/newer.js"></script>';
    await fresh.route(`${environment.url}/`, (route) =>
      route.fulfill({ body: newer, contentType: "text/html" }),
    );
    await fresh.route(`${environment.url}/builds*`, (route) => {
      version = "new";
      return route.fallback();
    });
    await fresh.getByRole("link", { name: "Builds" }).click();
    await heading(fresh, "Builds");
    expect(version).toBe("new");
    expect(new URL(fresh.url()).pathname).toBe("/builds");
  });
});

test("offers each new version once, and a reload keeps the text of forms", async () => {
  const fresh = await environment.loggedIn(people.alice, team);
  const notice = newVersion(fresh);
  let version = "/assets/newer.js";
  await fresh.route(
    "**/api/access*",
    updatedTo(() => version),
  );
  const open = async (list: string, form: string) => {
    await fresh.getByRole("link", { name: list, exact: true }).click();
    const answer = fresh.waitForResponse("**/api/access*");
    await fresh.getByRole("link", { name: form }).first().click();
    await answer;
    await fresh.getByRole("heading", { name: form, level: 1 }).waitFor();
  };
  await fresh.goto(`${environment.url}/applications/new`);
  await notice.waitFor();
  await expectAccessible(fresh);
  await fresh.getByRole("button", { name: "Close" }).click();
  await open("Builds", "Build a repository");
  expect(await notice.count()).toBe(0);
  version = "/assets/newest.js";
  await open("Previews", "Preview a repository");
  await notice.waitFor();
  const name = fresh.getByLabel("Name", { exact: true });
  await name.fill("typed-before");
  await fresh.unrouteAll({ behavior: "wait" });
  await fresh.getByRole("button", { name: "Reload" }).click();
  await fresh.getByText("Your unsaved input was restored.").waitFor();
  expect(await name.inputValue()).toBe("typed-before");
  expect(await notice.count()).toBe(0);
});

test("an unknown path leads back, and the window's title says that it is unknown", async () => {
  await go("/nothing/here");
  await page.getByRole("heading", { name: "Page not found", level: 1 }).waitFor();
  expect(await page.title()).toContain("Page not found");
  await expectAccessible(page);
});
