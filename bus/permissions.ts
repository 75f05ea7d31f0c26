/**
 * Permissions on the bus: the subjects that each role may publish on and subscribe to. Everything else is denied. The names
 * come from the code that uses them, and the users of NATS servers are generated from this file, locally and in a cluster.
 *
 * The bridge creates all streams and consumers, including those of functions: a user that may configure a stream can make it
 * copy other streams, and can make the server publish its content anywhere.
 */
import { inboxPrefixOf, userOf } from "./nats/identity.ts";
import { watched } from "./objects/watchsubjects.ts";
import {
  activity,
  activityStream,
  bridgeStream,
  bridgeSubject,
  consumers,
  echoSubject,
  indexes,
  kindSubjects,
  origins,
  streams,
  sweeps,
  timersStream,
  token,
  work,
  working,
  workStream,
} from "./subjects.ts";
import { advisories, ticketAdvisories, topologyAdvisories } from "./topology/advisories.ts";
import type { FunctionSubscription } from "./topology.ts";

/** Subjects, with wildcards. */
export interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** A role on the bus. */
export interface Role {
  /** `bridge`, `gateway`, `dashboard`, `operator`, `backup`, `restore`, `run`, `worker`, or the name of a function. `userOf` gives its user. */
  readonly name: string;
  /** Undefined: everything. */
  readonly permissions: Permissions | undefined;
  /**
   * The account of its user: the account of the bus, where the user can make the server publish anything, or its own account,
   * which reaches only what `permissions` list.
   */
  readonly account: "bus" | "own";
}

/** Whether a subject stays within a role's account: responses to it, and messages between replicas of a function. */
export const isLocal = ({ name }: Pick<Role, "name">, subject: string): boolean =>
  subject.startsWith(`${inboxPrefixOf(userOf(name))}.`) || subject.startsWith("echoes.");

const api = (...parts: string[]): string => ["$JS.API", ...parts].join(".");
const acks = (stream: string, consumer: string): string => `$JS.ACK.${stream}.${consumer}.>`;

/** Permissions of every connection: to check for JetStream, and to receive responses. */
const connection = (role: string): Permissions => ({
  publish: [api("INFO")],
  subscribe: [`${inboxPrefixOf(userOf(role))}.>`],
});

/** The union of permissions. */
export const mergePermissions = (...all: readonly Permissions[]): Permissions => ({
  publish: [...new Set(all.flatMap(({ publish }) => publish))].sort(),
  subscribe: [...new Set(all.flatMap(({ subscribe }) => subscribe))].sort(),
});

/** The durable consumers that a function's workers serve, by stream. */
export const consumersOf = (subscription: FunctionSubscription): [stream: string, consumer: string][] => {
  const { scope, webhooks = [] } = subscription;
  return [
    [streams.objects, consumers.router(subscription)],
    ...(webhooks.length === 0 ? [] : [[streams.webhooks, consumers.webhooks(scope)] as [string, string]]),
    [workStream(scope.fn), consumers.worker(scope)],
    [timersStream(scope.fn), consumers.relay(scope)],
  ];
};

/** The bridge: writes the objects of its kinds, its leases and positions, and the configuration of the whole bus. */
const bridge = (subscriptions: readonly FunctionSubscription[], cluster: string): Permissions => {
  const all = [
    streams.objects,
    streams.deadLetters,
    streams.webhooks,
    streams.indexes,
    streams.sessions,
    bridgeStream,
    ...subscriptions.flatMap(({ scope: { fn } }) => [workStream(fn), timersStream(fn), activityStream(fn)]),
  ];
  return {
    publish: [
      ...all.flatMap((stream) => ["INFO", "CREATE", "UPDATE"].map((verb) => api("STREAM", verb, stream))),
      ...subscriptions.flatMap(consumersOf).flatMap(([stream, consumer]) => [
        api("CONSUMER.INFO", stream, consumer),
        api("CONSUMER.DURABLE.CREATE", stream, consumer),
        // Settings that cannot be changed require a new consumer.
        api("CONSUMER.DELETE", stream, consumer),
        // The bridge ends pauses by an operator.
        api("CONSUMER.PAUSE", stream, consumer),
      ]),
      // It reads what it has published with its own consumers, whose names the server chooses.
      api("CONSUMER.CREATE", streams.objects),
      ...["INFO", "MSG.NEXT", "DELETE"].map((verb) => api("CONSUMER", verb, streams.objects, "*")),
      api("STREAM.MSG.GET", streams.objects),
      ...subscriptions.flatMap(({ kinds }) => kinds.map((kind) => kindSubjects(cluster, kind))),
      // The kinds that an installation lists are unknown here.
      ...(subscriptions.some(({ ownsListed }) => ownsListed) ? [`objects.${token(cluster)}.>`] : []),
      api("DIRECT.GET", bridgeStream, ">"),
      api("STREAM.MSG.GET", bridgeStream),
      api("DIRECT.GET", bridgeStream),
      ...["lease", "position", "project"].map((key) => bridgeSubject(`${key}.${token(cluster)}.>`)),
    ],
    subscribe: topologyAdvisories,
  };
};

/** A function: reads all objects, and has its own queue, timers, marks, dead letters, and announcements. */
const ofFunction = (subscription: FunctionSubscription): Permissions => {
  const { scope } = subscription;
  const timers = timersStream(scope.fn);
  return {
    publish: [
      // Not of other streams: their subjects name repositories and objects of other functions.
      ...[streams.objects, workStream(scope.fn), timers].map((stream) => api("STREAM.INFO", stream)),
      ...consumersOf(subscription).flatMap(([stream, consumer]) => [
        api("CONSUMER.INFO", stream, consumer),
        api("CONSUMER.MSG.NEXT", stream, consumer),
        acks(stream, consumer),
      ]),
      api("DIRECT.GET", streams.objects),
      api("DIRECT.GET", timers),
      api("DIRECT.GET", timers, ">"),
      api("STREAM.MSG.DELETE", timers),
      api("DIRECT.GET", workStream(scope.fn)),
      api("STREAM.MSG.DELETE", workStream(scope.fn)),
      api("STREAM.PURGE", timers),
      ...[work.deadLetters(scope), work.allCrashes(scope)].flatMap((letters) => [
        letters,
        api("DIRECT.GET", streams.deadLetters, letters),
      ]),
      ...(subscription.indexes?.length ? [indexes.all(scope), api("DIRECT.GET", streams.indexes)] : []),
      ...(subscription.filters?.length
        ? [watched.all(scope), api("DIRECT.GET", streams.indexes), api("STREAM.MSG.GET", streams.indexes)]
        : []),
      work.tickets(scope),
      work.timers(scope),
      work.marks(scope),
      sweeps.at(scope),
      echoSubject(scope),
      origins.of(scope),
      activity.all(scope),
      working.answer(scope),
    ],
    subscribe: [
      echoSubject(scope),
      origins.all(scope.cluster),
      working.asked(scope.cluster),
      work.deadLetters(scope),
      ...ticketAdvisories(scope),
      advisories.streamDeleted(streams.indexes),
    ],
  };
};

/** Reading and writing webhooks. */
const webhooks: readonly string[] = [
  api("STREAM.INFO", streams.webhooks),
  api("DIRECT.GET", streams.webhooks),
  "webhooks.>",
];

/** An operator: reads what the commands show, and replays dead letters and webhooks. */
const operator = (subscriptions: readonly FunctionSubscription[], cluster: string): Permissions => ({
  publish: [
    working.asked(cluster),
    api("STREAM.INFO", streams.deadLetters),
    api("STREAM.INFO", bridgeStream),
    api("DIRECT.GET", streams.deadLetters),
    api("DIRECT.GET", streams.deadLetters, ">"),
    api("DIRECT.GET", bridgeStream),
    ...webhooks,
    ...subscriptions.flatMap(({ scope }) => [
      api("STREAM.INFO", workStream(scope.fn)),
      api("STREAM.INFO", timersStream(scope.fn)),
      api("STREAM.INFO", activityStream(scope.fn)),
      api("DIRECT.GET", activityStream(scope.fn)),
      api("DIRECT.GET", workStream(scope.fn)),
      api("DIRECT.GET", timersStream(scope.fn)),
      // For queue lengths in any cluster.
      ...[streams.objects, streams.webhooks, workStream(scope.fn), timersStream(scope.fn)].map((stream) =>
        api("CONSUMER.INFO", stream, "*"),
      ),
      work.tickets(scope),
      work.deadLetters(scope),
    ]),
  ],
  subscribe: [working.answers(cluster)],
});

/** Streams with original data. Everything else on the bus follows from the API server. */
export const keptStreams: readonly string[] = [streams.deadLetters, streams.webhooks];

/** Takes backups: reads these streams as a whole. */
const backup: Permissions = {
  publish: keptStreams.flatMap((stream) => [
    api("STREAM.INFO", stream),
    api("STREAM.SNAPSHOT", stream),
    // The server sends the next chunk when the previous one is acknowledged.
    `$JS.SNAPSHOT.ACK.${stream}.>`,
  ]),
  subscribe: [],
};

/** Restores backups on a bus without these streams. A backup contains the stream's configuration, so this is a permission to create it. */
const restore: Permissions = {
  publish: keptStreams.flatMap((stream) => [
    api("STREAM.INFO", stream),
    api("STREAM.RESTORE", stream),
    `$JS.SNAPSHOT.RESTORE.${stream}.>`,
  ]),
  subscribe: [],
};

/** The gateway: writes webhooks, reads the age of a redelivered one, and reads what other projects select. */
const gateway: Permissions = {
  publish: [...webhooks, api("STREAM.INFO", bridgeStream), api("DIRECT.GET", bridgeStream)],
  subscribe: [],
};

/** The dashboard: shows users what an operator sees, as far as RBAC allows; counts events, and stores sessions. */
const dashboard = (subscriptions: readonly FunctionSubscription[], cluster: string): Permissions =>
  mergePermissions(operator(subscriptions, cluster), {
    publish: [api("STREAM.INFO", streams.sessions), api("STREAM.MSG.GET", streams.sessions), "sessions.>"],
    subscribe: [
      ...subscriptions.flatMap(({ kinds }) => kinds.map((kind) => kindSubjects(cluster, kind))),
      activity.every(cluster),
    ],
  });

/** Bridge, gateway, and all functions in one process. */
const run = (subscriptions: readonly FunctionSubscription[], cluster: string): Permissions =>
  mergePermissions(bridge(subscriptions, cluster), gateway, ...subscriptions.map(ofFunction));

/** A role for processes that run these functions. */
export const workerRole = (
  name: string,
  subscriptions: readonly FunctionSubscription[],
): Role & { readonly permissions: Permissions } => ({
  name,
  permissions: mergePermissions(connection(name), ...subscriptions.map(ofFunction)),
  account: "own",
});

/**
 * The roles of an installation with these functions, in one cluster: bridge, gateway, dashboard, operator, backup, restore, each
 * function, `worker`, which runs all functions in one process, and `run`, which also runs the bridge and the gateway in it.
 */
export function busRoles(subscriptions: readonly FunctionSubscription[], cluster: string): Role[] {
  const role = (name: string, account: Role["account"], permissions: Permissions): Role => ({
    name,
    permissions: mergePermissions(connection(name), permissions),
    account,
  });
  return [
    role("bridge", "bus", bridge(subscriptions, cluster)),
    role("gateway", "own", gateway),
    role("dashboard", "own", dashboard(subscriptions, cluster)),
    role("operator", "own", operator(subscriptions, cluster)),
    role("backup", "bus", backup),
    role("restore", "bus", restore),
    role("run", "bus", run(subscriptions, cluster)),
    workerRole("worker", subscriptions),
    ...subscriptions.map((subscription) => workerRole(subscription.scope.fn, [subscription])),
  ];
}
