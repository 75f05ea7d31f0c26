/** The PipeCD screens, while its functions create and delete a stack. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Kind, Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { type PipecdPods, startPipecdPods } from "../../deploy/simulators/pipecd/pods.ts";
import { functions } from "../../functions/index.ts";
import {
  Application,
  ControlPlane,
  Environment,
  EventRegistration,
  Minio,
  Mysql,
  Piped,
} from "../../functions/pipecd/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { expectDenied } from "../harness/denied.ts";
import { optIn } from "../harness/namespaces.ts";
import { sample, stackKinds } from "../harness/pipecd.ts";
import { has } from "../harness/testobjects.ts";

const plane = "controlplane-sample";
const at = (name: string) => ({ namespace: team, name });

let environment: DashboardEnvironment;
let pods: PipecdPods;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
  await optIn(environment.client, team);
  pods = await startPipecdPods({ client: environment.client });
  await environment.bridge("bridge-1");
  await environment.worker(
    "worker-1",
    functions.map(({ name }) => name).filter((name) => name.startsWith("pipecd-")),
    { env: { DENREI_PIPECD_WEB_ADDRESS: pods.web, DENREI_PIPECD_API_ADDRESS: pods.api } },
  );
});
// A stack comes up and is deleted in many steps.
vi.setConfig({ testTimeout: 300_000 });
afterAll(async () => {
  await pods?.stop();
  await environment?.stop();
});

async function applySample(): Promise<void> {
  for (const object of sample("c")) {
    const kind = [...stackKinds, Secret as Kind].find((one) => one.kind === object.kind) as Kind;
    const metadata = { ...object.metadata, namespace: team };
    const spec = kind === (ControlPlane as Kind) ? { ...object.spec, bootstrapAPIKeys: true } : object.spec;
    await environment.client.create(kind, { ...object, metadata, spec } as unknown as KubeObject, {
      fieldManager: "kubectl",
    });
  }
}

/** Opens the list of the team's namespace. */
async function pipecdPage(): Promise<Page> {
  const page = await environment.loggedIn(people.alice);
  await page.getByLabel("Namespace", { exact: true }).fill(team);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "PipeCD" }).click();
  return page;
}

/** The steps of a deletion: each with its name, its state, and what its objects wait for. */
const steps = (page: Page): Locator =>
  page.getByRole("region", { name: `Deletion in ${team}` }).locator("ol > li");

const untilSteps = (page: Page, expected: readonly RegExp[]) =>
  expect
    .poll(async () => (await steps(page).allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ")), {
      timeout: 60_000,
    })
    .toEqual(expected.map((text) => expect.stringMatching(text)));

test("shows a stack coming up, with the parts of its control plane and everything that it owns", async () => {
  const page = await pipecdPage();
  await page.getByRole("heading", { name: "No PipeCD objects here yet" }).waitFor();
  await expectAccessible(page);
  await applySample();
  const row = (section: string, name: string) =>
    page.getByRole("region", { name: section }).getByRole("row", { name });
  for (const part of ["gateway", "server", "cache", "ops"])
    await row("Control planes", plane).getByText(`${part} 1/1`).waitFor({ timeout: 90_000 });
  for (const [section, name] of [
    ["Control planes", plane],
    ["Stores", "minio-sample"],
    ["Stores", "mysql-sample"],
    ["Environments", "environment-sample"],
    ["Pipeds", "piped-sample"],
    ["Applications", "application-sample"],
  ] as const)
    await row(section, name).getByText("Ready", { exact: true }).waitFor({ timeout: 90_000 });
  expect(await page.getByText(/^Deletion in/).count()).toBe(0);
  await expectAccessible(page);

  await page.getByRole("link", { name: plane }).click();
  const resources = page.getByRole("region", { name: "Resources" });
  const nodes = (text: string | RegExp) => resources.locator(".node").filter({ hasText: text });
  const expectStack = async () => {
    for (const part of ["gateway", "server", "cache", "ops"])
      await nodes(`Deployment ${plane}-${part}`).getByText("1/1 available").waitFor();
    expect(await nodes(/^Deployment/).count()).toBe(4);
    await expect.poll(() => nodes(/^Pod .*Running/).count()).toBe(4);
  };
  await expectStack();
  // The API server's list of Deployments does not name the kind of each.
  await page.reload();
  await expectStack();
  await page.getByText("gateway, server, cache, and ops are available").waitFor();
  const compared = page.getByRole("region", { name: "Wanted and running" });
  await compared.getByText("Everything that you asked for is running.").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "mysql-sample" }).click();
  await page.getByRole("heading", { name: "mysql-sample", level: 1 }).waitFor();
  await nodes("StatefulSet mysql-sample-mysql").getByText("1/1 available").waitFor();
  await nodes(/^Pod mysql-sample-mysql-0/).waitFor();
  expect(await nodes(/^(Deployment|StatefulSet)/).count()).toBe(1);
  await compared.getByText("Everything that you asked for is running.").waitFor();
  await page.goto(`${environment.url}/pipecd/pipeds/${team}/piped-sample`);
  await nodes("Application application-sample").getByText("Ready", { exact: true }).waitFor();
  await compared.getByText("Everything that you asked for is running.").waitFor();
  await resources.getByRole("link", { name: "application-sample" }).click();
  await page.getByRole("heading", { name: "application-sample", level: 1 }).waitFor();
  await compared.getByText("Everything that you asked for is running.").waitFor();

  await page.getByRole("button", { name: "Show the YAML" }).click();
  await page.reload();
  await page.locator("pre.yaml").getByText("pipedRef").waitFor();
  await expectAccessible(page);
});

test("shows which settings of a Piped do not run, and why", async () => {
  const page = await environment.loggedIn(people.alice, team);
  const compared = page.getByRole("region", { name: "Wanted and running" });
  const { spec } = await environment.client.get(Piped, at("piped-sample"));
  const patch = (change: object) =>
    environment.client.mergePatch(Piped, at("piped-sample"), { spec: change }, { fieldManager: "kubectl" });
  await page.goto(`${environment.url}/pipecd/pipeds/${team}/piped-sample`);
  await patch({ version: "v0.36.0", name: "renamed" });
  await compared.getByText("Your last change is not applied: PipeCD v0.36.0 is not supported").waitFor();
  const rows = await compared.getByRole("row").all();
  expect(await Promise.all(rows.slice(1).map((row) => row.locator("th, td").allInnerTexts()))).toEqual([
    ["Name in PipeCD", "renamed", spec.name],
    ["Version", "v0.36.0", spec.version],
  ]);
  await expectAccessible(page);
  await page.setViewportSize({ width: 320, height: 800 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
  await patch({ version: spec.version, name: spec.name });
  await compared.getByText("Everything that you asked for is running.").waitFor();
  expect(await compared.getByRole("table").count()).toBe(0);
});

test("an EventRegistration is shown with its event, source, and conditions, and can be deleted", async () => {
  const spec = { name: "web-image", projectID: "quickstart", insecure: true, source: { data: "web:2" } };
  const { kind, group, version } = EventRegistration;
  const registration = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: "web", namespace: team },
    spec,
  };
  await environment.client.create(EventRegistration as Kind, registration as unknown as KubeObject, {
    fieldManager: "kubectl",
  });
  const page = await pipecdPage();
  const row = page.getByRole("region", { name: "Event registrations" }).getByRole("row", { name: "web" });
  await row.getByText("Not handled yet").waitFor({ timeout: 60_000 });
  await row.getByText("Ready", { exact: true }).waitFor();
  expect(await row.innerText()).toMatch(/web-image\s+quickstart\s+Text/);
  await page.getByRole("link", { name: "web", exact: true }).click();
  await page.getByRole("heading", { name: "web", level: 1 }).waitFor();
  await page.getByRole("region", { name: "EventRegistration" }).getByText("web:2").waitFor();
  await page.getByText("Registered", { exact: true }).first().waitFor();
  expect(await page.getByRole("region", { name: "Resources" }).count()).toBe(0);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete EventRegistration web?" });
  await dialog.getByText("PipeCD keeps the registered ones.").waitFor();
  await dialog.getByRole("textbox").fill("web");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await environment.untilGone(EventRegistration as Kind, { namespace: team, name: "web" });
});

/** Blocks the deletion of an object with a finalizer until the test removes it. */
const finalizer = "test.denrei.dev/seen";

async function changeFinalizers(kind: Kind, name: string, change: (before: readonly string[]) => string[]) {
  const { client } = environment;
  const changeOnce = async () => {
    const { resourceVersion, finalizers = [] } = (await client.get(kind, at(name))).metadata;
    const metadata = { resourceVersion, finalizers: change(finalizers) };
    await client.mergePatch(kind, at(name), { metadata }, { fieldManager: "test" });
  };
  // Retries, because the function may remove its own finalizer concurrently.
  await vi.waitFor(changeOnce, { timeout: 60_000 });
}

/** In the order of deletion, after the Application. */
const stages: readonly (readonly (readonly [kind: unknown, name: string])[])[] = [
  [[Piped, "piped-sample"]],
  [[Environment, "environment-sample"]],
  [[ControlPlane, plane]],
  [
    [Minio, "minio-sample"],
    [Mysql, "mysql-sample"],
  ],
];

test("shows the order of a deletion live, with what each object waits for, and keeps finished steps", async () => {
  const { url } = environment;
  await environment.until(Piped, at("piped-sample"), has("Ready", "True"));
  await environment.until(Application, at("application-sample"), has("Ready", "True"));
  for (const [kind, name] of stages.flat())
    await changeFinalizers(kind as Kind, name, (before) => [...before, finalizer]);
  const page = await environment.loggedIn(people.alice);
  await page.goto(`${url}/pipecd/controlplanes/${team}/${plane}`);
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: `Delete ControlPlane ${plane}?` });
  await dialog.getByText(/The deletion waits while Applications, Pipeds, or Environments need it/).waitFor();
  await dialog.getByRole("textbox").fill(plane);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await untilSteps(page, [
    /^Applications Blocking .* Application application-sample blocking Later steps wait until you delete it/,
    /^Pipeds Blocking/,
    /^Environments Blocking/,
    /^Control plane Waiting .* It waits for Application application-sample, Piped piped-sample, Environment environment-sample/,
  ]);
  await expectAccessible(page);
  for (const [kind, name] of [
    [Minio, "minio-sample"],
    [Mysql, "mysql-sample"],
    [Environment, "environment-sample"],
    [Piped, "piped-sample"],
  ] as const)
    await environment.client.delete(kind as Kind, at(name), {});
  await untilSteps(page, [
    /^Applications Blocking/,
    /^Pipeds Waiting .* It waits for Application application-sample\.$/,
    /^Environments Waiting .* It waits for Piped piped-sample, Application application-sample\.$/,
    /^Control plane Waiting/,
    new RegExp(
      `^Stores Waiting .* Minio minio-sample waiting It waits for ControlPlane ${plane}\\. Mysql mysql-sample`,
    ),
  ]);

  // Start watching before anything is deleted.
  const seen = await page.evaluateHandle(`({ all: new Promise((resolve) => {
    const seen = [];
    new MutationObserver(() => {
      const states = [...document.querySelectorAll(".steps > li")].map(({ dataset }) => dataset.state);
      seen.push(states.join(" "));
      if (states.length > 0 && states.every((state) => state === "gone")) resolve(seen);
    }).observe(document.body, { childList: true, subtree: true, attributes: true });
  }) })`);
  await environment.client.delete(Application as Kind, at("application-sample"), {});
  // Events of different kinds are not ordered.
  for (const [before, objects] of stages.entries()) {
    const done = page.locator('.steps > li[data-state="gone"]');
    await expect.poll(() => done.count(), { timeout: 90_000 }).toBe(before + 1);
    for (const [kind, name] of objects)
      await changeFinalizers(kind as Kind, name, (all) => all.filter((one) => one !== finalizer));
  }
  await page.getByRole("status").getByText("Deletion complete").waitFor({ timeout: 90_000 });
  for (const states of await seen.evaluate<string[], { all: Promise<string[]> }>(({ all }) => all))
    expect(states, "what is done comes before what is not").toMatch(
      /^(gone ?)*((going|stalled) ?)?((waiting|kept|going) ?)*$/,
    );
  await untilSteps(page, [
    /^Applications Done .* Application application-sample deleted$/,
    /^Pipeds Done/,
    /^Environments Done/,
    /^Control plane Done/,
    /^Stores Done .* Minio minio-sample deleted Mysql mysql-sample deleted$/,
  ]);
  await page.getByRole("heading", { name: `ControlPlane ${plane} was deleted` }).waitFor();
  await expectAccessible(page);
  await environment.untilGone(ControlPlane as Kind, at(plane));
});

test("reports why a deletion is forbidden", async () => {
  const { url } = environment;
  const piped = sample("c").find(({ kind }) => kind === "Piped");
  await environment.client.create(
    Piped,
    { ...(piped as unknown as Piped), metadata: { name: "lonely", namespace: team } },
    { fieldManager: "kubectl" },
  );
  const page = await environment.loggedIn(people.alice);
  await page.goto(`${url}/pipecd/pipeds/${team}/lonely`);
  await page.getByRole("heading", { name: "lonely", level: 1 }).waitFor();
  await expectDenied(page, "Delete", { right: "delete pipeds", namespace: team });
  await page.goto(`${url}/pipecd/elsewhere/${team}/lonely`);
  await page.getByText("Page not found").waitFor();
});
