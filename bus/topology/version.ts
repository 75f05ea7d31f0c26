/**
 * Versions of the topology. During an upgrade, programs of two versions run side by side, and each ensures its streams and
 * consumers at start. So each stream and consumer records its version, and no program reverts it to an older one.
 */

/** The topology rules of one version of the program. */
export interface TopologyPlan {
  /** Version of the declarations. Increases with each change of an existing stream or consumer ({@link currentPlan}). */
  readonly version: number;
  /** The oldest version that can work with these declarations. Older programs wait. */
  readonly serves: number;
  readonly migrations: readonly Migration[];
}

/**
 * A change of consumers that JetStream cannot make in place. The consumer is recreated after its last acknowledged message:
 * nothing is lost, and in-flight messages are redelivered only when their owners' AckWait has passed.
 */
export interface Migration {
  /** The first version that needs it. */
  readonly to: number;
  /** Names of the streams whose consumers need it. */
  readonly consumersOf: RegExp;
}

/**
 * The plan of this program. For each change of a stream or consumer in `topology.ts`, increment `version` (the generator reminds
 * you), list changes that are not possible in place in `migrations`, and raise `serves` if older programs cannot work with
 * the change. Instructions: docs/upgrading.md.
 */
export const currentPlan: TopologyPlan = { version: 3, serves: 0, migrations: [] };

/** Keys in the metadata of streams and consumers. */
const versionKey = "denrei.dev/topology";
const servesKey = "denrei.dev/topology-serves";

export type Metadata = Readonly<Record<string, string>>;

/** The metadata of streams and consumers of this plan. */
export const metadataOf = ({ version, serves }: TopologyPlan): Metadata => ({
  [versionKey]: String(version),
  [servesKey]: String(serves),
});

/** The version of a stream or consumer, and the oldest version that can work with it. */
export interface FoundVersion {
  readonly version: number;
  readonly serves: number;
}

/** Reads the version from metadata. Programs before version 1 wrote none: version 0. */
export const versionIn = (metadata: Metadata | undefined): FoundVersion => ({
  version: Number(metadata?.[versionKey] ?? 0) || 0,
  serves: Number(metadata?.[servesKey] ?? 0) || 0,
});

/** Keeps metadata that the server, an operator, or another program has written. */
export const mergedMetadata = (found: Metadata | undefined, ours: Metadata): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(found ?? {}).filter(([name]) => !name.startsWith("_nats."))),
  ...ours,
});

/** Whether a consumer of the stream must be recreated on the way from the found version. */
export const isMigrated = ({ version, migrations }: TopologyPlan, from: number, stream: string): boolean =>
  migrations.some(({ to, consumersOf }) => from < to && to <= version && consumersOf.test(stream));
