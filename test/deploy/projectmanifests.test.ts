/** `denrei manifests`, for this repository and for a project of a user. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { render } from "../../deploy/helm/kustomize.ts";
import { containerOf, find, isWorkload, type Manifest, type Workload } from "./manifests.ts";
import { beside, overlay } from "./overlays.ts";
import { parcels, printed, runIn } from "./projects.ts";

const workloadsIn = (objects: readonly Manifest[]) => objects.filter(isWorkload);
const settingsIn = (objects: readonly Manifest[]) =>
  objects.find(({ metadata }) => metadata.name.startsWith("denrei-settings-"))?.data;

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "test-manifests-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe("small", () => {
  let objects: Manifest[];
  beforeAll(async () => {
    objects = await printed(["--profile", "small"]);
    // Without kubectl, kustomize may have to be built first.
  }, 900_000);

  test("runs all built-in functions in at most 4 pods that request at most half a CPU and 1 GiB", () => {
    const pods = workloadsIn(objects);
    expect(pods.map(({ spec }) => spec.replicas)).toEqual([1, 1, 1, 1]);
    const requests = pods.flatMap(({ spec }) =>
      spec.template.spec.containers.map(({ resources }) => resources?.requests ?? {}),
    );
    const sum = (name: "cpu" | "memory", unit: string) =>
      requests.map((one) => Number(one[name]?.replace(unit, ""))).reduce((a, b) => a + b, 0);
    expect(sum("cpu", "m")).toBeLessThanOrEqual(500);
    expect(sum("memory", "Mi")).toBeLessThanOrEqual(1024);
    expect(objects.filter(({ kind }) => kind === "PodDisruptionBudget")).toEqual([]);
  });

  test("comes in an order in which kubectl can create everything at once", () => {
    const kinds = [...new Set(objects.map(({ kind }) => kind))];
    expect(kinds.slice(0, 3)).toEqual(["Namespace", "CustomResourceDefinition", "ServiceAccount"]);
    expect(kinds.slice(-2).sort()).toEqual(["Deployment", "StatefulSet"]);
  });

  test("fits into the annotation of kubectl apply, unlike the standard profile of all functions", async () => {
    for (const object of objects) expect(JSON.stringify(object).length).toBeLessThan(262_144);
    const advice = async (profile: string) =>
      (await runIn(undefined, ["manifests", "--profile", profile])).stderr;
    expect(await advice("small")).not.toContain("--server-side");
    expect(await advice("standard")).toContain("use kubectl apply --server-side");
  });

  test("has the certificates that its pods mount, and replaces all pods with them", async () => {
    const secrets = objects.filter(({ kind }) => kind === "Secret").map(({ metadata }) => metadata.name);
    const mounted = workloadsIn(objects).flatMap(({ spec }) =>
      (spec.template.spec.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []),
    );
    expect(secrets).toEqual(
      expect.arrayContaining(mounted.filter((name) => name !== "denrei-webhook-secrets")),
    );
    const checksums = (of: readonly Manifest[]) =>
      workloadsIn(of).map(({ spec }) => spec.template.metadata.annotations?.["checksum/certificates"]);
    const before = new Set(checksums(objects));
    const after = new Set(checksums(await printed(["--profile", "small"])));
    expect([before.size, after.size, new Set([...before, ...after]).size]).toEqual([1, 1, 2]);
  });

  test("leaves out certificates on demand, and says how to create them", async () => {
    const { stdout, stderr } = await runIn(undefined, [
      "manifests",
      "--profile",
      "small",
      "--no-certificates",
    ]);
    expect(stdout).not.toContain("kind: Secret");
    expect(stdout).not.toContain("checksum/certificates");
    expect(stderr).toContain(
      "npx denrei certificates --profile small --namespace denrei | kubectl apply -f -",
    );
    expect(stderr).toContain("create secret generic denrei-webhook-secrets --namespace denrei");
    expect(stderr).toContain("--from-literal=github.<hook>=<secret>");
  });

  test("is one process on demand", async () => {
    const one = await printed(["--profile", "small", "--one-process"]);
    expect(workloadsIn(one).map(({ metadata }) => metadata.name)).toEqual(["denrei-run", "nats"]);
    const run = find<Workload>(one, "Deployment", "denrei-run");
    expect(containerOf(run)).toMatchObject({ args: ["run"], image: "denrei:0.1.0" });
    find(one, "Secret", "denrei-run-tls");
    expect(JSON.stringify(one)).toContain("CN=denrei-run");
    expect(JSON.stringify(one)).not.toMatch(/denrei-(bridge|worker)|CN=denrei-gateway/);
  });
});

/** The objects without what the command adds to the kustomization: the image, and the cluster in the settings. */
const namesIn = (objects: readonly Manifest[]) =>
  objects
    .map(({ kind, metadata }) => `${kind} ${metadata.name.replace(/-[bcdfghkmt2456789]{10}$/, "")}`)
    .sort();

test("production is the overlay of the same name, with the rights of users", async () => {
  const expected = [...(await overlay("production")), ...(await beside("users"))];
  const objects = await printed(["--profile", "production"]);
  expect(namesIn(objects)).toEqual(namesIn(expected));
  const same = ["Deployment", "ClusterRole", "NetworkPolicy", "CustomResourceDefinition"];
  const comparable = (of: readonly Manifest[]) =>
    of
      .filter(({ kind }) => same.includes(kind))
      .map((one) => JSON.stringify(one).replace(/denrei-settings-\w+/g, ""));
  expect(comparable(objects).sort()).toEqual(comparable(expected).sort());
});

test("a disabled component leaves no trace", async () => {
  const env = { DENREI_COMPONENTS: "zundoko,ghapp" };
  const objects = await printed(["--certificates"], { env });
  expect(settingsIn(objects)).toMatchObject({ DENREI_COMPONENTS: "zundoko,ghapp" });
  const folder = await temporaryFolder();
  expect(await runIn(undefined, ["manifests", "--out", folder], env)).toMatchObject({ code: 0 });
  // Names of functions, streams, users, Secrets, kinds, and groups.
  const traces = /[\w.-]*(modoki|pipecd|kpack|chart)[\w.-]*/gi;
  expect(JSON.stringify(objects).match(traces)).toBe(null);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) expect([path, (await readFile(path, "utf8")).match(traces)]).toEqual([path, null]);
  }
  expect(JSON.stringify(await printed([])).match(traces)?.length).toBeGreaterThan(1000);
});

describe("a project of a user", () => {
  test("has its own image, group, and namespace, and no trace of other functions and of a gateway", async () => {
    const objects = await printed(["--namespace", "post-office", "--cluster", "blue"], { folder: parcels });
    expect(workloadsIn(objects).map(({ metadata }) => metadata.name)).toEqual([
      "denrei-admission",
      "denrei-bridge",
      "denrei-labels",
      "denrei-post",
      "nats",
    ]);
    const post = find<Workload>(objects, "Deployment", "denrei-post");
    expect(containerOf(post)).toMatchObject({ args: ["worker", "post"], image: "parcels/operator:1.2.3" });
    const text = JSON.stringify(objects);
    expect(text).not.toMatch(/gateway|kpack|tsuzu|zundoko|"denrei\.svc|"namespace":"denrei"/);
    expect(text).toContain("post-office/denrei-admission");
    expect(settingsIn(objects)).toMatchObject({ DENREI_CLUSTER: "blue" });
    expect(settingsIn(objects)).not.toHaveProperty("DENREI_COMPONENTS");
  });

  test("trusts the webhook for its versions with the CA of the same output", async () => {
    const objects = await printed(["--profile", "small"], { folder: parcels });
    const crd = find<Manifest & { spec: object }>(
      objects,
      "CustomResourceDefinition",
      "parcels.parcels.example.com",
    );
    const ca = find(objects, "Secret", "denrei-admission-tls").data?.["ca.crt"];
    expect(crd.spec).toMatchObject({ conversion: { webhook: { clientConfig: { caBundle: ca } } } });
    expect(workloadsIn(objects).map(({ metadata }) => metadata.name)).toContain("denrei-worker");
  });

  test("as a folder, renders to the same objects, and is replaced by the next output", async () => {
    const folder = await temporaryFolder();
    const args = [
      "manifests",
      "--profile",
      "production",
      "--image",
      "r.example:5000/post:2",
      "--out",
      folder,
    ];
    for (const _ of ["new", "replaced"]) {
      const { code, stderr } = await runIn(parcels, args);
      expect([code, stderr]).toEqual([0, expect.stringContaining("npx denrei certificates")]);
    }
    const { image } = containerOf(
      find<Workload>(await render<Manifest>(folder), "Deployment", "denrei-post"),
    );
    expect(image).toBe("r.example:5000/post:2");
    expect(await readFile(join(folder, "kustomization.yaml"), "utf8")).not.toContain("PRIVATE KEY");
    await writeFile(join(folder, "kustomization.yaml"), "resources: []\n");
    expect(await runIn(parcels, args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("expected"),
    });
  });
});

test.each([
  [["--one-process"], "--one-process: expected --profile small"],
  [["--certificates", "--out", "x"], "private keys do not belong in a folder"],
  [
    ["--image", "denrei"],
    '--image: expected name:tag, such as registry.example.com/my-operator:0.1.0, or name@sha256:…, found "denrei"',
  ],
])("%j is refused", async (args, message) => {
  const { code, stderr } = await runIn(undefined, ["manifests", ...args]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
