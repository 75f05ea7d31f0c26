/** Bridge and worker need exactly the generated roles. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { kubeClient } from "../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { externalKind, Secret } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { roleManifests, separateAccounts } from "../../deploy/generate/rbac.ts";
import { functions } from "../../functions/index.ts";
import { Hikawa, Zundoko } from "../../functions/zundoko/kinds.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { createNamespace, optIn } from "../harness/namespaces.ts";
import { accountUser, grant } from "../harness/rights.ts";
import { expectFinishedSongs, hikawa, isFinished } from "../harness/song.ts";

const Event = externalKind<KubeObject & { reason: string; regarding: { name: string } }>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
});
let environment: LocalTestEnvironment;

beforeAll(async () => {
  environment = await startLocalTestEnvironment();
  await createNamespace(environment.client, "denrei");
  await optIn(environment.client, "denrei");
  await grant(environment.client, roleManifests(separateAccounts(functions), "denrei"));
  const env = { [wordsVariable]: "Doko,Zun,Zun,Zun,Zun,Doko" };
  const worker = await environment.platform.kubeconfigFor(accountUser("denrei-hikawa"));
  const bridge = await environment.platform.kubeconfigFor(accountUser("denrei-bridge"));
  await environment.bridge("bridge-1", { env: { KUBECONFIG: bridge } });
  await environment.worker("worker-1", ["hikawa"], { env: { ...env, KUBECONFIG: worker } });
});
afterAll(() => environment?.stop());

test("finishes a song, and reports one that it cannot sing in a condition and an Event", async () => {
  await environment.client.create(Hikawa, hikawa("allowed", 0), { fieldManager: "test" });
  await environment.until(Hikawa, { name: "allowed" }, isFinished);
  await expectFinishedSongs(environment, ["allowed"]);
  await environment.client.create(Hikawa, hikawa("n".repeat(250), 0), { fieldManager: "test" });
  await expect
    .poll(
      async () => (await environment.list(Event)).map(({ reason, regarding }) => [reason, regarding.name]),
      {
        timeout: 60_000,
      },
    )
    .toContainEqual(["NameTooLong", "n".repeat(250)]);
});

test("the roles allow no more: a worker may not list, and a bridge may not write", async () => {
  const as = async (user: string) =>
    kubeClient(
      await openConnection(loadKubeconfig({ path: await environment.platform.kubeconfigFor(user) })),
    );
  const worker = await as(accountUser("denrei-hikawa"));
  const bridge = await as(accountUser("denrei-bridge"));
  await expect(worker.list(Zundoko, "default")).rejects.toThrow(
    /403.*needs a role with the rule .*"zundokos".*"list"/,
  );
  await expect(worker.list(Secret, "default")).rejects.toThrow(/403.*denrei opt-in default \|/);
  await expect(bridge.create(Hikawa, hikawa("refused", 0), { fieldManager: "test" })).rejects.toThrow("403");
  await worker.connection.close();
  await bridge.connection.close();
});
