/** RemoteSyncs and their builds on the page, with a worker and a simulated kpack. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allowedUrlsVariable } from "../../bus/github/allowed.ts";
import { apiVersionOf, ConfigMap, type Kind, Pod, Secret } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { type Kpack, startKpack } from "../../deploy/simulators/kpack/kpack.ts";
import { Build, Image } from "../../functions/paas/kinds/kpack.ts";
import { Application, RemoteSync } from "../../functions/paas/kinds.ts";
import { annotations, labels } from "../../functions/paas/names.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { fillIn, specOf } from "../harness/buildform.ts";
import {
  type DashboardEnvironment,
  foreign,
  people,
  startDashboardEnvironment,
  team,
} from "../harness/dashboard.ts";
import { expectDenied } from "../harness/denied.ts";
import { createNamespace, optIn } from "../harness/namespaces.ts";
import { base64 } from "../harness/secretvalues.ts";
import { has } from "../harness/testobjects.ts";

const manager = { fieldManager: "test" };
const platformNamespace = "denrei";
/** Nothing listens there: branches and pull requests stay unresolved, and commits need no GitHub. */
const githubUrl = "http://127.0.0.1:9";
const [first, second] = ["1", "2"].map((digit) => digit.repeat(40)) as [string, string];

let environment: DashboardEnvironment;
let kpack: Kpack;
let alice: Page;
/** Violations of the page's Content Security Policy, and uncaught errors. */
const complaints: string[] = [];

const at = (name: string) => ({ namespace: team, name });

async function create(kind: Kind, name: string, rest: object, namespace = team): Promise<void> {
  const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...rest };
  const { metadata = {} } = rest as { metadata?: object };
  await environment.client.create(
    kind,
    { spec: undefined, ...object, metadata: { ...metadata, name, namespace } },
    manager,
  );
}

beforeAll(async () => {
  environment = await startDashboardEnvironment();
  const { client } = environment;
  kpack = await startKpack({ client });
  await kpack.builder("default", "ready");
  await createNamespace(client, platformNamespace);
  await optIn(client, team);
  await create(
    ConfigMap,
    "modoki",
    { data: { "config.yaml": `github: { url: "${githubUrl}" }` } },
    platformNamespace,
  );
  await create(Secret, "acme-web", {
    metadata: { annotations: { "kpack.io/git": githubUrl } },
    type: "kubernetes.io/basic-auth",
    data: { username: base64("x-access-token"), password: base64("a token") },
  });
  await create(Secret, "regcred", {
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": base64(JSON.stringify({ auths: {} })) },
  });
  await environment.bridge("bridge-1");
  await environment.worker("worker-1", ["modoki-remotesync"], {
    env: { CONTROLLER_NAMESPACE: platformNamespace, [allowedUrlsVariable]: githubUrl },
  });
  alice = await environment.loggedIn(people.alice, team);
  alice.on("pageerror", ({ message }) => complaints.push(message));
  alice.on("console", (message) => {
    if (/Content Security Policy|TrustedScript/.test(message.text())) complaints.push(message.text());
  });
});
afterAll(async () => {
  await kpack?.stop();
  await environment?.stop();
});

async function open(path: string, page = alice): Promise<Page> {
  await page.goto(environment.url + path);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

const sync = (name: string): Promise<Stored<RemoteSync>> => environment.client.get(RemoteSync, at(name));

test("the page shows the build of a commit live, and opens the step that fails", async () => {
  const { client, until } = environment;
  await create(Application, "web", { spec: { domains: ["web.example.com"], replicas: 1 } });
  const page = await open("/builds");
  await page.getByRole("heading", { name: "No RemoteSyncs here yet" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Build the first repository" }).click();
  await fillIn(page, "web");
  await page.getByRole("radio", { name: "A commit" }).check();
  await page.getByLabel("Commit", { exact: true }).fill(first);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create" }).click();

  await page.getByRole("heading", { level: 1, name: "web" }).waitFor();
  await page
    .getByRole("row", { name: /#1 step by step Succeeded changed settings 1111111 .*@sha256:[0-9a-f]{12}/ })
    .waitFor();
  await page.getByRole("button", { name: /^completion Done/ }).waitFor();
  expect(await page.getByRole("log").count()).toBe(0);

  const [image] = (await client.list(Image, team)).items;
  const imageName = image?.metadata.name ?? "";
  const steering = { "sim.kpk/hold-step": "detect", "sim.kpk/fail-step": "build" };
  await client.mergePatch(Image, at(imageName), { metadata: { annotations: steering } }, manager);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("Commit", { exact: true }).fill(second);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved web.").waitFor();
  await page.getByRole("link", { name: "Overview" }).click();

  const steps = page.getByRole("region", { name: "Build 2, step by step" });
  await steps.getByRole("button", { name: /^detect Running/, expanded: true }).waitFor();
  await steps
    .getByRole("log", { name: /^Log of detect/ })
    .getByText("detect started")
    .waitFor();
  await steps.getByRole("button", { name: /^analyze Done/, expanded: false }).waitFor();
  expect(await steps.getByRole("button", { name: /^build Waiting/ }).isDisabled()).toBe(true);
  await open("/builds");
  await page.getByRole("row", { name: /web .*#2 building detect/ }).waitFor();
  const commit = page.getByRole("link", { name: "2222222" }).first();
  expect(await commit.getAttribute("href")).toBe(`${githubUrl}/acme/web/commit/${second}`);
  await expectAccessible(page);

  // The Application's page shows the same.
  await open("/applications/team-a/web/logs");
  await steps
    .getByRole("log", { name: /^Log of detect/ })
    .getByText("detect started")
    .waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "All builds of web" }).click();
  await steps.getByRole("button", { name: /^detect Running/ }).waitFor();
  const running = await until(
    Build,
    at(`${imageName}-build-2`),
    ({ status }) => status?.podName !== undefined,
  );
  const pod = running.status?.podName ?? "";
  await client.mergePatch(
    Pod,
    at(pod),
    { metadata: { annotations: { "sim.kpk/hold-step": null } } },
    manager,
  );
  await steps.getByRole("button", { name: /^build Failed with exit code 1/, expanded: true }).waitFor();
  await steps.getByRole("button", { name: /^detect Done/, expanded: false }).waitFor();
  await steps.getByRole("button", { name: /^export Not run/, disabled: true }).waitFor();
  const log = steps.getByRole("log", { name: `Log of build in ${pod}` });
  await log.getByText("ERROR: failed to build: exit status 1").waitFor();
  expect(await steps.getByRole("log").count()).toBe(1);

  const failure = page.getByRole("region", { name: "Last failure" });
  await failure.getByText("failed in the step build").waitFor();
  await failure.getByText("End of its log").click();
  await failure.getByText("ERROR: failed to build: exit status 1", { exact: false }).last().waitFor();
  await page.getByRole("region", { name: "Events" }).getByText("Build failed").waitFor();
  await expectAccessible(page);
}, 300_000);

test("steps open and close with the keyboard, and former builds can be shown", async () => {
  const page = await open("/builds/team-a/web");
  const step = page.getByRole("button", { name: /^prepare Done/ });
  await step.focus();
  await page.keyboard.press("Enter");
  await page
    .getByRole("log", { name: /^Log of prepare/ })
    .getByText("Fetching the source")
    .waitFor();
  await page.keyboard.press("Space");
  await page.getByRole("log", { name: /^Log of prepare/ }).waitFor({ state: "detached" });

  await page.getByRole("link", { name: "#1 step by step" }).click();
  const steps = page.getByRole("region", { name: "Build 1, step by step" });
  await steps.getByRole("button", { name: /^build Done/, expanded: false }).waitFor();
  await environment.client.delete(Pod, at("modoki-web-build-1-build-pod"), {});
  await steps.getByText("Its pod no longer exists, so there is no log.").waitFor();
  expect(await steps.textContent()).toContain("Completed steps: prepare, analyze, detect");
});

test("a RemoteSync can be paused, resumed, refreshed, and deleted after its name is typed", async () => {
  const { until, untilGone } = environment;
  await create(RemoteSync, "short", { spec: specOf("short") });
  const page = await open("/builds/team-a/short");
  await page.getByRole("button", { name: "Pause" }).click();
  await until(RemoteSync, at("short"), has("Ready", "False", "Paused"));
  await page.getByRole("button", { name: "Refresh now", disabled: true }).waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await until(RemoteSync, at("short"), ({ spec }) => spec.paused === undefined);
  await page.getByRole("button", { name: "Refresh now" }).click();
  const refreshed = await until(
    RemoteSync,
    at("short"),
    ({ metadata }) => metadata.annotations?.[annotations.refreshedAt] !== undefined,
  );
  expect(refreshed.metadata.annotations?.[annotations.refreshedAt]).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/);

  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete RemoteSync short?" });
  await expectAccessible(page);
  expect(await dialog.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
  await dialog.getByLabel("Type short to confirm").fill("short");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await untilGone(RemoteSync, at("short"));
  await page.getByRole("heading", { level: 1, name: "Builds" }).waitFor();
});

test("a viewer sees builds and their steps, and cannot pause them", async () => {
  const page = await environment.loggedIn(people.bob);
  await open("/builds/team-a/web", page);
  await page.getByRole("button", { name: /^build Failed with exit code 1/ }).waitFor();
  await expectDenied(page, "Pause", { right: "patch remotesyncs", namespace: team });
  expect((await sync("web")).spec.paused).toBeUndefined();
});

test("reports a missing RemoteSync, and nothing is wider than a phone's screen", async () => {
  const page = await open("/builds/team-a/nothing");
  await page.getByRole("heading", { name: "RemoteSync nothing not found" }).waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  for (const [path, text] of [
    ["/builds", "commit 2222222"],
    ["/builds/team-a/web", "Build 2, step by step"],
    ["/builds/new", "Source"],
  ] as const) {
    await open(path);
    await page.getByText(text).first().waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBe(390);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("the first login selects a namespace in which the user has a role, and refusals name it", async () => {
  const page = await environment.loggedIn(people.bob);
  await page.getByRole("rowheader").getByRole("link", { name: "web", exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe(`?namespace=${team}`);
  await page.goto(`${environment.url}/builds?namespace=${foreign}`);
  await page.getByRole("heading", { name: `You cannot view this in ${foreign}` }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: `Switch to ${team}` }).click();
  await page.getByRole("rowheader").getByRole("link", { name: "web", exact: true }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: `You cannot view this in ${foreign}` }).waitFor();
  expect(await page.getByLabel("Namespace", { exact: true }).inputValue()).toBe(foreign);
});

test("the last commit can be rebuilt after its build has ended, by a user with the right", async () => {
  const { client, until } = environment;
  const [image] = (await client.list(Image, team)).items.filter(
    ({ metadata }) => metadata.labels?.[labels.remoteSync] === "web",
  );
  const imageName = image?.metadata.name ?? "";
  const steering = { "sim.kpk/hold-step": "detect", "sim.kpk/fail-step": null };
  await client.mergePatch(Image, at(imageName), { metadata: { annotations: steering } }, manager);
  const bob = await open("/builds/team-a/web", await environment.loggedIn(people.bob));
  await expectDenied(bob, "Build again", { right: "patch builds", namespace: team });

  const page = await open("/builds/team-a/web");
  const again = page.getByRole("button", { name: "Build again" });
  await again.click();
  await page.getByText("Building the commit of build 2 again.").waitFor();
  await page.getByRole("row", { name: /#3 step by step Running requested 2222222/ }).waitFor();
  expect(await again.isDisabled()).toBe(true);
  await expectAccessible(page);
  const { status } = await until(Build, at(`${imageName}-build-3`), (build) =>
    Boolean(build.status?.podName),
  );
  const released = { metadata: { annotations: { "sim.kpk/hold-step": null } } };
  await client.mergePatch(Pod, at(status?.podName ?? ""), released, manager);
  await page.getByRole("row", { name: /#3 step by step Succeeded requested 2222222/ }).waitFor();
  await until(RemoteSync, at("web"), ({ status }) => status?.buildNumber === 3);
  await page.getByRole("button", { name: "Build again", disabled: false }).waitFor();
});

test("the page violates no policy and throws no error", () => {
  expect(complaints).toEqual([]);
});
