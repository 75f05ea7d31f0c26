/**
 * Every name on the bus: subjects, streams and durable consumers. Subjects of watch records are in `objects/watchsubjects.ts`.
 *
 * A subject is a list of tokens separated by dots. Values that may contain a dot, a wildcard, or white space
 * (object names, API groups) are escaped by {@link token} and read back by {@link untoken}.
 */

import { createHash } from "node:crypto";
import { ownValue } from "./values/ownvalue.ts";
import { token, untoken } from "./values/token.ts";

export { token, untoken } from "./values/token.ts";

/** Streams that all functions share. Each function has three of its own: {@link workStream}, {@link timersStream}, and {@link activityStream}. */
export const streams = {
  objects: "OBJECTS",
  webhooks: "WEBHOOKS",
  indexes: "INDEXES",
  deadLetters: "DEADLETTERS",
  sessions: "SESSIONS",
} as const;

/** Key-value bucket that holds the bridge's leases and watch positions. */
export const bridgeBucket = "BRIDGE";

/** Function names become stream, consumer, Deployment and field-manager names, so they are DNS labels. */
export const functionNamePattern = /^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/;

/** Identifies one object of a kind, the subject of a reconcile. `namespace` is empty for cluster-scoped kinds. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** `namespace/name`, or the bare name of a cluster-scoped object: the form of keys in output and logs. */
export const keyText = (key: ObjectKey): string =>
  key.namespace === "" ? key.name : `${key.namespace}/${key.name}`;

/** Parses the output of {@link keyText}. */
export function parseKeyText(text: string): ObjectKey {
  const slash = text.indexOf("/");
  return slash < 0
    ? { namespace: "", name: text }
    : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** Group and kind, which name a kind on the bus. The version does not: one object has one subject. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** The address at which versions of an object are published. The owner is the uid of its controller, or empty. */
export interface ObjectAddress extends GroupKind, ObjectKey {
  readonly owner: string;
}

const tokens = (...values: string[]): string => values.map(token).join(".");

/** Subjects of OBJECTS. */
export const objectSubject = (cluster: string, at: ObjectAddress): string =>
  `objects.${tokens(cluster, at.group, at.kind, at.namespace, at.owner, at.name)}`;

/** Every object of a kind, or only those of one namespace. */
export const kindSubjects = (cluster: string, kind: GroupKind, namespace?: string): string =>
  `objects.${tokens(cluster, kind.group, kind.kind)}.${namespace === undefined ? ">" : `${token(namespace)}.>`}`;

/** One object by name, with any controller. */
export const objectByName = (cluster: string, kind: GroupKind, key: ObjectKey): string =>
  `objects.${tokens(cluster, kind.group, kind.kind, key.namespace)}.*.${token(key.name)}`;

/** The children of one kind that a controller owns. */
export const childrenSubjects = (
  cluster: string,
  kind: GroupKind,
  namespace: string,
  owner: string,
): string => `objects.${tokens(cluster, kind.group, kind.kind)}.${ownedIn(namespace, owner)}`;

/** The children of every kind that a controller owns. */
export const familySubjects = (cluster: string, namespace: string, owner: string): string =>
  `objects.${token(cluster)}.*.*.${ownedIn(namespace, owner)}`;

/** A controller owns objects in its own namespace. A cluster-scoped one owns objects in any. */
const ownedIn = (namespace: string, owner: string): string =>
  `${namespace === "" ? "*" : token(namespace)}.${token(owner)}.*`;

/** Parses a subject of OBJECTS. Throws a `RangeError` on a subject that {@link objectSubject} cannot have built. */
export function parseObjectSubject(subject: string): ObjectAddress & { readonly cluster: string } {
  const parts = subject.split(".");
  if (parts.length !== 7 || parts[0] !== "objects") {
    throw new RangeError(
      `expected objects.<cluster>.<group>.<Kind>.<namespace>.<owner>.<name>, found "${subject}"`,
    );
  }
  const [cluster, group, kind, namespace, owner, name] = parts.slice(1).map(untoken) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return { cluster, group, kind, namespace, owner, name };
}

/** Address of a published webhook. Owner and repository are in lower case, and empty if the event has none. */
export interface WebhookAddress {
  /** The sender: `github`. */
  readonly provider: string;
  /** The sender's name of the event: `pull_request`. */
  readonly event: string;
  readonly owner: string;
  readonly repository: string;
}

/** Subjects of WEBHOOKS. Many clusters can share a bus, and each of them gets every webhook. */
export const webhookSubject = ({ provider, event, owner, repository }: WebhookAddress): string =>
  `webhooks.${tokens(provider, event, owner, repository)}`;

/** Matches every webhook with the given parts. */
export const webhookSubjects = (wanted: Partial<WebhookAddress>): string =>
  ["webhooks", ...[wanted.provider, wanted.event, wanted.owner, wanted.repository].map(tokenOrAny)].join(".");

const tokenOrAny = (value: string | undefined): string => (value === undefined ? "*" : token(value));

/** Parses a subject of WEBHOOKS. Throws a `RangeError` on any other. */
export function parseWebhookSubject(subject: string): WebhookAddress {
  const parts = subject.split(".");
  if (parts.length !== 5 || parts[0] !== "webhooks")
    throw new RangeError(`expected webhooks.<provider>.<event>.<owner>.<repository>, found "${subject}"`);
  const [provider, event, owner, repository] = parts.slice(1).map(untoken) as [
    string,
    string,
    string,
    string,
  ];
  return { provider, event, owner, repository };
}

/** The work stream of a function. */
export const workStream = (fn: string): string => `WORK_${fn}`;

/**
 * The stream of a function's timers and marks. Each function has its own, because permissions to purge and delete messages
 * apply to a whole stream.
 */
export const timersStream = (fn: string): string => `TIMERS_${fn}`;

/** Stream of a function's activity. A function that reports without end does not displace the records of others. */
export const activityStream = (fn: string): string => `ACTIVITY_${fn}`;

/** The function that a stream belongs to; undefined for a stream that functions share. */
export const functionIn = (stream: string): string | undefined =>
  /^(?:WORK|TIMERS|ACTIVITY)_([a-z][a-z0-9-]*)$/.exec(stream)?.[1];

/** The stream behind {@link bridgeBucket}, and its subjects (ADR-8). */
export const bridgeStream = `KV_${bridgeBucket}`;
export const bridgeSubject = (key: string): string => `$KV.${bridgeBucket}.${key}`;

/** Subject of a dashboard session. Its id here differs from the one that the browser has. */
export const sessionSubject = (digest: string): string => `sessions.${token(digest)}`;

/** Subject of a function's write announcements; in no stream. */
export const echoSubject = (scope: QueueScope): string => `echoes.${scope.fn}.${token(scope.cluster)}`;

/**
 * Subjects on which workers publish the traces of their writes; in no stream. Each function has its own, because two accounts
 * of a server cannot import the same subject from each other.
 */
export const origins = {
  of: ({ fn, cluster }: QueueScope) => `origins.${tokens(cluster, fn)}`,
  all: (cluster: string) => `origins.${token(cluster)}.*`,
} as const;

/** A function in one cluster: the scope of its queue, timers, and dead letters. */
export interface QueueScope {
  readonly fn: string;
  readonly cluster: string;
}

const keyed = (space: string, scope: QueueScope, key: ObjectKey): string =>
  `${space}.${tokens(scope.fn, scope.cluster, key.namespace, key.name)}`;
const scoped = (space: string, scope: QueueScope): string => `${space}.${tokens(scope.fn, scope.cluster)}.>`;

/** Subjects of a function's sweep. A due sweep matches {@link work}'s single filter for due messages. */
export const sweeps = {
  at: ({ fn, cluster }: QueueScope) => `sweeps.at.${tokens(fn, cluster)}`,
  due: ({ fn, cluster }: QueueScope) => `sweeps.due.${tokens(fn, cluster)}.all`,
} as const;

/** Subjects of INDEXES: `indexes.<function>.<cluster>.<index>.<value>.<namespace>.<name>`. */
export const indexes = {
  /** An entry: the object has the value in the index. */
  entry: (scope: QueueScope, index: string, value: string, key: ObjectKey) =>
    `indexes.${tokens(scope.fn, scope.cluster, index, value, key.namespace, key.name)}`,
  /** Every object that has the value. */
  having: (scope: QueueScope, index: string, value: string) =>
    `indexes.${tokens(scope.fn, scope.cluster, index, value)}.*.*`,
  /** All entries of a function. */
  all: (scope: QueueScope) => scoped("indexes", scope),
  /** Parses an entry's subject. Throws a `RangeError` on any other. */
  parse(subject: string): { readonly index: string; readonly value: string; readonly key: ObjectKey } {
    const parts = subject.split(".");
    if (parts.length !== 7 || parts[0] !== "indexes")
      throw new RangeError(
        `expected indexes.<function>.<cluster>.<index>.<value>.<namespace>.<name>, found "${subject}"`,
      );
    const [index, value, namespace, name] = parts.slice(3).map(untoken) as [string, string, string, string];
    return { index, value, key: { namespace, name } };
  },
} as const;

/** Subjects of activity: `activities.<function>.<cluster>.<namespace>.<name>` of the reconciled object. */
export const activity = {
  of: (scope: QueueScope, key: ObjectKey) => keyed("activities", scope, key),
  /** Records of a function in one cluster. */
  all: (scope: QueueScope) => scoped("activities", scope),
  /** Records of a function in all clusters, the content of its stream. */
  everywhere: (fn: string) => `activities.${fn}.>`,
  /** Records of every function, in a cluster or in one namespace of it. */
  every: (cluster: string, namespace?: string) =>
    `activities.*.${token(cluster)}.${namespace === undefined ? ">" : `${token(namespace)}.*`}`,
} as const;

/** Query for in-flight objects, in no stream: each worker answers for each of its functions. */
export const working = {
  asked: (cluster: string) => `working.asked.${token(cluster)}`,
  answer: ({ fn, cluster }: QueueScope) => `working.answers.${tokens(fn, cluster)}`,
  answers: (cluster: string) => `working.answers.*.${token(cluster)}`,
} as const;

/** Content of a mark: the change, and the replica that saw it. */
export interface MarkName {
  /** The uid of the changed object, or another name of a cause. */
  readonly object: string;
  readonly replica: string;
  /** The version of the object; may be empty. */
  readonly version: string;
}

const markTokens = ({ object, replica, version }: MarkName): string =>
  tokens(`${object}@${replica}`, version);

/**
 * Subjects with a function and a key: `<space>.<function>.<cluster>.<namespace>.<name>`.
 * `marks` have two more tokens: the changed object with the replica that saw it, and the object's version.
 */
export const work = {
  ticket: (scope: QueueScope, key: ObjectKey) => keyed("work", scope, key),
  tickets: (scope: QueueScope) => scoped("work", scope),
  timer: (scope: QueueScope, key: ObjectKey) => keyed("timers.at", scope, key),
  timers: (scope: QueueScope) => scoped("timers.at", scope),
  timerDue: (scope: QueueScope, key: ObjectKey) => keyed("timers.due", scope, key),
  mark: (scope: QueueScope, key: ObjectKey, name: MarkName) =>
    `${keyed("marks.at", scope, key)}.${markTokens(name)}`,
  marksOf: (scope: QueueScope, key: ObjectKey) => `${keyed("marks.at", scope, key)}.*.*`,
  marks: (scope: QueueScope) => scoped("marks.at", scope),
  markDue: (scope: QueueScope, key: ObjectKey, name: MarkName) =>
    `${keyed("marks.due", scope, key)}.${markTokens(name)}`,
  /** Scheduled messages: timers and marks. */
  scheduled: (scope: QueueScope) => `*.at.${tokens(scope.fn, scope.cluster)}.>`,
  /** Due messages: timers, marks, and the sweep. */
  due: (scope: QueueScope) => `*.due.${tokens(scope.fn, scope.cluster)}.>`,
  deadLetter: (scope: QueueScope, key: ObjectKey) => keyed("deadletters", scope, key),
  deadLetters: (scope: QueueScope) => scoped("deadletters", scope),
  /** Dead letters of all functions. */
  everyDeadLetter: (cluster: string) => `deadletters.*.${token(cluster)}.>`,
  crashes: (scope: QueueScope, key: ObjectKey) => keyed("crashes", scope, key),
  allCrashes: (scope: QueueScope) => scoped("crashes", scope),
} as const;

/** Number of tokens before and after the key's four, by the first token of a subject. */
const keySpaces: Readonly<Record<string, { readonly before: number; readonly behind: number }>> = {
  work: { before: 1, behind: 0 },
  timers: { before: 2, behind: 0 },
  marks: { before: 2, behind: 2 },
  deadletters: { before: 1, behind: 0 },
  crashes: { before: 1, behind: 0 },
  activities: { before: 1, behind: 0 },
};

/** Parses the key in a subject that {@link work} built. Throws a `RangeError` on any other. */
export function parseKeySubject(subject: string): QueueScope & { readonly key: ObjectKey } {
  const parts = subject.split(".");
  const space = ownValue(keySpaces, parts[0] ?? "");
  if (space === undefined || parts.length !== space.before + 4 + space.behind) {
    throw new RangeError(`expected <space>.<function>.<cluster>.<namespace>.<name>, found "${subject}"`);
  }
  const [fn, cluster, namespace, name] = parts.slice(space.before, space.before + 4).map(untoken) as [
    string,
    string,
    string,
    string,
  ];
  return { fn, cluster, key: { namespace, name } };
}

/** The objects that a function subscribes to. */
export interface ObjectSubscription {
  readonly scope: QueueScope;
  readonly kinds: readonly GroupKind[];
  /** Names of the indexes of its objects. */
  readonly indexes?: readonly string[] | undefined;
  /** Identifies the selectors of each filtered watch. */
  readonly filters?: readonly string[] | undefined;
  /** The function also owns kinds that the installation lists. Names of consumers do not depend on them. */
  readonly ownsListed?: boolean;
}

/** Durable consumers. Many clusters can share a bus, so the cluster is part of the name. */
export const consumers = {
  /**
   * On OBJECTS: turns events into requests. Other kinds, indexes, or selectors make it a different consumer: it starts with all
   * objects, while the old one continues.
   */
  router: ({ scope, kinds, indexes = [], filters = [], ownsListed = false }: ObjectSubscription) => {
    const watchedSubjects = [...new Set(kinds.map((kind) => kindSubjects(scope.cluster, kind)))].sort();
    const names = [...[...indexes, ...filters].sort(), ...(ownsListed ? ["listed kinds"] : [])];
    return [scope.fn, token(scope.cluster), digest([...watchedSubjects, ...names])].join("_");
  },
  /** On WEBHOOKS: turns webhooks into requests. */
  webhooks: (scope: QueueScope) => `${scope.fn}_${token(scope.cluster)}`,
  /** On the function's work stream: delivers tickets to workers. */
  worker: (scope: QueueScope) => token(scope.cluster),
  /** On the function's timers: turns due messages into requests. */
  relay: (scope: QueueScope) => token(scope.cluster),
} as const;

const digest = (names: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(names)).digest("hex").slice(0, 8);
