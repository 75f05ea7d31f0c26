/** The streams and consumers that all functions declare, as a file. It detects changes without a new topology version. */
import {
  activityStreamConfig,
  currentPlan,
  functionConsumers,
  sharedStreams,
  timersStreamConfig,
  workStreamConfig,
} from "denrei/bus";
import { type ReconcileFunction, subscriptionsOf } from "denrei/runtime";
import { parse } from "yaml";

/** Streams and consumers by name, and the version of their topology. */
export interface DeclaredTopology {
  readonly topology: number;
  readonly streams: Readonly<Record<string, object>>;
  readonly consumers: Readonly<Record<string, object>>;
}

/** Operators choose these values, so a comparison uses the same ones on both sides. */
const options = { replicas: 3, ackWaitMillis: 10_000 };

/** The streams and consumers of these functions. */
export function declaredTopology(
  functions: readonly ReconcileFunction[],
  cluster: string,
  topology = currentPlan.version,
): DeclaredTopology {
  const streams = [
    ...sharedStreams(options),
    ...functions.flatMap(({ name }) =>
      [workStreamConfig, timersStreamConfig, activityStreamConfig].map((config) => config(name, options)),
    ),
  ];
  const consumers = subscriptionsOf(functions, cluster).flatMap((subscription) =>
    functionConsumers(subscription, options),
  );
  return {
    topology,
    streams: Object.fromEntries(streams.map(({ name, ...config }) => [name, config])),
    consumers: Object.fromEntries(
      consumers.map(([stream, { durable_name, ...config }]) => [`${stream} ${durable_name}`, config]),
    ),
  };
}

/** Parses a file written from {@link declaredTopology}. */
export const topologyIn = (text: string): DeclaredTopology => parse(text) as DeclaredTopology;

/** Names of streams and consumers that changed under the same version. Added and removed ones do not affect existing ones. */
export function changedUnderVersion(before: DeclaredTopology, now: DeclaredTopology): string[] {
  if (now.topology > before.topology) return [];
  const changed = (from: Readonly<Record<string, object>>, to: Readonly<Record<string, object>>): string[] =>
    Object.keys(from).filter((name) => name in to && JSON.stringify(from[name]) !== JSON.stringify(to[name]));
  return [...changed(before.streams, now.streams), ...changed(before.consumers, now.consumers)];
}
