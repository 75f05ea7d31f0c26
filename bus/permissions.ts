/**
 * Who may do what on the bus: the subjects that each role may publish on and subscribe to. What is not listed is
 * refused, and every name comes from where the code takes it from, so there is one truth. A NATS server's users are
 * generated from this, for the local platform as for a cluster.
 *
 * The bridge makes all streams and consumers, of the functions as well: whoever may configure a stream can have it
 * copy others, and can have the server publish what it holds anywhere.
 */
import { inboxPrefixOf, userOf } from "./nats/identity.ts";
import {
  activity,
  activityStream,
  advisories,
  bridgeStream,
  bridgeSubject,
  consumers,
  echoSubject,
  indexes,
  kindSubjects,
  origins,
  streams,
  sweeps,
  ticketAdvisories,
  timersStream,
  token,
  topologyAdvisories,
  work,
  working,
  workStream,
} from "./subjects.ts";
import type { Interest } from "./topology.ts";

/** Subjects, with wildcards. */
export interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** A user of the bus. */
export interface Role {
  /** `bridge`, `gateway`, `dashboard`, `operator`, `backup`, `restore`, `worker`, or the name of a function. Its user is called as `userOf` says. */
  readonly name: string;
  /** Undefined: everything. */
  readonly permissions: Permissions | undefined;
  /**
   * Where its user lives: in the account of the bus, where it can have the server publish anything, or in an account of its own,
   * which reaches no more than `permissions` list.
   */
  readonly account: "bus" | "own";
}

/** Whether a subject of a role stays in its account: answers to it, and what the replicas of a function tell each other. */
export const isLocal = ({ name }: Pick<Role, "name">, subject: string): boolean =>
  subject.startsWith(`${inboxPrefixOf(userOf(name))}.`) || subject.startsWith("echoes.");

const api = (...parts: string[]): string => ["$JS.API", ...parts].join(".");
const acks = (stream: string, consumer: string): string => `$JS.ACK.${stream}.${consumer}.>`;

/** What every connection does: it asks whether there is JetStream, and listens for answers. */
const connection = (role: string): Permissions => ({
  publish: [api("INFO")],
  subscribe: [`${inboxPrefixOf(userOf(role))}.>`],
});

/** The union of permissions. */
export const together = (...all: readonly Permissions[]): Permissions => ({
  publish: [...new Set(all.flatMap(({ publish }) => publish))].sort(),
  subscribe: [...new Set(all.flatMap(({ subscribe }) => subscribe))].sort(),
});

/** The durable consumers that a function's workers serve, by stream. */
export const consumersOf = (interest: Interest): [stream: string, consumer: string][] => {
  const { scope, webhooks = [] } = interest;
  return [
    [streams.objects, consumers.router(interest)],
    ...(webhooks.length === 0 ? [] : [[streams.webhooks, consumers.webhooks(scope)] as [string, string]]),
    [workStream(scope.fn), consumers.worker(scope)],
    [timersStream(scope.fn), consumers.relay(scope)],
  ];
};

/** The bridge: writes the objects of its kinds, its leases and positions, and the configuration of the whole bus. */
const bridge = (interests: readonly Interest[], cluster: string): Permissions => {
  const all = [
    streams.objects,
    streams.deadLetters,
    streams.webhooks,
    streams.indexes,
    streams.sessions,
    bridgeStream,
    ...interests.flatMap(({ scope: { fn } }) => [workStream(fn), timersStream(fn), activityStream(fn)]),
  ];
  return {
    publish: [
      ...all.flatMap((stream) => ["INFO", "CREATE", "UPDATE"].map((verb) => api("STREAM", verb, stream))),
      ...interests.flatMap(consumersOf).flatMap(([stream, consumer]) => [
        api("CONSUMER.INFO", stream, consumer),
        api("CONSUMER.DURABLE.CREATE", stream, consumer),
        // What can not be changed is made anew.
        api("CONSUMER.DELETE", stream, consumer),
        // A pause by an operator is ended.
        api("CONSUMER.PAUSE", stream, consumer),
      ]),
      // It reads what it has published with consumers of its own, which the server names.
      api("CONSUMER.CREATE", streams.objects),
      ...["INFO", "MSG.NEXT", "DELETE"].map((verb) => api("CONSUMER", verb, streams.objects, "*")),
      api("STREAM.MSG.GET", streams.objects),
      ...interests.flatMap(({ kinds }) => kinds.map((kind) => kindSubjects(cluster, kind))),
      // Which kinds an installation lists is not known here.
      ...(interests.some(({ ownsListed }) => ownsListed) ? [`objects.${token(cluster)}.>`] : []),
      api("DIRECT.GET", bridgeStream, ">"),
      api("STREAM.MSG.GET", bridgeStream),
      ...["lease", "position"].map((key) => bridgeSubject(`${key}.${token(cluster)}.>`)),
    ],
    subscribe: topologyAdvisories,
  };
};

/** A function: reads all objects, and has its own queue, timers, marks, letters and announcements to itself. */
const ofFunction = (interest: Interest): Permissions => {
  const { scope } = interest;
  const timers = timersStream(scope.fn);
  return {
    publish: [
      // Not of the others: what is stored on which subjects names repositories, and objects of other functions.
      ...[streams.objects, workStream(scope.fn), timers].map((stream) => api("STREAM.INFO", stream)),
      ...consumersOf(interest).flatMap(([stream, consumer]) => [
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
      ...(interest.indexes?.length ? [indexes.all(scope), api("DIRECT.GET", streams.indexes)] : []),
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

/** An operator: reads what the commands show, and replays letters and webhooks. */
const operator = (interests: readonly Interest[], cluster: string): Permissions => ({
  publish: [
    working.asked(cluster),
    api("STREAM.INFO", streams.deadLetters),
    api("STREAM.INFO", bridgeStream),
    api("DIRECT.GET", streams.deadLetters),
    api("DIRECT.GET", streams.deadLetters, ">"),
    api("DIRECT.GET", bridgeStream),
    ...webhooks,
    ...interests.flatMap(({ scope }) => [
      api("STREAM.INFO", workStream(scope.fn)),
      api("STREAM.INFO", timersStream(scope.fn)),
      api("STREAM.INFO", activityStream(scope.fn)),
      api("DIRECT.GET", activityStream(scope.fn)),
      api("DIRECT.GET", workStream(scope.fn)),
      api("DIRECT.GET", timersStream(scope.fn)),
      // Of any cluster: how long a queue is.
      ...[streams.objects, streams.webhooks, workStream(scope.fn), timersStream(scope.fn)].map((stream) =>
        api("CONSUMER.INFO", stream, "*"),
      ),
      work.tickets(scope),
      work.deadLetters(scope),
    ]),
  ],
  subscribe: [working.answers(cluster)],
});

/** Streams that hold what nobody else has: all else on the bus follows from the API server. */
export const keptStreams: readonly string[] = [streams.deadLetters, streams.webhooks];

/** Whoever takes backups: reads the streams that are worth it as a whole. */
const backup: Permissions = {
  publish: keptStreams.flatMap((stream) => [
    api("STREAM.INFO", stream),
    api("STREAM.SNAPSHOT", stream),
    // The server sends on as it is told that a chunk has come.
    `$JS.SNAPSHOT.ACK.${stream}.>`,
  ]),
  subscribe: [],
};

/** Whoever puts them back, on a bus that has none: a backup says how its stream is configured, so this is a right to make it. */
const restore: Permissions = {
  publish: keptStreams.flatMap((stream) => [
    api("STREAM.INFO", stream),
    api("STREAM.RESTORE", stream),
    `$JS.SNAPSHOT.RESTORE.${stream}.>`,
  ]),
  subscribe: [],
};

/** The gateway: writes webhooks, and looks how old one is that it brings again. */
const gateway: Permissions = { publish: webhooks, subscribe: [] };

/** The dashboard: shows what an operator sees to whom RBAC lets see it, counts what happens, and keeps who has logged in. */
const dashboard = (interests: readonly Interest[], cluster: string): Permissions =>
  together(operator(interests, cluster), {
    publish: [api("STREAM.INFO", streams.sessions), api("STREAM.MSG.GET", streams.sessions), "sessions.>"],
    subscribe: [
      ...interests.flatMap(({ kinds }) => kinds.map((kind) => kindSubjects(cluster, kind))),
      activity.every(cluster),
    ],
  });

/** A role for processes that run these functions. */
export const workerRole = (
  name: string,
  interests: readonly Interest[],
): Role & { readonly permissions: Permissions } => ({
  name,
  permissions: together(connection(name), ...interests.map(ofFunction)),
  account: "own",
});

/**
 * The roles of an installation with these functions, in one cluster: the bridge, the gateway, the dashboard, the operator, who takes
 * backups and who puts them back, each function, and `worker`, which is all functions in one process.
 */
export function busRoles(interests: readonly Interest[], cluster: string): Role[] {
  const role = (name: string, account: Role["account"], permissions: Permissions): Role => ({
    name,
    permissions: together(connection(name), permissions),
    account,
  });
  return [
    role("bridge", "bus", bridge(interests, cluster)),
    role("gateway", "own", gateway),
    role("dashboard", "own", dashboard(interests, cluster)),
    role("operator", "own", operator(interests, cluster)),
    role("backup", "bus", backup),
    role("restore", "bus", restore),
    workerRole("worker", interests),
    ...interests.map((interest) => workerRole(interest.scope.fn, [interest])),
  ];
}
