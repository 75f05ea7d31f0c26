/** A real API server accepts all objects of the base, overlays, components, and projects without a warning. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kubeClient } from "../../bus/kube/client.ts";
import { type KubeConnection, loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { installCrds } from "../../bus/kube/install.ts";
import { type LocalPlatform, startLocalPlatform } from "../../deploy/local/index.ts";
import { gatewayCrds } from "../gatewayapi/crds.ts";
import { platformPrograms, programs } from "../harness/programs.ts";
import { kedaCrds } from "../keda/crds.ts";
import { accepted, apply, dryRunPod } from "./apply.ts";
import { find, isWorkload, type Manifest, type Workload } from "./manifests.ts";
import { baseObjects, beside, overlay, shownSite, siteWith } from "./overlays.ts";
import { parcels, printed } from "./projects.ts";
import { twoProjects } from "./twoprojects.ts";

await programs(...platformPrograms);

let platform: LocalPlatform;
let connection: KubeConnection;
/** The distinct objects of all renderings. */
let objects: Manifest[];

beforeAll(async () => {
  const renderings = [
    await baseObjects(),
    await overlay("kind"),
    await overlay("production"),
    await overlay("small"),
    await siteWith("keda", "httproute"),
    await siteWith("hpa", "ingress", "chart-modules"),
    await siteWith("dashboard", "dashboard-ingress", "dashboard-httproute"),
    await shownSite(),
    await beside("users"),
    await beside("app-use"),
    await printed(["--profile", "small", "--one-process"]),
    await printed(["--profile", "small"], { folder: parcels }),
    await printed(["--profile", "standard", "--namespace", "post-office"], { folder: parcels }),
    await printed(["--profile", "production", "--namespace", "post-office"], { folder: parcels }),
    ...(await twoProjects("production")),
  ];
  objects = [...new Map(renderings.flat().map((object) => [JSON.stringify(object), object])).values()];
  platform = await startLocalPlatform({ controllerManager: "omit" });
  connection = await openConnection(loadKubeconfig({ path: platform.kubeconfigPath }));
  // Without kubectl, kustomize may have to be built first.
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
    const all = [
      ...(crds as object[] as Record<string, unknown>[]),
      ...(await kedaCrds()),
      ...(await gatewayCrds()),
    ];
    await installCrds(kubeClient(connection), all, {
      fieldManager: "test",
      signal: AbortSignal.timeout(120_000),
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
  /** Changes that each violate the standard. */
  const spoilt: readonly (readonly [string, (workload: Workload) => void])[] = [
    ["a privileged container", (workload) => spoil(workload, { securityContext: { privileged: true } })],
    ["a container that may be root", (workload) => spoil(workload, { securityContext: { runAsUser: 0 } })],
    ["a port of the node", (workload) => spoil(workload, { ports: [{ containerPort: 80, hostPort: 80 }] })],
    [
      "no seccomp profile",
      ({ spec }) => Reflect.deleteProperty(spec.template.spec.securityContext, "seccompProfile"),
    ],
    ["a folder of the node", ({ spec }) => add(spec.template, { name: "node", hostPath: { path: "/" } })],
  ];
  const spoil = ({ spec }: Workload, change: object) =>
    Object.assign(spec.template.spec.containers[0] ?? {}, change);
  const add = (
    { spec }: Workload["spec"]["template"],
    volume: { readonly name: string; readonly hostPath: object },
  ) => Object.assign(spec, { volumes: [...(spec.volumes ?? []), volume] });

  test.for(spoilt)("with %s it warns about the workload and rejects its pod", async ([, change]) => {
    for (const [kind, name] of [
      ["Deployment", "denrei-bridge"],
      ["StatefulSet", "nats"],
    ] as const) {
      const workload = structuredClone(find<Workload>(objects, kind, name));
      change(workload);
      const { status, warnings } = await apply(connection, workload, "dry-run");
      expect(status).toBe(201);
      expect(warnings.join()).toContain("would violate PodSecurity");
      expect(await dryRunPod(connection, podOf(workload))).toMatchObject({
        status: 403,
        message: expect.stringContaining('violates PodSecurity "restricted:latest"'),
      });
    }
  });
});
