/** What an audited API server was asked, by whom, and what it has refused. */
import { readFile } from "node:fs/promises";
import type { PolicyRule } from "../../bus/worker/function.ts";
import type { ClusterPlatform } from "./ground.ts";
import { accountUser } from "./rights.ts";

/** What is read of an event of `audit.k8s.io/v1`. */
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

/** A request of somebody. */
export interface Asked {
  readonly user: string;
  /** The right that it needs, as {@link rightsOf} writes it. */
  readonly right: string;
  readonly path: string;
  /** Of the object; undefined where it is in none. */
  readonly namespace: string | undefined;
  /** `right`: the user does not have it. `else`: for another reason (a quota, say). */
  readonly refused: "no" | "right" | "else";
  /** What there was not before was made. */
  readonly made: boolean;
}

/** An API server that writes an audit log. */
type Audited = Pick<ClusterPlatform, "auditLogPath" | "auditLogStart">;

/** A right in one line: `get apps/deployments/status`. */
const rightText = (verb: string, group: string, resource: string): string =>
  `${verb} ${group ? `${group}/` : ""}${resource}`;

/** Each right that rules grant, in a line of its own. */
export const rightsOf = (rules: readonly PolicyRule[]): string[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => rightText(verb, group, resource))),
    ),
  );

/** The requests that the API server has answered since the test file started. Throws when it writes no audit log. */
export async function auditEvents({ auditLogPath, auditLogStart }: Audited): Promise<AuditEvent[]> {
  if (auditLogPath === undefined) {
    throw new Error(
      "expected an API server that is audited, found one that is not. Start it with `audited`.",
    );
  }
  const text = (await readFile(auditLogPath)).subarray(auditLogStart).toString("utf8");
  // The last line may still be being written.
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as AuditEvent);
}

/** What the platform's users have asked about objects so far. Throws when the API server is not audited. */
export async function askedOf(platform: Audited): Promise<Asked[]> {
  const all = (await auditEvents(platform)).flatMap(askedIn);
  return all.filter(({ user }) => user.startsWith(accountUser("")));
}

function askedIn({ verb, user, requestURI, objectRef, responseStatus, annotations }: AuditEvent): Asked[] {
  if (objectRef === undefined) return [];
  const { apiGroup = "", resource, subresource, namespace } = objectRef;
  const code = responseStatus?.code;
  const lacksRight = annotations?.["authorization.k8s.io/decision"] === "forbid";
  return [
    {
      user: user.username,
      right: rightText(verb, apiGroup, subresource === undefined ? resource : `${resource}/${subresource}`),
      path: requestURI,
      namespace,
      refused: lacksRight ? "right" : code === 403 ? "else" : "no",
      made: code === 201,
    },
  ];
}
