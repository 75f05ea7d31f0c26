/** What all functions declare on the bus, as a file: so that nobody changes it without a new version. */
import { parse } from "yaml";
import {
  activityStreamConfig,
  sharedStreams,
  timersStreamConfig,
  workStreamConfig,
} from "../../bus/topology/streams.ts";
import { currentPlan } from "../../bus/topology/version.ts";
import { functionConsumers } from "../../bus/topology.ts";
import { interestsOf, type ReconcileFunction } from "../../bus/worker/function.ts";

/** Streams and consumers by name, and the version of the topology that they are of. */
export interface DeclaredTopology {
  readonly topology: number;
  readonly streams: Readonly<Record<string, object>>;
  readonly consumers: Readonly<Record<string, object>>;
}

/** Settings are the operator's: whatever they are, they are the same on both sides of a comparison. */
const options = { replicas: 3, ackWaitMillis: 10_000 };

/** What the functions declare. */
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
  const consumers = interestsOf(functions, cluster).flatMap((interest) =>
    functionConsumers(interest, options),
  );
  return {
    topology,
    streams: Object.fromEntries(streams.map(({ name, ...config }) => [name, config])),
    consumers: Object.fromEntries(
      consumers.map(([stream, { durable_name, ...config }]) => [`${stream} ${durable_name}`, config]),
    ),
  };
}

/** Reads what {@link declaredTopology} was when the file was written. */
export const topologyIn = (text: string): DeclaredTopology => parse(text) as DeclaredTopology;

/** The names of what has changed though the version has not. What is new or gone changes nothing that there is. */
export function changedUnderVersion(before: DeclaredTopology, now: DeclaredTopology): string[] {
  if (now.topology > before.topology) return [];
  const changed = (from: Readonly<Record<string, object>>, to: Readonly<Record<string, object>>): string[] =>
    Object.keys(from).filter((name) => name in to && JSON.stringify(from[name]) !== JSON.stringify(to[name]));
  return [...changed(before.streams, now.streams), ...changed(before.consumers, now.consumers)];
}
