/** What is left of a removed project on the bus, besides the data of its functions. */

import { leaseKey, positionKey } from "../bridge/position.ts";
import type { Bus } from "../nats/connect.ts";
import { readRecords } from "../projects/neighbors.ts";
import { recordKey } from "../projects/record.ts";
import {
  bridgeBucket,
  bridgeStream,
  bridgeSubject,
  type GroupKind,
  kindSubjects,
  streams,
} from "../subjects.ts";
import { functionsOf } from "../topology/owner.ts";

/** A project that the bus knows. */
export interface KnownProject {
  readonly functions: readonly string[];
  /** Kinds that no other project needs. */
  readonly kinds: readonly GroupKind[];
}

/** Finds a project in a cluster. Returns undefined if the bus does not know it. */
export async function knownProject(
  bus: Pick<Bus, "inbox" | "jsm">,
  cluster: string,
  project: string,
): Promise<KnownProject | undefined> {
  const [functions, records] = await Promise.all([functionsOf(bus.jsm, project), readRecords(bus, cluster)]);
  const own = records.find((record) => record.project === project);
  if (own === undefined && functions.length === 0) return undefined;
  const others = records.filter((record) => record !== own).flatMap(({ kinds }) => kinds);
  const isShared = (kind: GroupKind) =>
    others.some((other) => other.group === kind.group && other.kind === kind.kind);
  return { functions, kinds: (own?.kinds ?? []).filter((kind) => !isShared(kind)) };
}

/** Removes the record of a project, and everything that bridges have stored about the given kinds. */
export async function forgetProject(
  bus: Pick<Bus, "jsm" | "kvm">,
  cluster: string,
  project: string,
  kinds: readonly GroupKind[],
): Promise<void> {
  const kv = await bus.kvm.open(bridgeBucket);
  await kv.purge(recordKey(cluster, project));
  for (const kind of kinds) {
    await bus.jsm.streams.purge(streams.objects, { filter: kindSubjects(cluster, kind) });
    for (const key of [positionKey(cluster, kind), leaseKey(cluster, kind)])
      for (const filter of [key, `${key}.>`])
        await bus.jsm.streams.purge(bridgeStream, { filter: bridgeSubject(filter) });
  }
}
