/** The way of a user from creating an Application to deleting it, by keyboard alone at 200 % zoom, and on a slow network. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Application } from "../../functions/paas/kinds.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { has } from "../harness/testobjects.ts";

let environment: DashboardEnvironment;
let page: Page;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  await Promise.all([
    environment.bridge("bridge-1"),
    environment.worker("worker-1", ["modoki-application"], { env: { CONTROLLER_NAMESPACE: team } }),
  ]);
  page = await environment.loggedIn(people.alice, team);
});
afterAll(() => environment?.stop());

const app = { namespace: team, name: "walked" };
const until = (condition: (application: Application) => boolean) =>
  environment.until(Application, app, condition);
const runs = (image: string) => until(({ status }) => status?.currentImage === image);

/** More stops than any screen has. */
const maxStops = 120;

/** Presses Tab until the element has the focus. */
async function tabTo(target: Locator): Promise<void> {
  await target.waitFor();
  for (let stop = 0; stop < maxStops; stop++) {
    if (await target.evaluate((element) => element.matches(":focus"))) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`expected Tab to reach ${target}, but ${maxStops} stops did not`);
}

async function press(target: Locator): Promise<void> {
  await tabTo(target);
  await page.keyboard.press("Enter");
}

async function type(label: string, text: string): Promise<void> {
  await tabTo(page.getByLabel(label, { exact: true }));
  await page.keyboard.press("Control+A");
  await page.keyboard.type(text);
}

const button = (name: string): Locator => page.getByRole("button", { name, exact: true });
const link = (name: string): Locator => page.getByRole("link", { name, exact: true });

/** A screen at 200 % zoom has half of its width. */
const zoomed = { width: 640, height: 400 };
const isWithinScreen = async () =>
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(zoomed.width);

test("a keyboard leads from create to deploy, log, rollback, and deletion, at 200 % zoom", async () => {
  await page.setViewportSize(zoomed);
  await press(page.getByRole("main").getByRole("link", { name: "Create an Application" }).first());
  await type("Name", app.name);
  await type("Hosts", "walked.example.com");
  await type("Image", "walked:1");
  await isWithinScreen();
  await press(button("Create"));
  await page.getByRole("heading", { name: app.name, level: 1 }).waitFor();
  await until(has("Ready", "True"));
  await isWithinScreen();

  await press(link("Logs"));
  await tabTo(page.getByRole("log"));
  await isWithinScreen();

  await press(link("Settings"));
  await type("Image", "walked:2");
  await press(button("Save"));
  await runs("walked:2");

  await press(link("History"));
  await press(button("Roll back to walked:1"));
  await press(page.getByRole("dialog").getByRole("button", { name: "Roll back" }));
  await runs("walked:1");
  await isWithinScreen();

  await press(button("Delete"));
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type(app.name);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Applications", level: 1 }).waitFor();
  await environment.untilGone(Application, app);
  await page.getByRole("heading", { name: "No Applications here yet" }).waitFor();
});

test("nothing moves for users who prefer reduced motion", async () => {
  await environment.client.create(
    Application,
    {
      apiVersion: `${Application.group}/${Application.version}`,
      kind: "Application",
      metadata: app,
      spec: { domains: ["walked.example.com"], image: "walked:1", replicas: 1 },
    },
    { fieldManager: "test" },
  );
  await page.goto(`${environment.url}/applications`);
  await page.getByText("Next", { exact: true }).waitFor();
  const moving = () =>
    page.evaluate("document.getAnimations().filter(({ playState }) => playState === 'running').length");
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await expect.poll(moving).toBe(1);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await expect.poll(moving).toBe(0);
});

test("on a slow network, screens say that they load, and then show their content", async () => {
  const cdp = await page.context().newCDPSession(page);
  // The slowest preset of Chrome's developer tools, "Slow 3G".
  await cdp.send("Network.emulateNetworkConditions", {
    ...{ offline: false, latency: 2000, downloadThroughput: 50_000, uploadThroughput: 50_000 },
  });
  await page.goto(`${environment.url}/applications`);
  await page.getByText("Loading…").waitFor();
  await link(app.name).click();
  await page.getByRole("heading", { name: app.name, level: 1 }).waitFor();
  await page.getByText("walked.example.com").first().waitFor();
});
