/** Reads the audit log of an API server: who requested what, and which requests were denied. */
import { readFile } from "node:fs/promises";
import type { PolicyRule } from "../../bus/worker/function.ts";
import type { ClusterPlatform } from "./platforms.ts";
import { accountUser } from "./rights.ts";

/** The fields that tests read of an `audit.k8s.io/v1` Event. */
export interface AuditEvent {
  readonly stage: "ResponseStarted" | "ResponseComplete" | "Panic";
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly requestURI: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly message?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** One request. */
export interface AuditedRequest {
  readonly user: string;
  /** The right that the request needs, in the format of {@link rightsOf}. */
  readonly right: string;
  readonly path: string;
  /** The namespace of the object; undefined for cluster-scoped objects. */
  readonly namespace: string | undefined;
  /** `right`: the user lacks the right. `else`: denied for another reason, such as a quota. */
  readonly refused: "no" | "right" | "else";
  /** Whether the request created an object. */
  readonly made: boolean;
}

/** An API server that writes an audit log. */
type Audited = Pick<ClusterPlatform, "auditLogPath" | "auditLogStart">;

/** A right as one line: `get apps/deployments/status`. */
const rightText = (verb: string, group: string, resource: string): string =>
  `${verb} ${group ? `${group}/` : ""}${resource}`;

/** The rights that rules grant, one line each. */
export const rightsOf = (rules: readonly PolicyRule[]): string[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => rightText(verb, group, resource))),
    ),
  );

/** All requests that the API server has answered since the test file started. Throws when it writes no audit log. */
export async function auditEvents({ auditLogPath, auditLogStart }: Audited): Promise<AuditEvent[]> {
  if (auditLogPath === undefined) {
    throw new Error("the API server writes no audit log. Start it with `audited`.");
  }
  const text = (await readFile(auditLogPath)).subarray(auditLogStart).toString("utf8");
  // The last line may be incomplete.
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as AuditEvent);
}

/** The requests of the platform's accounts so far. Throws when the API server is not audited. */
export async function auditedRequests(platform: Audited): Promise<AuditedRequest[]> {
  const all = (await auditEvents(platform)).flatMap(askedIn);
  return all.filter(({ user }) => user.startsWith(accountUser("")));
}

function askedIn({
  verb,
  user,
  impersonatedUser,
  requestURI,
  objectRef,
  responseStatus,
  annotations,
}: AuditEvent): AuditedRequest[] {
  if (objectRef === undefined) return [];
  const { apiGroup = "", resource, subresource, namespace } = objectRef;
  const code = responseStatus?.code;
  const lacksRight = annotations?.["authorization.k8s.io/decision"] === "forbid";
  return [
    {
      user: (impersonatedUser ?? user).username,
      right: rightText(verb, apiGroup, subresource === undefined ? resource : `${resource}/${subresource}`),
      path: requestURI,
      namespace,
      refused: lacksRight ? "right" : code === 403 ? "else" : "no",
      made: code === 201,
    },
  ];
}
