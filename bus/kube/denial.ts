/** Requests that the API server denies because the user lacks a permission: what was requested, and the rule that allows it. */
import { optInCommands } from "./domain.ts";

/** Advice for an unknown user. */
export const checkUser = ". Check the user of the kubeconfig's current context.";

/** The action of a request, in the terms of RBAC. */
export interface Action {
  readonly verb: string;
  /** Empty for Kubernetes' core group. */
  readonly group: string;
  /** Plural of the kind, with its subresource: `pods/log`. */
  readonly resource: string;
  /** Undefined for cluster-scoped objects, and for lists of all namespaces. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** What the user lacks: a permission for the action itself, or one that admission requires in addition. */
export type DenialCause = "action" | "impersonation" | "escalation" | "owner-deletion" | "unknown-user";

/** A request that was denied. */
export interface Denial {
  readonly cause: DenialCause;
  /** Undefined for paths that are not of a resource, such as `/version`. */
  readonly action: Action | undefined;
  /** The verbs that the request needs: server-side apply needs `create` and `patch`. */
  readonly verbs: readonly string[];
  /** The object that the request sent, if any. */
  readonly sent: unknown;
}

/** A request, as far as it decides which permission it needs. */
export interface DeniedRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly contentType?: string;
  readonly body?: unknown;
}

/** A rule that can be pasted into `permissions` of a function, and into a Role. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** These are subresources of a namespace; other names after it are kinds in it. */
const namespaceSubresources = ["status", "finalize"];

/**
 * The action of a request. Undefined for a path that is not of a resource. Follows `apiserver/pkg/endpoints/request/requestinfo.go`.
 */
export function actionOf({ method, path, query = {} }: DeniedRequest): Action | undefined {
  const [root, ...rest] = path.split("/").filter(Boolean).map(decodeURIComponent);
  if (root !== "api" && root !== "apis") return undefined;
  const group = root === "api" ? "" : (rest.shift() ?? "");
  // The version.
  rest.shift();
  const [first, second, third = ""] = rest;
  const isWithin =
    first === "namespaces" &&
    rest.length > 2 &&
    !(rest.length === 3 && namespaceSubresources.includes(third));
  const namespace = isWithin ? second : undefined;
  const [plural, name, subresource] = isWithin ? rest.slice(2) : rest;
  if (plural === undefined) return undefined;
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  return { verb: verbOf(method, name, query), group, resource, namespace, name };
}

function verbOf(method: string, name: string | undefined, query: Readonly<Record<string, unknown>>): string {
  if (method === "POST") return "create";
  if (method === "PUT") return "update";
  if (method === "PATCH") return "patch";
  if (method === "DELETE") return name === undefined ? "deletecollection" : "delete";
  if (query.watch) return "watch";
  return name === undefined ? "list" : "get";
}

/**
 * The texts of a 403 that admission would not send. Sources: `apiserver/pkg/endpoints/handlers/responsewriters/errors.go`,
 * `kubernetes/pkg/registry/rbac/validation/policy_comparator.go`, `plugin/pkg/admission/gc/gc_admission.go`.
 */
const causes: readonly (readonly [DenialCause, RegExp])[] = [
  ["unknown-user", /User "system:anonymous" cannot /],
  // `impersonate-on:serviceaccount:create` where impersonation is constrained.
  ["impersonation", /User "[^"]*" cannot impersonate[ -]/],
  ["action", /User "[^"]*" cannot \S+ (resource|path) "/],
  ["escalation", /is attempting to grant RBAC permissions not currently held/],
  ["owner-deletion", /cannot set blockOwnerDeletion|cannot set an ownerRef on a resource you can't delete/],
];

/** The denial in the message of a 403; undefined if admission has rejected the object. */
export function denialOf(request: DeniedRequest, message = ""): Denial | undefined {
  const cause = causes.find(([, pattern]) => pattern.test(message))?.[0];
  if (cause === undefined) return undefined;
  const action = actionOf(request);
  return { cause, action, verbs: action === undefined ? [] : verbsOf(request, action), sent: request.body };
}

/** Server-side apply creates a missing object, unless it names the uid of an existing one. */
function verbsOf({ contentType, body }: DeniedRequest, { verb }: Action): readonly string[] {
  const { metadata } = (body ?? {}) as { readonly metadata?: { readonly uid?: string } };
  const mayCreate = contentType === "application/apply-patch+yaml" && metadata?.uid === undefined;
  return mayCreate ? ["create", verb] : [verb];
}

/** The rule that allows the action. */
export const ruleFor = ({ group, resource }: Action, verbs: readonly string[]): Rule => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

/** A rule as source text: `{ apiGroups: ["batch"], resources: ["jobs"], verbs: ["list"] }`. */
export const ruleText = ({ apiGroups, resources, verbs }: Rule): string =>
  `{ apiGroups: ${listText(apiGroups)}, resources: ${listText(resources)}, verbs: ${listText(verbs)} }`;

const listText = (items: readonly string[]): string =>
  `[${items.map((item) => JSON.stringify(item)).join(", ")}]`;

/** Whether the action is on Secrets, which functions may use in opted-in namespaces only. */
export const isOnSecrets = ({ group, resource }: Action): boolean =>
  group === "" && resource.split("/")[0] === "secrets";

/** What a user of a kubeconfig needs. */
export function adviceFor({ cause, action, verbs }: Denial): string {
  if (cause === "unknown-user") return checkUser;
  if (cause === "impersonation")
    return ". Grant the user the verb impersonate, or remove `as` and its like from the kubeconfig.";
  if (action === undefined || cause !== "action") return "";
  if (isOnSecrets(action))
    return `. The Secrets of a namespace need an opt-in: ${optInCommands(action.namespace ?? "<namespace>")}`;
  return `. The user needs a role with the rule ${ruleText(ruleFor(action, verbs))}.`;
}
