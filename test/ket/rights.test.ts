/** Each function has exactly the rights that follow from its declaration, on every cluster of KET. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KubeClient } from "../../bus/kube/client.ts";
import { Namespace } from "../../bus/kube/kind.ts";
import { ClusterRole, ClusterRoleBinding } from "../../bus/kube/rbac.ts";
import { Clerk } from "../fixtures/functions/clerks.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { grant } from "../harness/rights.ts";
import { startKet } from "../harness/startket.ts";
import { type KetOptions, RolesRefusedError } from "./index.ts";

const clerks = new URL("../fixtures/functions/clerks.ts", import.meta.url);
const allowedClerks = new URL("../fixtures/functions/allowedclerks.ts", import.meta.url);
const fixtures = fileURLToPath(new URL("../fixtures/cases/clerks", import.meta.url));
const permission = '{ apiGroups: ["batch"], resources: ["jobs"], verbs: ["list"] }';

let environment: LocalTestEnvironment;
let client: KubeClient;
beforeAll(async () => {
  environment = await startLocalTestEnvironment();
  client = environment.client;
});
afterAll(() => environment?.stop());

const options = (more: Partial<KetOptions>): KetOptions => ({
  ...{ cluster: "existing", kubeconfig: environment.platform.kubeconfigPath, allowContexts: ["denrei"] },
  fixtures,
  ...more,
});

test("a missing permission fails the first run, whose message names the entry to add; with it, the run passes", async () => {
  const ket = await startKet(options({ functions: [clerks] }));
  try {
    await ket.kubectl.apply({
      ...{ apiVersion: "test.denrei.dev/v1", kind: "Clerk", metadata: { name: "reported" }, spec: {} },
    });
    const condition = {
      reason: "Forbidden",
      message: expect.stringMatching(
        /^the API server forbids the request: GET \/apis\/batch\/v1\/namespaces\/ket-\w+\/jobs was answered 403 Forbidden: jobs.batch is forbidden: User "system:serviceaccount:denrei-ket-\w+:denrei-clerks" cannot list resource "jobs".*\. Add to the function clerks: permissions: \[\{ apiGroups: \["batch"\], resources: \["jobs"\], verbs: \["list"\] \}\]\.$/,
      ),
    };
    const stalled = await ket.waitFor(
      { kind: Clerk, name: "reported" },
      { status: { conditions: [{ type: "Stalled", status: "True" }] } },
    );
    expect(stalled.status?.conditions).toEqual([expect.objectContaining(condition)]);
    const error: Error = await ket.apply("counted", undefined, 2000).then(
      () => new Error("none"),
      (reason) => reason,
    );
    expect(error.message).toMatch(
      new RegExp(
        `^  denied requests:\\n.*Add to the function clerks: permissions: \\[${escaped(permission)}\\]`,
        "m",
      ),
    );
  } finally {
    await ket.stop();
  }
  const allowed = await startKet(options({ functions: [allowedClerks] }));
  await allowed.apply("counted").finally(() => allowed.stop());
  const names = await Promise.all([ClusterRole, ClusterRoleBinding].map((kind) => client.list(kind)));
  const left = names.flatMap(({ items }) => items.map(({ metadata }) => metadata.name));
  expect(left.filter((name) => name.startsWith("denrei-"))).toEqual([]);
});

const escaped = (text: string): string => text.replace(/[[\]{}().*+?^$|\\]/g, "\\$&");

test("a user who may not impersonate the accounts learns how to use own rights, which then apply", async () => {
  const rbac = "rbac.authorization.k8s.io";
  const verbs = ["bind", "create", "delete", "escalate", "get", "list", "patch", "watch"];
  await grant(client, [
    {
      ...{ apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: "developer" } },
      rules: [{ apiGroups: ["*"], resources: ["*"], verbs }],
    },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: "ClusterRoleBinding", metadata: { name: "developer" } },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "developer" },
      subjects: [{ apiGroup: rbac, kind: "User", name: "developer" }],
    },
  ]);
  const kubeconfig = await environment.platform.kubeconfigFor("developer");
  const refused = startKet(options({ functions: [clerks], kubeconfig }));
  await expect(refused).rejects.toBeInstanceOf(RolesRefusedError);
  await expect(refused).rejects.toThrow(
    /may not impersonate their service accounts: .* cannot impersonate.*Grant the user the verb impersonate.*rights: startKet\(\{ rights: "own", … \}\)/s,
  );
  expect(
    (await client.list(Namespace)).items
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith("ket-")),
  ).toEqual([]);
  // They include the permission that the declaration lacks.
  const own = await startKet(options({ functions: [clerks], kubeconfig, rights: "own" }));
  await own.apply("counted").finally(() => own.stop());
});
