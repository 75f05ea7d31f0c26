/**
 * `npm run test:pipecd` without Docker: kind and the forwarded ports are simulated, a local API server accepts the manifests,
 * and contract tests run against the simulated PipeCD behind the ports.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { pipecdClient } from "../../functions/pipecd/api/client.ts";
import { cacheImage, imagesOf, storeImage } from "../../functions/pipecd/profile.ts";
import { type Machine, simulatedMachine } from "../fixtures/kindsimulator/machine.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { programs } from "../harness/programs.ts";
import { pipecdManifests, runOnPipecd } from "../kind/pipecd/onkind.ts";
import { type SimulatedTarget, simulatedTarget } from "../pipecd/contract/target.ts";
import { root } from "./manifests.ts";

const kubectl = (await programs("kubectl")).kubectl.path;

let environment: LocalTestEnvironment;
let server: SimulatedTarget;
let machine: Machine;
beforeAll(async () => {
  environment = await startLocalTestEnvironment();
  server = await simulatedTarget("C");
  const portOf = (address: string) => Number(address.split(":").at(-1));
  const { web, api, piped } = server.addresses;
  machine = await simulatedMachine({
    kubeconfig: environment.platform.kubeconfigPath,
    kubectl,
    forwards: {
      "pipecd service/pipecd-server 9080": portOf(piped),
      "pipecd service/pipecd-server 9081": portOf(web),
      "pipecd service/pipecd-server 9083": portOf(api),
    },
  });
  for (const [name, value] of Object.entries(machine.env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await machine?.remove();
  await server?.close();
  await environment?.stop();
});

/** The pipeds that the server has registered. */
function records(): Promise<readonly unknown[]> {
  const address = (at: string) => ({ address: at, tls: undefined });
  const { web, api } = server.addresses;
  const client = pipecdClient({
    profile: "C",
    projectID: server.project,
    web: address(web),
    api: address(api),
    encryptionKey: server.encryptionKey,
    apiKey: undefined,
    signal: AbortSignal.timeout(60_000),
  });
  return client.pipeds.list();
}

test("deploys PipeCD, runs tests of the contract against it, passes on their exit code, and removes the cluster", async () => {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const key = server.encryptionKey.toString();
  const contract = [
    process.execPath,
    vitest,
    "run",
    "--project",
    "unit",
    "test/pipecd/contract/pipeds.test.ts",
  ] as const;
  expect(await records()).toEqual([]);
  expect(await runOnPipecd([contract], key)).toBe(0);
  expect(await records()).not.toEqual([]);
  expect(await machine.containers()).toEqual([]);
  expect(await runOnPipecd([[process.execPath, "-e", "process.exit(3)"], ["true"]], key)).toBe(3);
  expect(await machine.containers()).toEqual([]);
});

test("uses the same images as the functions for that version and its stores", async () => {
  const documents = parseAllDocuments(await readFile(pipecdManifests, "utf8")).map((one) => one.toJS());
  const images = documents.flatMap(({ kind, metadata, spec }) =>
    kind === "Deployment" ? [[metadata.name, spec.template.spec.containers[0].image]] : [],
  );
  const version = "v0.57.0";
  const { server, ops } = imagesOf("C", version, {});
  expect(Object.fromEntries(images)).toEqual({
    mysql: storeImage("mysql", undefined, {}),
    minio: storeImage("minio", undefined, {}),
    redis: cacheImage(undefined, {}),
    "pipecd-ops": `${ops}`,
    "pipecd-server": `${server}`,
  });
});
