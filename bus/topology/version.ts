/**
 * Versions of what the platform declares on the bus. Programs of two versions work side by side while one replaces the
 * other, and each of them ensures its streams and consumers when it starts: so each stream and consumer says which
 * version it is of, and nobody brings one back to an older version.
 */

/** The rules of one version of the program. */
export interface TopologyPlan {
  /** Of what this program declares. Grows with each change of a stream or consumer that exists ({@link currentPlan}). */
  readonly version: number;
  /** Programs that know this version can work with what this one declares; older ones can not, and wait. */
  readonly serves: number;
  readonly migrations: readonly Migration[];
}

/**
 * A change of consumers that JetStream does not make in place. The consumer is made anew behind what was acknowledged:
 * nothing is lost, and what somebody had in hand is delivered again only when it is not in hand any more.
 */
export interface Migration {
  /** The first version that needs it. */
  readonly to: number;
  /** Whose consumers: names of streams. */
  readonly consumersOf: RegExp;
}

/**
 * What this program declares. Whoever changes a setting of a stream or consumer in `topology.ts` adds one to `version`
 * (`npm run generate` says so), names what can not be changed in place in `migrations`, and raises `serves` where older
 * programs could not go on beside it. How to do each: docs/upgrading.md.
 */
export const currentPlan: TopologyPlan = { version: 2, serves: 0, migrations: [] };

/** Keys of the metadata of streams and consumers. */
const versionKey = "denrei.dev/topology";
const servesKey = "denrei.dev/topology-serves";

export type Metadata = Readonly<Record<string, string>>;

/** What a stream or consumer of this plan says about itself. */
export const metadataOf = ({ version, serves }: TopologyPlan): Metadata => ({
  [versionKey]: String(version),
  [servesKey]: String(serves),
});

/** Which version something is of, and the oldest that can work with it. */
export interface FoundVersion {
  readonly version: number;
  readonly serves: number;
}

/** Reads what is found. Programs before the first version said nothing, and that is version 0. */
export const versionIn = (metadata: Metadata | undefined): FoundVersion => ({
  version: Number(metadata?.[versionKey] ?? 0) || 0,
  serves: Number(metadata?.[servesKey] ?? 0) || 0,
});

/** What the server, an operator or another program has written beside ours stays. */
export const mergedMetadata = (found: Metadata | undefined, ours: Metadata): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(found ?? {}).filter(([name]) => !name.startsWith("_nats."))),
  ...ours,
});

/** Whether a consumer of the stream has to be made anew on the way from the version that is found. */
export const isMigrated = ({ version, migrations }: TopologyPlan, from: number, stream: string): boolean =>
  migrations.some(({ to, consumersOf }) => from < to && to <= version && consumersOf.test(stream));
