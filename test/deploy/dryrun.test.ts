/** Every object of the base is accepted by a real API server, without a word of warning. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubeClient } from "../../bus/kube/client.ts";
import { type KubeConnection, loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { type LocalPlatform, startLocalPlatform } from "../../deploy/local/index.ts";
import { accepted, apply, dryRunPod } from "./apply.ts";
import { render } from "./kustomize.ts";
import { base, find, isWorkload, type Manifest, type Workload } from "./manifests.ts";

let platform: LocalPlatform;
let connection: KubeConnection;
let objects: Manifest[];

beforeAll(async () => {
  objects = await render(base);
  platform = await startLocalPlatform({ controllerManager: "omit" });
  connection = await openConnection(loadKubeconfig({ path: platform.kubeconfigPath }));
  // Where there is no kubectl, kustomize may have to be built first.
}, 900_000);
afterAll(async () => {
  await connection?.close();
  await platform?.stop();
});

/** A pod as the workload's controller would create it. */
function podOf({ metadata, spec }: Workload): Manifest {
  const name = `${metadata.name}-0`;
  const claims = (spec.volumeClaimTemplates ?? []).map((claim) => ({
    name: claim.metadata.name,
    persistentVolumeClaim: { claimName: `${claim.metadata.name}-${name}` },
  }));
  const template = spec.template;
  return Object.assign(
    { apiVersion: "v1", kind: "Pod", metadata: { ...template.metadata, ...metadata, name } },
    { spec: { ...template.spec, volumes: [...(template.spec.volumes ?? []), ...claims] } },
  );
}

describe("the API server accepts, with no error and no warning,", () => {
  test("the namespace", async () => {
    for (const namespace of objects.filter(({ kind }) => kind === "Namespace")) {
      expect(await apply(connection, namespace, "for-real")).toEqual(accepted);
    }
  });

  test("the CRDs, and serves them", async () => {
    const crds = objects.filter(({ kind }) => kind === "CustomResourceDefinition");
    expect(crds.length).toBeGreaterThan(0);
    for (const crd of crds) {
      expect([crd.metadata.name, await apply(connection, crd, "dry-run")]).toEqual([
        crd.metadata.name,
        accepted,
      ]);
    }
    await installCrds(kubeClient(connection), crds as object[] as Record<string, unknown>[], {
      fieldManager: "test",
      signal: AbortSignal.timeout(30_000),
    });
  });

  test("everything else", async () => {
    const rest = objects.filter(({ kind }) => !["Namespace", "CustomResourceDefinition"].includes(kind));
    for (const object of rest) {
      const name = `${object.kind} ${object.metadata.name}`;
      expect([name, await apply(connection, object, "dry-run")]).toEqual([name, accepted]);
    }
  });

  test("the pods of every workload", async () => {
    for (const workload of objects.filter(isWorkload)) {
      const { name } = workload.metadata;
      expect([name, await dryRunPod(connection, podOf(workload))]).toEqual([name, accepted]);
    }
  });
});

describe("the namespace enforces the restricted Pod Security Standard:", () => {
  const privileged = (): Workload => {
    const workload = structuredClone(find<Workload>(objects, "Deployment", "denrei-bridge"));
    Object.assign(workload.spec.template.spec.containers[0] ?? {}, { securityContext: { privileged: true } });
    return workload;
  };

  test("it warns of a Deployment whose pods it would refuse", async () => {
    const { status, warnings } = await apply(connection, privileged(), "dry-run");
    expect(status).toBe(201);
    expect(warnings.join()).toContain("would violate PodSecurity");
  });

  test("it refuses the pod", async () => {
    expect(await dryRunPod(connection, podOf(privileged()))).toMatchObject({
      status: 403,
      message: expect.stringContaining('violates PodSecurity "restricted:latest"'),
    });
  });
});
