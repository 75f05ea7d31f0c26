/** Deletes or changes PipeCD's objects by hand, one after the other, and expects their repair. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConfigMap, type Kind } from "../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../bus/kube/object.ts";
import { ClusterRole, ClusterRoleBinding } from "../../bus/kube/rbac.ts";
import { Deployment, Service, ServiceAccount, StatefulSet } from "../../bus/kube/workloads.ts";
import { Application, ControlPlane, Minio, Mysql, Piped } from "../../functions/pipecd/kinds.ts";
import { type Pipecd, startPipecd } from "./pipecd.ts";
import { names, type Stack, sideBySide, startStack } from "./pipecdstack.ts";

const namespace = "repair";
const role = `pipecd:${namespace}:${names.piped}`;

let pipecd: Pipecd;
let stack: Stack;

const any = (kind: unknown) => kind as Kind;
const at = (kind: Kind, name: string) => (kind.scope === "Cluster" ? { name } : stack.at(name));
const get = (kind: Kind, name: string): Promise<Stored> =>
  pipecd.environment.client.get(kind, at(kind, name));

/** The content of an object without the fields that change by themselves. */
function contentOf(object: Stored): unknown {
  const {
    status: _,
    kind: _kind,
    apiVersion: _apiVersion,
    metadata,
    ...content
  } = object as Stored & { spec?: Record<string, unknown> };
  const { name, labels, ownerReferences } = metadata;
  const { clusterIP, clusterIPs, ports, ...spec } = content.spec ?? {};
  return {
    ...content,
    metadata: { name, labels, ownerReferences },
    spec: {
      ...spec,
      isHeadless: clusterIP === "None",
      ports: (ports as Record<string, unknown>[] | undefined)?.map(({ nodePort: _, ...port }) => port),
    },
  };
}

async function allIsWell(): Promise<void> {
  for (const [kind, name] of [
    [Minio, names.minio],
    [Mysql, names.mysql],
    [ControlPlane, names.plane],
    [Piped, names.piped],
    [Application, names.application],
  ] as const)
    await stack.ready(any(kind), name);
}

const parts = ["gateway", "server", "cache", "ops"].map((part) => `${names.plane}-${part}`);
const stores = ["minio-sample-minio", "mysql-sample-mysql"];
/** One object per kind and function. The objects of Mysql and Minio come from the same code. */
const first = new Set([
  `Deployment ${names.plane}-server`,
  `Deployment ${names.piped}`,
  "Service pipecd",
  `Service ${names.piped}`,
  "Service minio-sample-minio",
  "ConfigMap pipecd",
  `ConfigMap ${names.piped}`,
  "StatefulSet minio-sample-minio",
  `ServiceAccount ${names.piped}`,
  `ClusterRole ${role}`,
  `ClusterRoleBinding ${role}`,
]);
const children: readonly (readonly [Kind, string])[] = [
  ...[...parts, names.piped].map((name) => [any(Deployment), name] as const),
  ...[...parts, ...stores, names.piped, "pipecd"].map((name) => [any(Service), name] as const),
  ...["pipecd", `${names.plane}-gateway`, names.piped].map((name) => [any(ConfigMap), name] as const),
  ...stores.map((name) => [any(StatefulSet), name] as const),
  [any(ServiceAccount), names.piped],
  [any(ClusterRole), role],
  [any(ClusterRoleBinding), role],
];

interface Edit {
  readonly kind: Kind;
  readonly name: string;
  readonly what: string;
  readonly patch: object;
  /** The fields that the patch changes. */
  readonly seen: (object: KubeObject) => unknown;
}

const specOf = ({ spec }: KubeObject) => spec as Record<string, unknown>;
const ofTemplate = (object: KubeObject) => specOf(object).template;
const container = (name: string, fields: object) => ({
  spec: { template: { spec: { containers: [{ name, image: "somebody/else:1", ...fields }] } } },
});

const edits: readonly Edit[] = [
  ...["gateway", "server", "cache", "ops"].flatMap((part) => [
    {
      ...{ kind: any(Deployment), name: `${names.plane}-${part}`, what: "replicas" },
      patch: { spec: { replicas: 3 } },
      seen: (object: KubeObject) => specOf(object).replicas,
    },
    {
      ...{ kind: any(Deployment), name: `${names.plane}-${part}`, what: "pods" },
      // Fields that the function does not set belong to the user who added them.
      patch: container(part, part === "cache" ? {} : { args: ["sleep"] }),
      seen: ofTemplate,
    },
  ]),
  {
    ...{ kind: any(Deployment), name: names.piped, what: "pods" },
    patch: { spec: { replicas: 2, template: { spec: { serviceAccountName: "default" } } } },
    seen: (object) => [specOf(object).replicas, ofTemplate(object)],
  },
  {
    ...{ kind: any(StatefulSet), name: "minio-sample-minio", what: "image and replicas" },
    patch: { spec: { replicas: 3, ...container("minio", {}).spec } },
    seen: (object) => [specOf(object).replicas, ofTemplate(object)],
  },
  {
    ...{ kind: any(StatefulSet), name: "mysql-sample-mysql", what: "replicas" },
    patch: { spec: { replicas: 3 } },
    seen: (object) => specOf(object).replicas,
  },
  {
    ...{ kind: any(Service), name: "pipecd", what: "port" },
    patch: { spec: { ports: [{ name: "service", port: 81, targetPort: 82, protocol: "TCP" }] } },
    seen: (object) =>
      (specOf(object).ports as { port: number; targetPort: unknown }[]).map((one) => [
        one.port,
        one.targetPort,
      ]),
  },
  {
    ...{ kind: any(Service), name: `${names.plane}-server`, what: "selector" },
    patch: { spec: { selector: { "app.kubernetes.io/component": "gateway" } } },
    seen: (object) => specOf(object).selector,
  },
  ...[["pipecd", "control-plane-config.yaml"] as const, [names.piped, "piped-config.yaml"] as const].map(
    ([name, key]) => ({
      ...{ kind: any(ConfigMap), name, what: "data" },
      patch: { data: { [key]: "kind: Nothing" } },
      seen: (object: KubeObject) => (object as KubeObject & { data?: unknown }).data,
    }),
  ),
  {
    ...{ kind: any(ServiceAccount), name: names.piped, what: "labels" },
    patch: { metadata: { labels: { "app.kubernetes.io/name": null } } },
    seen: ({ metadata }) => metadata.labels,
  },
  {
    ...{ kind: any(ClusterRole), name: role, what: "rules" },
    patch: { rules: [] },
    seen: (object) => (object as KubeObject & { rules?: unknown }).rules,
  },
  {
    ...{ kind: any(ClusterRoleBinding), name: role, what: "subjects" },
    patch: { subjects: [{ kind: "ServiceAccount", name: "default", namespace }] },
    seen: (object) => (object as KubeObject & { subjects?: unknown }).subjects,
  },
];

/** Declares the tests of a file: of one object of each kind and function, or of all others. */
export function repairTests(which: "one of each" | "the others"): void {
  const chosenOf = <T extends { readonly text: string }>(rows: readonly T[]): T[] =>
    rows.filter(({ text }) => first.has(text) === (which === "one of each"));

  beforeAll(async () => {
    pipecd = await startPipecd();
    stack = await startStack(pipecd, "c", namespace);
  }, sideBySide.timeout);
  afterAll(() => pipecd?.stop());

  test.each(chosenOf(children.map(([kind, name]) => ({ kind, name, text: `${kind.kind} ${name}` }))))(
    "restores the $text after its deletion",
    async ({ kind, name }) => {
      // Nothing else may trigger the reconcile that restores it.
      await pipecd.untilQuiet();
      const before = await get(kind, name);
      await pipecd.environment.client.delete(kind, at(kind, name), {});
      const after = await pipecd.environment.until(
        kind,
        at(kind, name),
        ({ metadata }) => metadata.uid !== before.metadata.uid,
      );
      expect(contentOf(after)).toEqual(contentOf(before));
      await allIsWell();
    },
  );

  test.each(chosenOf(edits.map((edit) => ({ ...edit, text: `${edit.kind.kind} ${edit.name}` }))))(
    "reverts a change of the $what of the $text",
    async ({ kind, name, patch, seen }) => {
      await pipecd.untilQuiet();
      const { client, until } = pipecd.environment;
      const original = JSON.stringify(seen(await get(kind, name)));
      const edited = await client.mergePatch(kind, at(kind, name), patch, { fieldManager: "kubectl-edit" });
      expect(JSON.stringify(seen(edited))).not.toBe(original);
      const after = await until(kind, at(kind, name), (object) => JSON.stringify(seen(object)) === original);
      expect(after.metadata.uid).toBe(edited.metadata.uid);
      await allIsWell();
    },
  );

  test("after all repairs, PipeCD has one piped and one application, each registered once", async () => {
    await pipecd.untilQuiet();
    expect(stack.calls("RegisterPiped", "AddApplication").map(({ method }) => method)).toEqual([
      "RegisterPiped",
      "AddApplication",
    ]);
    expect(stack.calls("RecreatePipedKey", "DisablePiped", "DeleteApplication")).toEqual([]);
  });
}
