/**
 * The API requests that the page may make. RBAC decides what the user may do. This list additionally keeps a compromised page, even
 * in the session of an administrator, from reaching Secrets, tokens, and the like.
 */
import * as ghapp from "@denrei/functions/ghapp/kinds";
import * as paas from "@denrei/functions/paas/kinds";
import * as kpack from "@denrei/functions/paas/kinds/kpack";
import { kpack as annotations } from "@denrei/functions/paas/names";
import * as pipecd from "@denrei/functions/pipecd/kinds";
import * as zundoko from "@denrei/functions/zundoko/kinds";
import type { Kind, Scope } from "denrei/kinds";
import { z } from "zod";

/** The target of a request, parsed from its path. */
export interface Target {
  readonly group: string;
  readonly version: string;
  /** Plural name, with the subresource if any: `pods/log`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** RBAC verbs. */
export type Verb = "get" | "list" | "watch" | "create" | "patch" | "delete";

/** Why a request is rejected. */
export interface Rejection {
  readonly status: 400 | 403 | 405;
  readonly message: string;
}

/** An allowed resource. */
export interface Rule {
  readonly group: string;
  readonly version: string;
  /** Plural name, with the subresource if any: `pods/log`. */
  readonly resource: string;
  readonly scope: Scope;
  readonly verbs: readonly Verb[];
  /** Restricts the body of a change. `effect` completes "a change that …". */
  readonly body?: { readonly schema: z.ZodType; readonly effect: string };
}

const reading: readonly Verb[] = ["get", "list", "watch"];
const all: readonly Verb[] = [...reading, "create", "patch", "delete"];
const scaling: readonly Verb[] = ["get", "patch"];

/** Allows only `kubectl rollout restart`: with other changes a user could run any image. */
export const restart = z.strictObject({
  spec: z.strictObject({
    template: z.strictObject({
      metadata: z.strictObject({
        annotations: z.strictObject({ "kubectl.kubernetes.io/restartedAt": z.iso.datetime() }),
      }),
    }),
  }),
});

/** Allows only rebuilding a kpack Build, as `kp image trigger` does. */
export const rebuild = z.strictObject({
  metadata: z.strictObject({
    annotations: z.strictObject({ [annotations.rebuild]: z.iso.datetime() }),
  }),
});

/** The kinds of this project. Read from the modules that declare them, which do not import the functions. */
export const projectKinds: readonly Kind[] = [ghapp, paas, pipecd, zundoko]
  .flatMap((module): unknown[] => Object.values(module))
  .filter(isOurs);

function isOurs(value: unknown): value is Kind {
  return (
    typeof value === "object" && value !== null && (value as Partial<Kind>).definition?.spec !== undefined
  );
}

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
  body: { schema: restart, effect: "restarts a Deployment" },
};
const builds: Rule = {
  ...rule(kpack.Build, [...reading, "patch"]),
  body: { schema: rebuild, effect: "rebuilds a Build" },
};

/** All allowed resources, each once. */
export const rules: readonly Rule[] = [
  ...projectKinds.map((kind) => rule(kind, all)),
  ...projectKinds
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

/** RFC 1123 subdomain: excludes consecutive dots, percent signs, and everything else that a proxy would rewrite. */
const segment = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Parses a path of the Kubernetes API: `/apis/<group>/<version>/namespaces/<namespace>/<resource>/<name>/<subresource>`. */
export function parseTarget(path: string): Target | undefined {
  const [empty, root, ...rest] = path.split("/");
  if (empty !== "" || rest.some((part) => !segment.test(part))) return undefined;
  if (root !== "api" && root !== "apis") return undefined;
  const [group, version, ...behind] = root === "api" ? ["", ...rest] : rest;
  if (group === undefined || version === undefined) return undefined;
  const [first, namespace, ...inside] = behind;
  // `/namespaces/x` is the namespace itself; `/namespaces/x/y` is a resource in it.
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

/** Returns the matching rule, or why the request is rejected. */
export function checkRequest(
  method: string,
  path: string,
): { readonly target: Target; readonly rule: Rule; readonly verb: Verb } | Rejection {
  const target = parseTarget(path);
  if (target === undefined) return { status: 400, message: "This is not a path of the Kubernetes API." };
  const rule = rules.find(
    ({ group, version, resource }) =>
      group === target.group && version === target.version && resource === target.resource,
  );
  if (rule === undefined) {
    return {
      status: 403,
      message: "The dashboard does not give access to this resource. Use kubectl.",
    };
  }
  const verb = verbs[method]?.[target.name === undefined ? "many" : "one"];
  if (verb === undefined || !rule.verbs.includes(verb)) {
    return {
      status: 405,
      message: `The dashboard does not allow ${method} on ${target.resource}.`,
    };
  }
  const problem = scopeProblem(target, rule, verb);
  return problem === undefined ? { target, rule, verb } : { status: 400, message: problem };
}

/** Checks the scope: a namespaced object needs a namespace, but a list may cover all of them. */
function scopeProblem(
  { namespace, name, resource }: Target,
  { scope }: Rule,
  verb: Verb,
): string | undefined {
  if (scope === "Cluster")
    return namespace === undefined
      ? undefined
      : `${resource} is cluster-scoped, but the path names the namespace "${namespace}".`;
  if (namespace !== undefined || (name === undefined && verb === "list")) return undefined;
  return `${resource} is namespaced, but the path names no namespace.`;
}
