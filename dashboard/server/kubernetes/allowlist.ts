/**
 * What the page may ask the API server for. What the user may do there RBAC decides; this list keeps a page that was tricked,
 * or a user who is an administrator, from reaching Secrets, tokens and the like through the dashboard at all.
 */
import { z } from "zod";
import type { Kind, Scope } from "../../../bus/kube/kind.ts";
import * as ghapp from "../../../functions/ghapp/kinds.ts";
import * as kpack from "../../../functions/paas/kinds/kpack.ts";
import * as paas from "../../../functions/paas/kinds.ts";
import { kpack as annotations } from "../../../functions/paas/names.ts";
import * as pipecd from "../../../functions/pipecd/kinds.ts";
import * as zundoko from "../../../functions/zundoko/kinds.ts";

/** What is asked for, as a path of the Kubernetes API says it. */
export interface Target {
  readonly group: string;
  readonly version: string;
  /** Of the kind, with the subresource if there is one: `pods/log`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** The verbs of RBAC, of which a request is one. */
export type Verb = "get" | "list" | "watch" | "create" | "patch" | "delete";

/** Why a request is not passed on: a status of HTTP, and a sentence. */
export interface Refusal {
  readonly status: 400 | 403 | 405;
  readonly message: string;
}

/** One resource that can be reached. */
export interface Rule {
  readonly group: string;
  readonly version: string;
  /** With the subresource if it is one: `pods/log`. */
  readonly resource: string;
  readonly scope: Scope;
  readonly verbs: readonly Verb[];
  /** What a body has to be like, where not any is taken, and what that does. */
  readonly body?: { readonly schema: z.ZodType; readonly does: string };
}

const reading: readonly Verb[] = ["get", "list", "watch"];
const all: readonly Verb[] = [...reading, "create", "patch", "delete"];
const scaling: readonly Verb[] = ["get", "patch"];

/** `kubectl rollout restart`, and nothing else: who may change a Deployment could run any image with it. */
export const restart = z.strictObject({
  spec: z.strictObject({
    template: z.strictObject({
      metadata: z.strictObject({
        annotations: z.strictObject({ "kubectl.kubernetes.io/restartedAt": z.iso.datetime() }),
      }),
    }),
  }),
});

/** Has kpack build the same again, as `kp image trigger` does, and nothing else. */
export const rebuild = z.strictObject({
  metadata: z.strictObject({
    annotations: z.strictObject({ [annotations.rebuild]: z.iso.datetime() }),
  }),
});

/** The kinds that this project defines: of the modules that declare them, without the functions. */
export const ours: readonly Kind[] = [ghapp, paas, pipecd, zundoko]
  .flatMap((module): unknown[] => Object.values(module))
  .filter(isOurs);

function isOurs(value: unknown): value is Kind {
  return (
    typeof value === "object" && value !== null && (value as Partial<Kind>).definition?.spec !== undefined
  );
}

/** A subresource is written as `plural/subresource`. */
const rule = (
  kind: Pick<Kind, "group" | "version" | "plural" | "scope">,
  allowed: readonly Verb[],
): Rule => ({
  group: kind.group,
  version: kind.version,
  resource: kind.plural,
  scope: kind.scope,
  verbs: allowed,
});

const apps = { group: "apps", version: "v1", scope: "Namespaced" } as const;
const core = { group: "", version: "v1", scope: "Namespaced" } as const;
const deployments: Rule = {
  ...rule({ ...apps, plural: "deployments" }, [...reading, "patch"]),
  body: { schema: restart, does: "restarts a Deployment" },
};
const builds: Rule = {
  ...rule(kpack.Build, [...reading, "patch"]),
  body: { schema: rebuild, does: "has a Build made again" },
};

/** Every resource that can be reached, each once. */
export const rules: readonly Rule[] = [
  ...ours.map((kind) => rule(kind, all)),
  ...ours
    .filter(({ definition }) => definition?.scale !== undefined)
    .map((kind) => rule({ ...kind, plural: `${kind.plural}/scale` }, scaling)),
  rule(kpack.Image, reading),
  builds,
  rule({ ...core, plural: "namespaces", scope: "Cluster" }, reading),
  rule({ ...core, plural: "pods" }, reading),
  rule({ ...core, plural: "pods/log" }, ["get"]),
  rule({ ...core, plural: "services" }, reading),
  rule({ ...core, group: "events.k8s.io", plural: "events" }, reading),
  deployments,
  rule({ ...apps, plural: "deployments/scale" }, scaling),
  rule({ ...apps, plural: "statefulsets" }, reading),
];

/** RFC 1123 subdomain, and so no dots one after the other, no percent signs, and nothing that a proxy would resolve. */
const segment = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Reads a path of the Kubernetes API: `/apis/<group>/<version>/namespaces/<namespace>/<resource>/<name>/<subresource>`. */
export function targetOf(path: string): Target | undefined {
  const [empty, root, ...rest] = path.split("/");
  if (empty !== "" || rest.some((part) => !segment.test(part))) return undefined;
  if (root !== "api" && root !== "apis") return undefined;
  const [group, version, ...behind] = root === "api" ? ["", ...rest] : rest;
  if (group === undefined || version === undefined) return undefined;
  const [first, namespace, ...inside] = behind;
  // `/namespaces/x` is the namespace itself, `/namespaces/x/y` what is inside.
  const isInside = first === "namespaces" && inside.length > 0;
  const [plural, name, subresource, more] = isInside ? inside : behind;
  if (plural === undefined || more !== undefined) return undefined;
  return {
    group,
    version,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    namespace: isInside ? namespace : undefined,
    name,
  };
}

const verbs: Readonly<Record<string, { readonly one?: Verb; readonly many?: Verb }>> = {
  GET: { one: "get", many: "list" },
  POST: { many: "create" },
  PATCH: { one: "patch" },
  DELETE: { one: "delete" },
};

/** Whether a request of the page is passed on, and as what. */
export function judge(
  method: string,
  path: string,
): { readonly target: Target; readonly rule: Rule; readonly verb: Verb } | Refusal {
  const target = targetOf(path);
  if (target === undefined)
    return { status: 400, message: "expected a path of the Kubernetes API, found another" };
  const rule = rules.find(
    ({ group, version, resource }) =>
      group === target.group && version === target.version && resource === target.resource,
  );
  if (rule === undefined) {
    return {
      status: 403,
      message: "expected a resource that the dashboard shows, found another. Use kubectl for it.",
    };
  }
  const verb = verbs[method]?.[target.name === undefined ? "many" : "one"];
  if (verb === undefined || !rule.verbs.includes(verb)) {
    return {
      status: 405,
      message: `expected something that the dashboard does with ${target.resource}, found ${method}`,
    };
  }
  const misplaced = outOfPlace(target, rule, verb);
  return misplaced === undefined ? { target, rule, verb } : { status: 400, message: misplaced };
}

/** What is wrong with where it is asked for: an object of a namespace has one, and a list may be of all of them. */
function outOfPlace({ namespace, name, resource }: Target, { scope }: Rule, verb: Verb): string | undefined {
  if (scope === "Cluster")
    return namespace === undefined
      ? undefined
      : `expected no namespace with ${resource}, found "${namespace}"`;
  if (namespace !== undefined || (name === undefined && verb === "list")) return undefined;
  return `expected a namespace with ${resource}, found none`;
}
