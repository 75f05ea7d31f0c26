/** PipeCD from its samples: everything becomes ready, and is deleted in the right order. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Namespace } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import { ClusterRole, ClusterRoleBinding } from "../../bus/kube/rbac.ts";
import { Deployment, Service, ServiceAccount, StatefulSet } from "../../bus/kube/workloads.ts";
import {
  Application,
  ControlPlane,
  Environment,
  Minio,
  Mongo,
  Mysql,
  Piped,
} from "../../functions/pipecd/kinds.ts";
import { departures } from "../harness/departures.ts";
import { type Pipecd, stackKinds, startPipecd } from "../harness/pipecd.ts";
import { deadlineMillis } from "../harness/pipecdstack.ts";
import { has } from "../harness/testobjects.ts";

let pipecd: Pipecd;
beforeAll(async () => {
  pipecd = await startPipecd();
});
afterAll(() => pipecd?.stop());

const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name).sort();

describe.each([
  { profile: "l0", store: Mongo, storeName: "mongo" },
  { profile: "c", store: Mysql, storeName: "mysql" },
] as const)("the sample $profile", ({ profile, store, storeName }) => {
  const namespace = `sample-${profile}`;
  const at = (name: string) => ({ namespace, name });

  test("becomes ready", async () => {
    await pipecd.namespace(namespace);
    await pipecd.apply(profile, namespace, (object) =>
      // The sample of v0.9.0 names a repository that its piped does not have.
      object.kind === "Application"
        ? { ...object, spec: { ...object.spec, repository: "examples" } }
        : object,
    );
    const { environment } = pipecd;
    const application = await environment.until(
      Application,
      at("application-sample"),
      has("Ready", "True"),
      deadlineMillis,
    );
    const plane = await environment.until(ControlPlane, at("controlplane-sample"), has("Ready", "True"));
    const pipecdEnvironment = await environment.until(
      Environment,
      at("environment-sample"),
      has("Ready", "True"),
    );
    const piped = await environment.until(Piped, at("piped-sample"), has("Ready", "True"));
    expect(plane.status).toMatchObject({
      availableGatewayReplicas: 1,
      availableServerReplicas: 1,
      availableCacheReplicas: 1,
      availableOpsReplicas: 1,
    });
    expect(piped.status?.availableReplicas).toBe(1);
    expect(names(await environment.list(Deployment, namespace))).toEqual([
      "controlplane-sample-cache",
      "controlplane-sample-gateway",
      "controlplane-sample-ops",
      "controlplane-sample-server",
      "piped-sample",
    ]);
    expect(names(await environment.list(StatefulSet, namespace))).toEqual(
      ["minio-sample-minio", `${storeName}-sample-${storeName}`].sort(),
    );
    expect(names(await environment.list(Service, namespace))).toEqual(
      [
        "controlplane-sample-cache",
        "controlplane-sample-gateway",
        "controlplane-sample-ops",
        "controlplane-sample-server",
        "minio-sample-minio",
        `${storeName}-sample-${storeName}`,
        "pipecd",
        "piped-sample",
      ].sort(),
    );
    expect(names(await environment.list(ServiceAccount, namespace))).toEqual(["default", "piped-sample"]);
    const server = pipecd.pods.plane(namespace);
    expect(server.profile).toBe(profile === "c" ? "C" : "L0");
    expect(pipecdEnvironment.status?.environmentID).toBeTruthy();
    expect(server.pipeds()).toMatchObject([
      {
        id: piped.status?.pipedID,
        name: "test-piped",
        description: "test",
        disabled: false,
        repositories: ["examples"],
        environments: profile === "l0" ? [pipecdEnvironment.status?.environmentID] : [],
      },
    ]);
    expect(server.applications()).toMatchObject([
      {
        id: application.status?.applicationID,
        pipedId: piped.status?.pipedID,
        repository: "examples",
        path: "kubernetes/canary",
        configFilename: profile === "c" ? "app.pipecd.yaml" : ".pipe.yaml",
        provider: "kubernetes-default",
      },
    ]);
    await environment.until(Minio, at("minio-sample"), has("Ready", "True"));
    await environment.until(store as typeof Mongo, at(`${storeName}-sample`), has("Ready", "True"));
  });

  test("is deleted in the right order when everything is deleted at once", async () => {
    const { environment } = pipecd;
    const leaving = await departures(environment.client, namespace, stackKinds);
    const kinds = stackKinds.toReversed();
    for (const kind of kinds)
      for (const { metadata } of await environment.list(kind, namespace))
        await environment.client.delete(kind, { namespace, name: metadata.name }, {});
    for (const kind of kinds)
      for (const { metadata } of await environment.list(kind, namespace))
        await environment.untilGone(kind, { namespace, name: metadata.name });
    await expect.poll(() => leaving.gone(), { timeout: 60_000 }).toHaveLength(6);
    const gone = leaving.gone().map((text) => text.split(" ")[0]);
    expect(gone.slice(0, 4)).toEqual(["Application", "Piped", "Environment", "ControlPlane"]);
    leaving.stop();
    const roles = [
      ...(await environment.client.list(ClusterRole)).items,
      ...(await environment.client.list(ClusterRoleBinding)).items,
    ];
    expect(names(roles).filter((name) => name.includes(namespace))).toEqual([]);
    const server = pipecd.pods.plane(namespace);
    expect(server.pipeds()).toMatchObject([{ disabled: true }]);
    expect(server.applications().filter(({ disabled, deleted }) => !disabled && !deleted)).toEqual([]);
    const called = server.calls.map(({ method }) => method);
    expect(called).toContain("DisablePiped");
    expect(called).toContain(profile === "c" ? "DeleteApplication" : "DisableApplication");
    for (const kind of [Deployment, StatefulSet, Service] as const)
      await expect
        .poll(async () => names(await environment.list(kind as typeof Service, namespace)), {
          timeout: 60_000,
        })
        .toEqual([]);
    await environment.client.delete(Namespace, { name: namespace }, {});
    // Kubernetes retries with a growing pause while something is left.
    await environment.untilGone(Namespace, { name: namespace }, 180_000);
  });
});
