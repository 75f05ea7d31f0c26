/** Deletion in PipeCD: objects stay until nothing needs them, and never hang without a server. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { type Kind, Namespace, Secret } from "../../bus/kube/kind.ts";
import { ClusterRole, ClusterRoleBinding } from "../../bus/kube/rbac.ts";
import { Deployment } from "../../bus/kube/workloads.ts";
import { pipecdClient } from "../../functions/pipecd/api/client.ts";
import { Application, ControlPlane, Environment, Minio, Mysql, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, type SampleObject, startPipecd } from "../harness/pipecd.ts";
import { deadlineMillis, sideBySide } from "../harness/pipecdstack.ts";
import { conditionOf, has } from "../harness/testobjects.ts";

const names = {
  application: "application-sample",
  piped: "piped-sample",
  environment: "environment-sample",
  plane: "controlplane-sample",
} as const;

let pipecd: Pipecd;
beforeAll(async () => {
  // An unreachable server is given up after a second.
  pipecd = await startPipecd({ workers: "one each", env: { DENREI_PIPECD_CLEANUP_SECONDS: "1" } });
});
afterAll(() => pipecd?.stop());

/** A running sample in its own namespace. */
async function up(
  namespace: string,
  profile: "c" | "l0" = "c",
  change: (object: SampleObject) => SampleObject = (object) => object,
) {
  await pipecd.namespace(namespace);
  await pipecd.apply(profile, namespace, (object) =>
    change(
      object.kind === "Application"
        ? { ...object, spec: { ...object.spec, repository: "examples" } }
        : object,
    ),
  );
  const at = (name: string) => ({ namespace, name });
  const { environment } = pipecd;
  await environment.until(Application, at(names.application), has("Ready", "True"), deadlineMillis);
  await environment.until(Piped, at(names.piped), has("Ready", "True"), deadlineMillis);
  return {
    at,
    server: pipecd.pods.plane(namespace),
    remove: (kind: Kind, name: string, propagation?: "Foreground") =>
      environment.client.delete(kind, at(name), propagation ? { propagation } : {}),
    gone: (kind: Kind, name: string) => environment.untilGone(kind, at(name), deadlineMillis),
    /** Methods of calls that change something, since it was ready. */
    changes: () =>
      pipecd.pods
        .plane(namespace)
        .calls.filter(({ code }) => code === 0)
        .map(({ method }) => method)
        .filter((method) => /^(Disable|Delete)/.test(method)),
    skipped: async (name: string) =>
      (await pipecd.events(name, namespace))
        .filter(({ reason }) => reason === "CleanupSkipped")
        .map(({ note }) => note),
    roles: async () =>
      [
        ...(await environment.client.list(ClusterRole)).items,
        ...(await environment.client.list(ClusterRoleBinding)).items,
      ]
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.includes(`:${namespace}:`)),
  };
}

const any = <T>(kind: T): Kind => kind as unknown as Kind;

/** Whether a log line is about a blocked reconcile in a namespace. */
const isTryIn =
  (namespace: string) =>
  ({ msg, key }: Readonly<Record<string, unknown>>): boolean =>
    msg === "blocked" && String(key).startsWith(`${namespace}/`);

describe.concurrent("in namespaces of their own", sideBySide, () => {
  test("deletes a namespace while everything runs, and leaves nothing in the cluster", async ({ expect }) => {
    const stack = await up("whole");
    await pipecd.environment.client.delete(Namespace, { name: "whole" }, {});
    // Kubernetes retries with a growing pause while something is left.
    await pipecd.environment.untilGone(Namespace, { name: "whole" }, 180_000);
    expect(await stack.roles()).toEqual([]);
  });

  test("deletes dependents of a control plane that was removed by force", async ({ expect }) => {
    const stack = await up("forced");
    await stack.remove(any(ControlPlane), names.plane);
    await pipecd.patch(ControlPlane, stack.at(names.plane), { metadata: { finalizers: [] } });
    await stack.gone(any(ControlPlane), names.plane);
    for (const [kind, name] of [
      [any(Application), names.application],
      [any(Piped), names.piped],
      [any(Environment), names.environment],
    ] as const)
      await stack.remove(kind, name);
    await stack.gone(any(Application), names.application);
    await stack.gone(any(Piped), names.piped);
    await stack.gone(any(Environment), names.environment);
    await expect
      .poll(() => stack.skipped(names.piped), { timeout: deadlineMillis })
      .toEqual([expect.stringContaining("its ControlPlane no longer exists")]);
    expect(await stack.roles()).toEqual([]);
  });

  test("a foreground deletion of a control plane deletes its server first, and nothing waits for the server", async ({
    expect,
  }) => {
    const stack = await up("foreground");
    await stack.remove(any(ControlPlane), names.plane, "Foreground");
    await stack.gone(any(Deployment), `${names.plane}-server`);
    await stack.remove(any(Application), names.application);
    await stack.remove(any(Piped), names.piped);
    await stack.remove(any(Environment), names.environment);
    await stack.gone(any(Application), names.application);
    await stack.gone(any(Piped), names.piped);
    await stack.gone(any(Environment), names.environment);
    await stack.gone(any(ControlPlane), names.plane);
    expect(stack.changes()).toEqual([]);
    await expect.poll(() => stack.skipped(names.application), { timeout: deadlineMillis }).toHaveLength(1);
  });

  test("waits for nothing when the server of a control plane under deletion no longer exists", async ({
    expect,
  }) => {
    const stack = await up("serverless");
    await stack.remove(any(ControlPlane), names.plane);
    await pipecd.environment.until(
      ControlPlane,
      stack.at(names.plane),
      has("Ready", "False", "InUse"),
      deadlineMillis,
    );
    await stack.remove(any(Deployment), `${names.plane}-server`);
    await stack.gone(any(Deployment), `${names.plane}-server`);
    await stack.remove(any(Application), names.application);
    await stack.remove(any(Piped), names.piped);
    await stack.gone(any(Application), names.application);
    await stack.gone(any(Piped), names.piped);
    expect(stack.changes()).toEqual([]);
  });

  test("a control plane waits for its dependents, names them, and is deleted with the last one", async ({
    expect,
  }) => {
    const stack = await up("waiting");
    await stack.remove(any(ControlPlane), names.plane);
    const waiting = await pipecd.environment.until(
      ControlPlane,
      stack.at(names.plane),
      has("Ready", "False", "InUse"),
      deadlineMillis,
    );
    const { message } = conditionOf(waiting) ?? {};
    for (const text of [
      "Application application-sample",
      "Piped piped-sample",
      "Environment environment-sample",
    ])
      expect(message).toContain(text);
    await stack.remove(any(Piped), names.piped);
    const piped = await pipecd.environment.until(
      Piped,
      stack.at(names.piped),
      has("Ready", "False", "InUse"),
      deadlineMillis,
    );
    expect(conditionOf(piped)?.message).toContain(names.application);
    await stack.remove(any(Environment), names.environment);
    const pipecdEnvironment = await pipecd.environment.until(
      Environment,
      stack.at(names.environment),
      has("Ready", "False", "InUse"),
      deadlineMillis,
    );
    expect(conditionOf(pipecdEnvironment)?.message).toContain("Piped piped-sample");
    await stack.remove(any(Minio), "minio-sample");
    const store = await pipecd.environment.until(
      Minio,
      stack.at("minio-sample"),
      has("Ready", "False", "InUse"),
      deadlineMillis,
    );
    expect(conditionOf(store)?.message).toContain(names.plane);
    expect(stack.changes()).toEqual([]);

    await stack.remove(any(Application), names.application);
    for (const [kind, name] of [
      [any(Application), names.application],
      [any(Piped), names.piped],
      [any(Environment), names.environment],
      [any(ControlPlane), names.plane],
      [any(Minio), "minio-sample"],
    ] as const)
      await stack.gone(kind, name);
    expect(stack.changes()).toEqual(["DeleteApplication", "DisablePiped"]);
    // Objects that were not deleted stay.
    expect(
      (await pipecd.environment.client.get(Mysql, stack.at("mysql-sample"))).metadata.deletionTimestamp,
    ).toBeUndefined();
  });

  test("completes deletions after a while when the datastore is gone and PipeCD did not recover before the deadline", async ({
    expect,
  }) => {
    const stack = await up("storeless");
    stack.server.outage.datastore = true;
    // The store is not expected back, because it is being deleted.
    await stack.remove(any(Mysql), "mysql-sample");
    await pipecd.environment.until(
      Mysql,
      stack.at("mysql-sample"),
      has("Ready", "False", "InUse"),
      deadlineMillis,
    );
    await stack.remove(any(Application), names.application);
    await stack.gone(any(Application), names.application);
    await expect
      .poll(() => stack.skipped(names.application), { timeout: deadlineMillis })
      .toEqual([expect.stringContaining("did not recover before the deadline")]);
  });

  test("deletions wait for an unavailable PipeCD that is expected back, unless configured otherwise", async ({
    expect,
  }) => {
    const stack = await up("patient");
    stack.server.die();
    await stack.remove(any(Application), names.application);
    const blocked = await pipecd.environment.until(
      Application,
      stack.at(names.application),
      has("Stalled", "True", "ServerUnavailable"),
      deadlineMillis,
    );
    const { message = "" } = conditionOf(blocked, "Stalled") ?? {};
    expect(message).toContain("pipecd.kanatakita.com/skip-cleanup=true");
    // The third try comes well after the second, which is when waiting for a lost server ends.
    const tries = () => pipecd.workers.flatMap(({ log }) => log.records()).filter(isTryIn("patient")).length;
    const before = tries();
    await expect.poll(tries, { timeout: deadlineMillis }).toBeGreaterThanOrEqual(before + 3);
    expect((await pipecd.environment.client.get(Application, stack.at(names.application))).metadata.uid).toBe(
      blocked.metadata.uid,
    );
    await pipecd.patch(Application, stack.at(names.application), {
      metadata: { annotations: { "pipecd.kanatakita.com/skip-cleanup": "true" } },
    });
    await stack.gone(any(Application), names.application);
    stack.server.restart();
    // Another one, whose deletion reaches the server once it is back.
    await stack.remove(any(Piped), names.piped);
    await stack.gone(any(Piped), names.piped);
    expect(stack.changes()).toEqual(["DisablePiped"]);
  });

  test("does not delete in PipeCD what was already deleted there", async ({ expect }) => {
    const stack = await up("forgotten");
    const { data } = await pipecd.environment.client.get(Secret, stack.at("pipecd"));
    const { applications, pipeds } = pipecdClient({
      profile: "C",
      projectID: "quickstart",
      web: { address: pipecd.pods.web, tls: undefined },
      api: { address: pipecd.pods.api, tls: undefined },
      encryptionKey: Buffer.from(data?.["encryption-key"] ?? "", "base64"),
      apiKey: undefined,
      signal: AbortSignal.timeout(deadlineMillis),
    });
    for (const { id } of stack.server.applications()) await applications.delete(id);
    for (const { id } of stack.server.pipeds()) await pipeds.disable(id);
    await stack.remove(any(Application), names.application);
    await stack.remove(any(Piped), names.piped);
    await stack.gone(any(Application), names.application);
    await stack.gone(any(Piped), names.piped);
    expect(stack.changes()).toEqual(["DeleteApplication", "DisablePiped"]);
    expect(await stack.skipped(names.application)).toEqual([]);
    expect(await stack.skipped(names.piped)).toEqual([]);
  });
});
