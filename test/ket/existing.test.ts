/** Two runs in parallel in one existing cluster: they do not interfere, and leave nothing behind. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KubeClient } from "../../bus/kube/client.ts";
import { Namespace } from "../../bus/kube/kind.ts";
import { Banner } from "../fixtures/functions/banners.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { startKet } from "../harness/startket.ts";

const fixture = (name: string) => new URL(`../fixtures/functions/${name}.ts`, import.meta.url);
const fixtures = fileURLToPath(new URL("../fixtures/cases/probe", import.meta.url));

let environment: LocalTestEnvironment;
let client: KubeClient;
beforeAll(async () => {
  environment = await startLocalTestEnvironment();
  client = environment.client;
});
afterAll(() => environment?.stop());

const theirs = () =>
  ({
    cluster: "existing",
    kubeconfig: environment.platform.kubeconfigPath,
    allowContexts: ["denrei"],
  }) as const;

test("two runs in one cluster see only their own objects, and delete them at the end", async () => {
  const options = {
    ...theirs(),
    functions: [fixture("probe")],
    fixtures,
  };
  const runs = await Promise.all([startKet(options), startKet(options)]);
  const folders = runs.map(({ kubeconfigPath }) => dirname(kubeconfigPath));
  try {
    const [one, other] = runs.map(({ namespace }) => namespace);
    expect(one).not.toBe(other);
    await Promise.all(runs.map((run) => run.apply("steady")));
    for (const { namespace, workers } of runs) {
      const keys = workers
        .flatMap(({ log }) => log.records())
        .flatMap(({ key }) => (key === undefined ? [] : [key]));
      expect(new Set(keys)).toEqual(new Set([`${namespace}/steady`]));
    }
    // Only the end of its run deletes this one, together with a cluster-scoped object.
    await runs[0].kubectl.apply(
      { apiVersion: "test.denrei.dev/v1", kind: "Probe", metadata: { name: "left" }, spec: { mode: "ok" } },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "ket-more" } },
    );
  } finally {
    await Promise.all(runs.map((run) => run.stop()));
  }
  const names = (await client.list(Namespace)).items.map(({ metadata }) => metadata.name);
  expect(names.filter((name) => name.startsWith("ket-"))).toEqual([]);
  expect((await client.list(Probe)).items).toEqual([]);
  expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
});

test("refuses a function for cluster-scoped objects unless it is allowed", async () => {
  // The garbage collector discovers new CRDs late; nothing here waits for it.
  const options = { ...theirs(), functions: [fixture("banners")], controllerManager: "omit" } as const;
  await expect(startKet(options)).rejects.toThrow("found banners (for Banner.test.denrei.dev)");
  const ket = await startKet({ ...options, allowClusterScoped: true });
  try {
    await ket.kubectl.apply({
      apiVersion: "test.denrei.dev/v1",
      kind: "Banner",
      metadata: { name: "high" },
      spec: { text: "up here" },
    });
    await ket.waitFor({ kind: Banner, name: "high" }, { status: { shown: "up here" } });
  } finally {
    await ket.stop();
  }
  expect((await client.list(Banner)).items).toEqual([]);
});
