/**
 * Brings one stream or consumer to its declared configuration, unless a newer program has declared it.
 * Settings that JetStream can change in place: `configUpdateCheckLocked` in server/stream.go and
 * `checkNewConsumerConfig` in server/consumer.go of nats-server 2.15.2.
 */
import {
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamManager,
  type StreamConfig,
} from "@nats-io/jetstream";
import { violationIn } from "../nats/permissionerror.ts";
import { isInPlace, withoutLonger } from "./drift.ts";
import { asBegun, replaceConsumer } from "./recreate.ts";
import {
  isMigrated,
  type Metadata,
  mergedMetadata,
  metadataOf,
  type TopologyPlan,
  versionIn,
} from "./version.ts";

/** A stream or consumer is missing or misconfigured, and this process cannot fix it. */
export class TopologyError extends Error {
  override readonly name = "TopologyError";
}

/** A stream as the platform declares it. */
export type Stream = Partial<StreamConfig> & Pick<StreamConfig, "name" | "subjects">;

/** The context of a change to the topology. */
export interface Ensuring {
  readonly jsm: JetStreamManager;
  /** Name of the user, for messages. */
  readonly user: string;
  readonly plan: TopologyPlan;
  /** Called with a stream that lacks its declared limit: the server could not reserve the storage, or an operator removed the limit. */
  readonly onUnlimited?: ((stream: string) => void) | undefined;
  /** Additional metadata of a new stream. */
  readonly metadataOfNew?: ((stream: string) => Metadata) | undefined;
}

/** Creates or updates a stream or consumer. Throws {@link TopologyError} if the server or this user's permissions prevent it. */
export async function changeTopology(
  user: string,
  thing: string,
  found: "none" | "another configuration" | "a pause",
  make: () => Promise<unknown>,
): Promise<void> {
  try {
    await make();
  } catch (error) {
    if (isRefused(error))
      throw new TopologyError(
        `the server rejects this version of the ${thing}: ${error.message}. A change that is not ` +
          "possible in place needs a migration (bus/topology/version.ts), and this version has none for it. Start the " +
          "previous version, and see docs/upgrading.md.",
        { cause: error },
      );
    if (isTooBig(error))
      throw new TopologyError(
        `the NATS server has no storage left for the ${thing}, because limits of streams reserve all of it: ${error.message}. ` +
          "Raise max_file_store in nats.conf, or lower a limit: nats stream edit <stream> --max-bytes <bytes>.",
        { cause: error },
      );
    if (violationIn(error) === undefined) throw error;
    throw new TopologyError(
      `expected the ${thing} on the bus in the configuration of this version, found ${found}, and ${user} may not change it. ` +
        "Start the bridge of this version with the same functions and settings: it ensures the topology.",
      { cause: error },
    );
  }
}

const notFound = (error: unknown): boolean => error instanceof JetStreamApiError && error.status === 404;

/** The server rejects the configuration of a stream (10052) or of a consumer (10012). */
const isRefused = (error: unknown): error is JetStreamApiError =>
  error instanceof JetStreamApiError && [10052, 10012].includes(error.code);

/** The server or the account cannot reserve the storage for a stream's `max_bytes`. */
const isTooBig = (error: unknown): error is JetStreamApiError =>
  error instanceof JetStreamApiError && [10002, 10023, 10047].includes(error.code);

/** Whether a newer program has declared it. Throws {@link TopologyError} if this program is too old to work with it. */
function isNewer(thing: string, metadata: Metadata | undefined, plan: TopologyPlan): boolean {
  const { version, serves } = versionIn(metadata);
  if (version <= plan.version) return false;
  if (plan.version >= serves) return true;
  throw new TopologyError(
    `the ${thing} on the bus has topology version ${version}, which requires programs of version ${serves} or later; ` +
      `this program has version ${plan.version}. A newer program has changed it, and this one leaves it unchanged: ` +
      "start the newer program instead, or see docs/upgrading.md on going back.",
  );
}

/** A pending creation or update of a stream. */
export interface StreamChange {
  readonly stream: string;
  readonly missing: boolean;
  make(): Promise<void>;
}

/** Compares a stream with its declaration. Returns undefined if it has every setting that the platform relies on. */
export async function streamChange(
  { jsm, user, plan, onUnlimited, metadataOfNew }: Ensuring,
  declared: Stream,
): Promise<StreamChange | undefined> {
  const wanted = { ...declared, metadata: { ...declared.metadata, ...metadataOf(plan) } };
  const { num_replicas: _replicas, storage: _storage, max_bytes, ...always } = wanted;
  const stream = wanted.name;
  const thing = `stream ${stream}`;
  let found: StreamConfig;
  try {
    ({ config: found } = await jsm.streams.info(stream));
  } catch (error) {
    if (!notFound(error)) throw error;
    // Two processes may both find it missing; an identical create succeeds twice.
    const add = (config: Stream) => jsm.streams.add(config as StreamConfig);
    const created = { ...wanted, metadata: { ...wanted.metadata, ...metadataOfNew?.(stream) } };
    const make = () => changeTopology(user, thing, "none", () => limited(created, add, onUnlimited));
    return { stream, missing: true, make };
  }
  // The first bridge of a version sets the limit. Later changes by an operator stay, and a stream that could not get a limit stays unlimited.
  const isOlder = versionIn(found.metadata).version < plan.version;
  const relied =
    max_bytes !== undefined && isOlder && found.max_bytes < 0 ? { ...always, max_bytes } : always;
  if (max_bytes !== undefined && !isOlder && found.max_bytes < 0) onUnlimited?.(stream);
  if (isNewer(thing, found.metadata, plan) || isInPlace(found, relied)) return undefined;
  const update: Stream = {
    ...withoutLonger(found, relied),
    ...{ name: stream, subjects: declared.subjects },
    metadata: mergedMetadata(found.metadata, wanted.metadata),
  };
  const change = (config: Stream) => jsm.streams.update(stream, config);
  const make = () =>
    changeTopology(user, thing, "another configuration", () => limited(update, change, onUnlimited));
  return { stream, missing: false, make };
}

/** Makes a change with the limit, or without it if the server cannot reserve that much storage. */
async function limited(
  { max_bytes, ...config }: Stream,
  make: (config: Stream) => Promise<unknown>,
  onUnlimited: Ensuring["onUnlimited"],
): Promise<void> {
  try {
    await make(max_bytes === undefined ? config : { ...config, max_bytes });
  } catch (error) {
    if (max_bytes === undefined || !isTooBig(error)) throw error;
    await make(config);
    onUnlimited?.(config.name);
  }
}

/** Creates a stream, or brings the settings that the platform relies on up to date. */
export async function ensureStream(ensuring: Ensuring, declared: Stream): Promise<void> {
  await (await streamChange(ensuring, declared))?.make();
}

/**
 * Deletes a durable consumer that has delivered messages, if this user may. The next one starts with all messages. With `unless`, only a
 * consumer whose metadata has other values.
 */
export async function restartConsumer(
  { jsm }: Ensuring,
  stream: string,
  name: string,
  { unless = {} }: { readonly unless?: Metadata } = {},
): Promise<void> {
  try {
    const { config, delivered } = await jsm.consumers.info(stream, name);
    const isSame = Object.entries(unless).every(
      ([key, value]) => (config.metadata?.[key] ?? value) === value,
    );
    if (isSame && Object.keys(unless).length > 0) return;
    const isFresh = config.deliver_policy === DeliverPolicy.All && delivered.consumer_seq === 0;
    if (!isFresh) await jsm.consumers.delete(stream, name);
  } catch (error) {
    // A user without this permission cannot create streams either, and fails there.
    if (!notFound(error) && violationIn(error) === undefined) throw error;
  }
}

/** Creates, updates, or replaces a durable consumer. With `at least`, filters beyond the declared ones are kept. */
export async function ensureConsumer(
  { jsm, user, plan }: Ensuring,
  stream: string,
  declared: Partial<ConsumerConfig>,
  filters: "exactly" | "at least" = "exactly",
): Promise<void> {
  const name = declared.durable_name ?? "";
  const thing = `consumer ${name} of ${stream}`;
  const wanted = { ...declared, metadata: { ...declared.metadata, ...metadataOf(plan) } };
  let found: ConsumerInfo;
  try {
    found = await jsm.consumers.info(stream, name);
  } catch (error) {
    if (!notFound(error)) throw error;
    const create = async () => jsm.consumers.add(stream, await asBegun(jsm, stream, wanted));
    return changeTopology(user, thing, "none", create);
  }
  const { config } = found;
  if (isPausedByOthers(found))
    await changeTopology(user, thing, "a pause", () => jsm.consumers.resume(stream, name));
  if (isNewer(thing, config.metadata, plan)) return assertOwned(thing, config, declared);
  // A single filter is reported in the singular field.
  const filter_subjects = config.filter_subjects ?? (config.filter_subject ? [config.filter_subject] : []);
  if (filters === "at least")
    wanted.filter_subjects = [...new Set([...filter_subjects, ...(declared.filter_subjects ?? [])])].sort();
  const { deliver_policy: _first, ...later } = wanted;
  // A recreated consumer continues at its position, whatever the declared start.
  const relied = config.deliver_policy === DeliverPolicy.StartSequence ? later : wanted;
  if (isInPlace({ ...config, filter_subjects }, relied)) return;
  const metadata = mergedMetadata(config.metadata, wanted.metadata);
  const change = () =>
    isMigrated(plan, versionIn(config.metadata).version, stream)
      ? replaceConsumer(jsm, stream, found, { ...wanted, metadata })
      : jsm.consumers.update(stream, name, { ...relied, metadata });
  await changeTopology(user, thing, "another configuration", change);
}

/** The platform pauses a consumer for at most one AckWait. Workers cannot detect a longer pause: the server answers as if there were no messages. */
const isPausedByOthers = ({ paused = false, pause_remaining = 0, config }: ConsumerInfo): boolean =>
  paused && pause_remaining > (config.ack_wait ?? 0);

/** A newer program's AckWait may be longer than ours. A shorter one would redeliver messages that we still own. */
function assertOwned(
  thing: string,
  { ack_wait: found = 0 }: Partial<ConsumerConfig>,
  { ack_wait: wanted = 0 }: Partial<ConsumerConfig>,
): void {
  if (found >= wanted) return;
  throw new TopologyError(
    `the ${thing} on the bus has an AckWait of ${found / 1e9} s from a newer program, expected ${wanted / 1e9} s or longer: ` +
      "give this process the same setting (DENREI_ACK_WAIT_SECONDS).",
  );
}
