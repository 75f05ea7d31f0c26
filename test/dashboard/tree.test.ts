/** The resource tree, the YAML, the differences, and the usage of an Application, with real workers, real pods, and a real browser. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { apiVersionOf, Pod } from "../../bus/kube/kind.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { simulatedPodMetrics } from "../harness/podmetrics.ts";
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

const at = (name: string) => ({ namespace: team, name });
const open = (name: string, tab = "") =>
  page.goto(`${environment.url}/applications/${team}/${name}${tab && `/${tab}`}`);
const create = (name: string, spec: object = {}) =>
  environment.client.create(
    Application,
    {
      apiVersion: apiVersionOf(Application),
      kind: "Application",
      metadata: { name, namespace: team },
      spec: { domains: [`${name}.example.com`], replicas: 2, image: `${name}:1`, ...spec },
    },
    { fieldManager: "test" },
  );
const resources = () => page.getByRole("region", { name: "Resources" });
/** The lines of the tree, without ages. */
const lines = async () =>
  (await resources().locator(".node").allInnerTexts()).map((line) =>
    line.replaceAll(/\s+/g, " ").replace(/ \d+ (s|min|h|d)\b/, ""),
  );

/** Expects the screen to fit into the narrowest window. */
async function expectNarrow(): Promise<void> {
  const size = page.viewportSize() ?? { width: 1280, height: 720 };
  await page.setViewportSize({ ...size, width: 320 });
  const overflow = await page.evaluate(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );
  await page.setViewportSize(size);
  expect(overflow).toBe(0);
}

test("shows an Application with its objects and their pods, each with its health", async () => {
  await create("web");
  await environment.until(Application, at("web"), has("Ready", "True"));
  await open("web");
  const pod = expect.stringMatching(/^Pod web-\S+ Running Log$/);
  const objects = ["Application web Ready", "Deployment web Ready 2/2 available"];
  await expect.poll(lines).toEqual([...objects, pod, pod, "Service web Ready", "Ingress web"]);
  await expectAccessible(page);
  const children = resources().getByRole("button", { name: "Children of Deployment web" });
  await children.focus();
  await page.keyboard.press("Enter");
  expect(await children.getAttribute("aria-expanded")).toBe("false");
  expect(await lines()).toEqual([...objects, "Service web Ready", "Ingress web"]);
  await page.keyboard.press("Enter");
  const log = resources()
    .getByRole("link", { name: /^Log of web-/ })
    .first();
  const name = (await log.getAttribute("aria-label"))?.replace("Log of ", "");
  await log.click();
  await expect.poll(() => page.getByRole("combobox", { name: "Pod" }).inputValue()).toBe(`${name}/main`);
});

test("shows the YAML of an object, and copies it", async () => {
  await open("web");
  await page.getByRole("link", { name: "YAML" }).click();
  const yaml = page.locator("pre.yaml");
  await yaml.getByText("image", { exact: true }).first().waitFor();
  const { status, ...stored } = await environment.client.get(Application, at("web"));
  const text = await yaml.textContent();
  expect(parse(text ?? "")).toMatchObject({
    apiVersion: stored.apiVersion,
    kind: "Application",
    spec: stored.spec,
  });
  expect(text).not.toContain("managedFields");
  await expectAccessible(page);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: environment.url });
  await page.getByRole("button", { name: "Copy the YAML" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(text);
  // Without a clipboard, the text is selected.
  await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await page.getByRole("button", { name: /^(Copy the YAML|Copied)$/ }).click();
  await page.getByRole("button", { name: "Selected" }).waitFor();
  expect(await page.evaluate("getSelection().toString()")).toBe(text?.trimEnd());
});

test("shows which settings do not run, and why", async () => {
  const patch = (spec: object) =>
    environment.client.mergePatch(Application, at("web"), { spec }, { fieldManager: "test" });
  const card = page.getByRole("region", { name: "Wanted and running" });
  await open("web");
  await card.getByText("Everything that you asked for is running.").waitFor();
  expect(await card.getByRole("table").count()).toBe(0);
  const env = [{ name: "TOKEN", valueFrom: { secretKeyRef: { name: "tokens", key: "api" } } }];
  await patch({ env, resources: { requests: { memory: "2Gi" }, limits: { memory: "1Gi" } } });
  await card.getByText(/^Your last change is not applied: Kubernetes rejected the Deployment web/).waitFor();
  const cells = async () =>
    Promise.all(
      (await card.getByRole("row").all()).slice(1).map((row) => row.locator("th, td").allInnerTexts()),
    );
  expect(await cells()).toEqual([
    ["Variable TOKEN", "key api of Secret tokens", "not set"],
    ["Request of memory", "2Gi", "not set"],
    ["Limit of memory", "1Gi", "not set"],
  ]);
  await expectAccessible(page);
  await expectNarrow();
  await patch({ env: null, resources: { requests: null, limits: { memory: "1024Mi" } } });
  await card.getByText("Everything that you asked for is running.").waitFor();
  await expect.poll(() => card.getByRole("table").count()).toBe(0);
});

test("pods show their CPU and memory, or why they are not known", async () => {
  await open("web");
  await page.getByText("this cluster has no metrics API").waitFor();
  const metrics = await simulatedPodMetrics(environment, team, people.alice.name);
  onTestFinished(() => metrics.remove());
  const { items } = await environment.client.list(Pod, team);
  const { name = "", labels = {} } =
    items.find((pod) => pod.metadata.name.startsWith("web-"))?.metadata ?? {};
  await metrics.set(name, labels, { cpu: "12500000n", memory: "46Mi" });
  await page.reload();
  await page.getByRole("row", { name: new RegExp(`^${name} .* 13m 46 MiB`) }).waitFor();
  const bob = await environment.loggedIn(people.bob, team);
  await bob.goto(`${environment.url}/applications/${team}/web`);
  await bob.getByText("You cannot view CPU and memory here").waitFor();
});
