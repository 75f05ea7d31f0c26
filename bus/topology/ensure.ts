/**
 * Brings one stream or consumer to what this program declares, and leaves alone what a newer program has declared.
 * What JetStream changes in place: `configUpdateCheckLocked` in server/stream.go and `checkNewConsumerConfig` in
 * server/consumer.go of nats-server 2.15.2.
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
import { covers, withoutLonger } from "./drift.ts";
import { asBegun, replaceConsumer } from "./recreate.ts";
import {
  isMigrated,
  type Metadata,
  mergedMetadata,
  metadataOf,
  type TopologyPlan,
  versionIn,
} from "./version.ts";

/** Something is missing on the bus, or is not as it must be, and this process may not or can not mend it. */
export class TopologyError extends Error {
  override readonly name = "TopologyError";
}

/** A stream as the platform declares it. */
export type Stream = Partial<StreamConfig> & Pick<StreamConfig, "name" | "subjects">;

/** Who brings the bus to what. */
export interface Ensuring {
  readonly jsm: JetStreamManager;
  /** The user, for people. */
  readonly user: string;
  readonly plan: TopologyPlan;
  /** Called with a stream that has no limit although one is declared: the server could not reserve the storage, or an operator removed the limit. */
  readonly onUnlimited?: ((stream: string) => void) | undefined;
  /** Metadata of a new stream, beside the version. */
  readonly metadataOfNew?: ((stream: string) => Metadata) | undefined;
}

/** Makes a thing that is not as expected. Throws {@link TopologyError} when this user may not. */
export async function mend(
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
        `expected the server to bring the ${thing} to this version, but it refuses: ${error.message}. What it does not ` +
          "change in place needs a migration (bus/topology/version.ts), and this version has none for it. Start the " +
          "version that was here before, and see docs/upgrading.md.",
        { cause: error },
      );
    if (isTooBig(error))
      throw new TopologyError(
        `expected the NATS server to have storage for the ${thing}, but limits of streams reserve all of it: ${error.message}. ` +
          "Raise max_file_store in nats.conf, or lower a limit: nats stream edit <stream> --max-bytes <bytes>.",
        { cause: error },
      );
    if (violationIn(error) === undefined) throw error;
    throw new TopologyError(
      `expected the ${thing} on the bus as this version has it, found ${found}, and ${user} may not make it so. The ` +
        "bridge does: start the bridge of this version, with the same functions and settings.",
      { cause: error },
    );
  }
}

const notFound = (error: unknown): boolean => error instanceof JetStreamApiError && error.status === 404;

/** The server does not take the configuration of a stream (10052), or of a consumer (10012). */
const isRefused = (error: unknown): error is JetStreamApiError =>
  error instanceof JetStreamApiError && [10052, 10012].includes(error.code);

/** The server, or the account, cannot set as much storage aside as a stream's `max_bytes`. */
const isTooBig = (error: unknown): error is JetStreamApiError =>
  error instanceof JetStreamApiError && [10002, 10023, 10047].includes(error.code);

/** Whether a newer program has declared it. Throws {@link TopologyError} when this one can not work with that. */
function isNewer(thing: string, metadata: Metadata | undefined, plan: TopologyPlan): boolean {
  const { version, serves } = versionIn(metadata);
  if (version <= plan.version) return false;
  if (plan.version >= serves) return true;
  throw new TopologyError(
    `expected the ${thing} on the bus to be of a topology that this program (version ${plan.version}) can work with, found ` +
      `version ${version}, which is for programs of version ${serves} and later. A newer program has changed it, and this ` +
      "one leaves it alone: start the newer program in this one's place, or see docs/upgrading.md on going back.",
  );
}

/** What a stream needs: to be created, or to be updated. */
export interface StreamChange {
  readonly stream: string;
  readonly missing: boolean;
  make(): Promise<void>;
}

/** Compares a stream with its declaration. Undefined when it has every setting that the platform relies on. */
export async function streamChange(
  { jsm, user, plan, onUnlimited, metadataOfNew }: Ensuring,
  declared: Stream,
): Promise<StreamChange | undefined> {
  const wanted = { ...declared, metadata: { ...metadataOf(plan) } };
  const { num_replicas: _replicas, storage: _storage, max_bytes, ...always } = wanted;
  const stream = wanted.name;
  const thing = `stream ${stream}`;
  let found: StreamConfig;
  try {
    ({ config: found } = await jsm.streams.info(stream));
  } catch (error) {
    if (!notFound(error)) throw error;
    // Two processes may both find it missing; an equal create is answered like the first.
    const add = (config: Stream) => jsm.streams.add(config as StreamConfig);
    const created = { ...wanted, metadata: { ...wanted.metadata, ...metadataOfNew?.(stream) } };
    const make = () => mend(user, thing, "none", () => limited(created, add, onUnlimited));
    return { stream, missing: true, make };
  }
  // A limit is set once, by the first bridge of a version. Later changes by an operator stay, as does a stream that got no limit.
  const isOlder = versionIn(found.metadata).version < plan.version;
  const relied =
    max_bytes !== undefined && isOlder && found.max_bytes < 0 ? { ...always, max_bytes } : always;
  if (max_bytes !== undefined && !isOlder && found.max_bytes < 0) onUnlimited?.(stream);
  if (isNewer(thing, found.metadata, plan) || covers(found, relied)) return undefined;
  const update: Stream = {
    ...withoutLonger(found, relied),
    ...{ name: stream, subjects: declared.subjects },
    metadata: mergedMetadata(found.metadata, wanted.metadata),
  };
  const change = (config: Stream) => jsm.streams.update(stream, config);
  const make = () => mend(user, thing, "another configuration", () => limited(update, change, onUnlimited));
  return { stream, missing: false, make };
}

/** Makes a stream with its limit, or without one where the server has less storage than the limit would reserve. */
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

/** Deletes a durable consumer that has delivered something, if this user may: the next one begins with all messages. */
export async function restartConsumer({ jsm }: Ensuring, stream: string, name: string): Promise<void> {
  try {
    const { config, delivered } = await jsm.consumers.info(stream, name);
    const isFresh = config.deliver_policy === DeliverPolicy.All && delivered.consumer_seq === 0;
    if (!isFresh) await jsm.consumers.delete(stream, name);
  } catch (error) {
    // A user that may not do this may not create streams either, and hears of it there.
    if (!notFound(error) && violationIn(error) === undefined) throw error;
  }
}

/** Creates a durable consumer, or brings it up to date, if need be by replacing it. `at least` keeps filters beside the declared ones. */
export async function ensureConsumer(
  { jsm, user, plan }: Ensuring,
  stream: string,
  declared: Partial<ConsumerConfig>,
  filters: "exactly" | "at least" = "exactly",
): Promise<void> {
  const name = declared.durable_name ?? "";
  const thing = `consumer ${name} of ${stream}`;
  const wanted = { ...declared, metadata: { ...metadataOf(plan) } };
  let found: ConsumerInfo;
  try {
    found = await jsm.consumers.info(stream, name);
  } catch (error) {
    if (!notFound(error)) throw error;
    const create = async () => jsm.consumers.add(stream, await asBegun(jsm, stream, wanted));
    return mend(user, thing, "none", create);
  }
  const { config } = found;
  if (isPausedByOthers(found)) await mend(user, thing, "a pause", () => jsm.consumers.resume(stream, name));
  if (isNewer(thing, config.metadata, plan)) return assertOwned(thing, config, declared);
  // A single filter is reported in the singular field.
  const filter_subjects = config.filter_subjects ?? (config.filter_subject ? [config.filter_subject] : []);
  if (filters === "at least")
    wanted.filter_subjects = [...new Set([...filter_subjects, ...(declared.filter_subjects ?? [])])].sort();
  const { deliver_policy: _first, ...later } = wanted;
  // One that was made anew goes on where it was, whatever a first one begins with.
  const relied = config.deliver_policy === DeliverPolicy.StartSequence ? later : wanted;
  if (covers({ ...config, filter_subjects }, relied)) return;
  const metadata = mergedMetadata(config.metadata, wanted.metadata);
  const change = () =>
    isMigrated(plan, versionIn(config.metadata).version, stream)
      ? replaceConsumer(jsm, stream, found, { ...wanted, metadata })
      : jsm.consumers.update(stream, name, { ...relied, metadata });
  await mend(user, thing, "another configuration", change);
}

/** The platform pauses a consumer for one AckWait at most. Workers cannot detect a longer pause: the server answers as if there were no messages. */
const isPausedByOthers = ({ paused = false, pause_remaining = 0, config }: ConsumerInfo): boolean =>
  paused && pause_remaining > (config.ack_wait ?? 0);

/** A newer program's AckWait may be longer than ours, but what we believe to own must not be given to others before. */
function assertOwned(
  thing: string,
  { ack_wait: found = 0 }: Partial<ConsumerConfig>,
  { ack_wait: wanted = 0 }: Partial<ConsumerConfig>,
): void {
  if (found >= wanted) return;
  throw new TopologyError(
    `expected the ${thing} on the bus to have an AckWait of ${wanted / 1e9} s or longer, found ${found / 1e9} s from a newer ` +
      "program: give this process the same setting (DENREI_ACK_WAIT_SECONDS).",
  );
}
