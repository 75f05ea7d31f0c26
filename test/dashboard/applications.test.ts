/** Applications on the page, from the form to the pods, with a real API server, real workers, and a real browser. */
import { appendFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { apiVersionOf } from "../../bus/kube/kind.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { podLogLine } from "../../deploy/local/index.ts";
import { Application } from "../../functions/paas/kinds.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { expectDenied } from "../harness/denied.ts";
import { has } from "../harness/testobjects.ts";

let environment: DashboardEnvironment;
let alice: Page;
let bob: Page;
/** Violations of the page's Content Security Policy, and uncaught errors. */
const complaints: string[] = [];

beforeAll(async () => {
  environment = await startDashboardEnvironment();
  await Promise.all([
    environment.bridge("bridge-1"),
    environment.worker("worker-1", ["modoki-application"], { env: { CONTROLLER_NAMESPACE: team } }),
  ]);
  [alice, bob] = [
    await environment.loggedIn(people.alice, team),
    await environment.loggedIn(people.bob, team),
  ];
  for (const page of [alice, bob]) {
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy|TrustedScript/.test(message.text())) complaints.push(message.text());
    });
  }
});
afterAll(() => environment?.stop());

const at = (name: string) => ({ namespace: team, name });
const until = (name: string, condition: (app: Application) => boolean) =>
  environment.until(Application, at(name), condition);
const go = (page: Page, path: string) => page.goto(`${environment.url}${path}`);
const open = (page: Page, name: string, tab = "") =>
  go(page, `/applications/${team}/${name}${tab && `/${tab}`}`);
const create = (name: string, spec: object = {}) =>
  environment.client.create(
    Application,
    {
      apiVersion: apiVersionOf(Application),
      kind: "Application",
      metadata: { name, namespace: team },
      spec: { domains: [`${name}.example.com`], replicas: 1, ...spec },
    },
    { fieldManager: "test" },
  );

const remove = (name: string) => environment.client.delete(Application, at(name), {});

/** The CRD with a limit for the number of pods. */
const withMostPods = (maximum: number) =>
  JSON.parse(JSON.stringify(crdOf(Application)), (field, value) =>
    field === "replicas" && value.default === 1 ? { ...value, maximum } : value,
  );

test("an Application created with the form is deployed, and its pods are shown", async () => {
  await go(alice, "/applications");
  await alice.getByRole("link", { name: "Create an Application" }).click();
  await alice.getByLabel("Name", { exact: true }).fill("web");
  await alice.getByLabel("Hosts").fill("web.example.com");
  await alice.getByLabel("Image", { exact: true }).fill("web:1");
  await alice.getByRole("button", { name: "Add a variable" }).click();
  await alice.getByLabel("Name of variable 1").fill("GREETING");
  await alice.getByLabel("Value of variable 1").fill("hello");
  await alice.getByRole("button", { name: "Create", exact: true }).click();
  await alice.getByRole("heading", { name: "web", level: 1 }).waitFor();
  await alice.getByText("Created web.").waitFor();
  const { spec } = await until("web", has("Ready", "True"));
  expect(spec).toMatchObject({ image: "web:1", env: [{ name: "GREETING", value: "hello" }] });
  // The page updates without a reload.
  await alice.locator(".head").getByText("Ready", { exact: true }).waitFor();
  await alice.getByRole("row", { name: /Running/ }).waitFor();
  await alice.getByRole("link", { name: "https://web.example.com" }).waitFor();
  await alice.getByText("Deployment").first().waitFor();
  await expectAccessible(alice);
});

describe("a form", () => {
  test("shows a message of the API server next to the field that it names", async () => {
    // As if the CRD were newer than the page.
    const install = (most: number) =>
      installCrds(environment.client, [withMostPods(most)], {
        fieldManager: "test",
        signal: AbortSignal.timeout(60_000),
      });
    onTestFinished(() => install(2 ** 31 - 1));
    await install(5);
    await go(alice, "/applications/new");
    await alice.getByLabel("Name", { exact: true }).fill("many");
    await alice.getByLabel("Hosts").fill("many.example.com");
    const pods = alice.getByLabel("Pods", { exact: true });
    await pods.fill("9");
    await expect
      .poll(() => create("many", { replicas: 9 }).then(() => remove("many"), String))
      .toContain("422");
    await alice.getByRole("button", { name: "Create", exact: true }).click();
    await alice
      .getByText("Kubernetes rejects this value: 9: spec.replicas in body should be less than or equal to 5")
      .waitFor();
    expect(await pods.getAttribute("aria-invalid")).toBe("true");
    await expect.poll(() => pods.evaluate((element) => element.matches(":focus"))).toBe(true);
    expect(await alice.locator(".notices .bad").count()).toBe(0);
  });

  test("does not overwrite a concurrent change", async () => {
    await create("shared", { image: "shared:1" });
    await until("shared", has("Ready", "True"));
    await open(alice, "shared", "settings");
    await alice.getByLabel("Image", { exact: true }).fill("shared:alice");
    await environment.client.mergePatch(
      Application,
      at("shared"),
      { spec: { image: "shared:other" } },
      { fieldManager: "other" },
    );
    await alice.getByText("The object changed since you started editing.").waitFor();
    await alice.getByRole("button", { name: "Save" }).click();
    await alice.getByText("Start over from the current version.").first().waitFor();
    expect((await environment.client.get(Application, at("shared"))).spec.image).toBe("shared:other");
    await alice.getByRole("button", { name: "Start over from the current version" }).click();
    await expect.poll(() => alice.getByLabel("Image", { exact: true }).inputValue()).toBe("shared:other");
  });
});

test("environment variables can be changed and removed", async () => {
  await open(alice, "web", "settings");
  await alice.getByLabel("Value of variable 1").fill("good morning");
  await alice.getByRole("button", { name: "Add a variable" }).click();
  await alice.getByLabel("Name of variable 2").fill("TOKEN");
  await alice.getByLabel("Source of variable 2").selectOption("Key of a Secret");
  await alice.getByLabel("Secret of variable 2").fill("tokens");
  await alice.getByLabel("Key of variable 2").fill("api");
  await alice.getByRole("button", { name: "Add a source" }).click();
  await alice.getByLabel("Kind of source 1").selectOption("ConfigMap");
  await alice.getByLabel("Name of source 1").fill("settings");
  await alice.getByRole("button", { name: "Save" }).click();
  const both = await until("web", ({ spec }) => spec.env?.length === 2);
  expect(both.spec.env).toEqual([
    { name: "GREETING", value: "good morning" },
    { name: "TOKEN", valueFrom: { secretKeyRef: { name: "tokens", key: "api" } } },
  ]);
  expect(both.spec.envFrom).toEqual([{ configMapRef: { name: "settings" } }]);
  await alice.getByText("Saved web.").waitFor();
  await alice.getByRole("button", { name: "Remove variable 1" }).click();
  await alice.getByRole("button", { name: "Save" }).click();
  await until("web", ({ spec }) => spec.env?.length === 1 && spec.env[0]?.name === "TOKEN");
});

test("an Application can be scaled, and restarted as kubectl does it", async () => {
  await open(alice, "web");
  await alice.getByRole("button", { name: "Scale" }).click();
  await alice.getByLabel("Number of pods").fill("2");
  await expectAccessible(alice);
  await alice.getByRole("dialog").getByRole("button", { name: "Scale" }).click();
  await until("web", ({ spec, status }) => spec.replicas === 2 && status?.readyReplicas === 2);
  await alice.getByText("2 of 2 ready").waitFor();
  await alice.getByRole("button", { name: "Restart", exact: true }).click();
  await environment.until(Deployment, at("web"), ({ spec }) =>
    JSON.stringify(spec).includes("kubectl.kubernetes.io/restartedAt"),
  );
  expect((await environment.client.get(Application, at("web"))).spec.replicas).toBe(2);
  await environment.until(
    Deployment,
    at("web"),
    ({ metadata, status }) =>
      status?.observedGeneration === metadata.generation &&
      status?.updatedReplicas === 2 &&
      status.replicas === 2 &&
      status.readyReplicas === 2,
  );
});

test("the logs of its pods are followed, together and of one pod", async () => {
  const path = environment.platform.podLogsPath ?? "";
  await appendFile(path, podLogLine("listening on 8080"));
  await open(alice, "web", "logs");
  const log = alice.getByRole("log");
  // All simulated containers have the same log.
  await expect.poll(() => log.getByText("listening on 8080").count()).toBe(2);
  const pods = alice.getByRole("combobox", { name: "Pod" });
  expect(await pods.getByRole("option").allTextContents()).toEqual([
    "All pods (2)",
    expect.stringMatching(/^web-/),
    expect.stringMatching(/^web-/),
  ]);
  await pods.selectOption({ index: 1 });
  await expect.poll(() => log.getByText("listening on 8080").count()).toBe(1);
  await appendFile(path, podLogLine("a request"));
  await log.getByText("a request").waitFor();
  await expectAccessible(alice);
});

test("an Application can be rolled back to a former image, and forward again", async () => {
  await environment.client.mergePatch(
    Application,
    at("web"),
    { spec: { image: "web:2" } },
    { fieldManager: "test" },
  );
  await until("web", ({ status }) => status?.currentImage === "web:2");
  await open(alice, "web", "history");
  await alice.getByRole("button", { name: "Roll back to web:1" }).click();
  await alice.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
  await until("web", ({ status }) => status?.currentImage === "web:1");
  await alice.getByText("Pinned to web:1").waitFor();
  await expectAccessible(alice);
  // The row of the newer image offers no rollback, and the settings say that a changed image is not deployed.
  const offered = alice
    .getByRole("row", { name: "web:2" })
    .getByRole("button", { name: /^(Deploy|Roll back)/ });
  expect(await offered.allInnerTexts()).toEqual(["Deploy the newest image"]);
  await alice.getByRole("link", { name: "Settings" }).click();
  await alice.getByText("Saving this image does not deploy it while another one is pinned.").waitFor();
  await alice.getByLabel("Image", { exact: true }).fill("web:3");
  await alice.getByRole("button", { name: "End the pin" }).click();
  await alice.getByRole("button", { name: "Save" }).click();
  await until("web", ({ status }) => status?.currentImage === "web:3");
  await alice.getByRole("link", { name: "History" }).click();
  await alice.getByRole("button", { name: "Roll back to web:2" }).click();
  await alice.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
  await until("web", ({ status }) => status?.currentImage === "web:2");
  await alice.getByRole("button", { name: "Deploy the newest image" }).first().click();
  await until("web", ({ status }) => status?.currentImage === "web:3");
});

test("a viewer sees everything, and buttons name the right that the viewer lacks", async () => {
  await open(bob, "web");
  await bob.getByText("2 of 2 ready").waitFor();
  await expectDenied(bob, "Scale", { right: "patch applications/scale", namespace: team });
  await expectDenied(bob, "Restart", { right: "patch deployments", namespace: team });
  await expectDenied(bob, "Delete", { right: "delete applications", namespace: team });
  await expectAccessible(bob);
  // Errors go with their screen.
  const notices = bob.locator(".notices .notice");
  expect(await notices.count()).toBe(3);
  await bob.getByRole("link", { name: "Settings" }).click();
  await expect.poll(() => notices.count()).toBe(0);
  await expectDenied(bob, "Save", { right: "patch applications", namespace: team });
  expect(await bob.getByLabel("Image", { exact: true }).inputValue()).toBe("web:3");
});

test("the events say why there are no pods", async () => {
  const limits = { apiVersion: "v1", kind: "LimitRange", metadata: { name: "small" } };
  const path = `/api/v1/namespaces/${team}/limitranges`;
  const spec = { limits: [{ type: "Container", max: { memory: "1Gi" } }] };
  await environment.client.request({ method: "POST", path, body: { ...limits, spec } });
  onTestFinished(async () => {
    await environment.client.request({ method: "DELETE", path: `${path}/small` });
  });
  await create("large", { image: "large:1", resources: { limits: { memory: "2Gi" } } });
  await open(alice, "large");
  const events = alice.getByRole("region", { name: "Events" });
  await events.getByText("Failed create", { exact: true }).first().waitFor();
  await events
    .getByText(/maximum memory usage per Container is 1Gi, but limit is 2Gi/)
    .first()
    .waitFor();
});

test("a rejected object is reported in a sentence, and not listed among the resources", async () => {
  await create("greedy", {
    image: "greedy:1",
    resources: { requests: { memory: "2Gi" }, limits: { memory: "1Gi" } },
  });
  await until("greedy", has("Applied", "False", "Invalid"));
  await open(alice, "greedy");
  await alice
    .getByText(
      /^Kubernetes rejected the Deployment greedy: spec\..*must be less than or equal to memory limit/,
    )
    .first()
    .waitFor();
  const nodes = alice.getByRole("region", { name: "Resources" }).locator(".node");
  await expect
    .poll(async () => (await nodes.allInnerTexts()).map((text) => text.split(/\s+/).slice(0, 2)))
    .toEqual([
      ["Application", "greedy"],
      ["Service", "greedy"],
      ["Ingress", "greedy"],
    ]);
});

test("an Application is deleted after its name is typed, and disappears from the list at once", async () => {
  await create("doomed");
  await go(bob, "/applications");
  await bob.getByRole("link", { name: "doomed", exact: true }).waitFor();
  await open(alice, "doomed");
  await alice.getByRole("button", { name: "Delete" }).click();
  const confirm = alice.getByRole("dialog").getByRole("button", { name: "Delete" });
  await alice.getByLabel("Type doomed to confirm").fill("doome");
  expect(await confirm.isDisabled()).toBe(true);
  await alice.getByLabel("Type doomed to confirm").fill("doomed");
  await confirm.click();
  await environment.untilGone(Application, at("doomed"));
  await bob.getByRole("link", { name: "doomed", exact: true }).waitFor({ state: "detached" });
  await open(alice, "doomed");
  await alice.getByRole("heading", { name: "Application doomed not found" }).waitFor();
});

test("text from objects is never rendered as HTML", async () => {
  const attack = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;
  await create("texts", { args: [attack], attributes: { [attack]: attack } });
  await environment.client.mergePatch(
    Application,
    at("texts"),
    {
      status: {
        url: "javascript:document.title='taken'",
        urls: ["javascript:document.title='taken'"],
        message: attack,
        currentImage: attack,
      },
    },
    { fieldManager: "test", subresource: "status" },
  );
  for (const tab of ["", "settings", "history"]) {
    await open(alice, "texts", tab);
    await alice.getByRole("heading", { name: "texts", level: 1 }).waitFor();
    expect(await alice.locator('a[href^="javascript:"], img[src="x"]').count()).toBe(0);
    // The page sets it after the heading.
    await expect.poll(() => alice.title()).toBe("texts · Denrei");
  }
});

test("the page violates no policy and throws no error", () => {
  expect(complaints).toEqual([]);
});
