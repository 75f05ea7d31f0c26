/** The song of the sample Hikawa: its words with the replicas that said them, and its objects at the end. */
import { readFile } from "node:fs/promises";
import { Hikawa, Kiyoshi, Zundoko } from "@denrei/functions/zundoko/kinds";
import { saidByAnnotation } from "@denrei/functions/zundoko/names";
import { controllerOf, type Kind, type KubeObject, type Stored } from "denrei/kinds";
import { isAlreadyExists, isConflict, isNotFound, type KubeClient, kubectlTable } from "denrei/kubernetes";
import { AbsentError, say } from "denrei/runtime";
import { parse } from "yaml";
import type { DemoEnvironment } from "./environment.ts";
import { follow } from "./follow.ts";

/** The sample Hikawa. */
export const sampleFile = new URL(import.meta.resolve("@denrei/functions/zundoko/sample.yaml"));

type Saying = KubeObject<{ say: string }>;

/** Number of rows to show of a long table: the first and the last ones. */
const firstRows = 3;
const lastRows = 6;
/** Time limit for the deletion of the sample. Milliseconds. */
const removeMillis = 2000;

/** How to print it. */
export interface SongOptions {
  readonly mode: "demo" | "up";
  readonly signal: AbortSignal;
}

/**
 * Creates the sample, and prints its words and then its objects. Resolves afterwards (`demo`), or when `signal` aborts (`up`, which
 * prints other songs too). In an existing cluster, deletes the sample at the end.
 */
export async function printSong(environment: DemoEnvironment, options: SongOptions): Promise<void> {
  const { client, origin } = environment;
  const { mode, signal } = options;
  const song = new SongPrinter(environment, options);
  const watches = await song.follow();
  const watchesEnded = Promise.all(watches.map(({ ended }) => ended));
  const sample = await createSample(environment);
  const { name } = sample.metadata;
  song.setName(name);
  try {
    const outcome = await Promise.race([song.ended, watchesEnded]);
    if (signal.aborted) return;
    if (outcome === "complete") await showObjects(client, client.connection.namespace, name);
    else if (mode === "demo") throw new AbsentError(`the Hikawa ${name} was deleted before its song ended`);
    if (mode === "up") {
      say("");
      await watchesEnded;
    }
  } finally {
    if (origin === "existing") await removeSample(client, sample);
  }
}

/** Prints new words, and detects the end of the sample's song. */
class SongPrinter {
  readonly #environment: DemoEnvironment;
  readonly #options: SongOptions;
  readonly #format: (object: Stored<Saying>) => string;
  readonly #ended = Promise.withResolvers<"complete" | "deleted">();
  /** Name of the sample. Its first words may arrive before the response to its creation. */
  #name: string | undefined;
  /** Changes that arrived before the name. */
  readonly #early: (() => void)[] = [];
  #words = 0;
  #wordsAtEnd = Number.POSITIVE_INFINITY;
  /** Each kind has its own watch, so Kiyoshi and the status may arrive before the last words. */
  #kiyoshi: Stored<Saying> | undefined;
  #failedWatches = 0;

  constructor(environment: DemoEnvironment, options: SongOptions) {
    this.#environment = environment;
    this.#options = options;
    this.#format = columns(environment.replicas.map((replica) => replica.name));
  }

  /** Resolves when the song of the sample is complete, or its Hikawa was deleted. */
  get ended(): Promise<"complete" | "deleted"> {
    return this.#ended.promise;
  }

  setName(name: string): void {
    this.#name = name;
    for (const handle of this.#early.splice(0)) handle();
  }

  /** Starts the watches. */
  follow(): Promise<{ ended: Promise<void> }[]> {
    const { client } = this.#environment;
    const { signal } = this.#options;
    const { namespace } = client.connection;
    const onError = (error: Error | undefined) => this.#watchFailed(error);
    const common = { client, namespace, signal, onError };
    return Promise.all([
      ...[Zundoko, Kiyoshi].map((kind) =>
        follow({
          ...common,
          kind: kind as Kind<Saying>,
          each: (type, object) => this.#whenNamed(() => this.#onWord(type, object)),
        }),
      ),
      follow({
        ...common,
        kind: Hikawa,
        each: (type, object) => this.#whenNamed(() => this.#onHikawa(type, object)),
      }),
    ]);
  }

  #whenNamed(handle: () => void): void {
    if (this.#name === undefined) this.#early.push(handle);
    else handle();
  }

  #onWord(type: string, object: Stored<Saying>): void {
    const isOurs = controllerOf(object)?.name === this.#name;
    if (type !== "ADDED" || (this.#options.mode === "demo" && !isOurs)) return;
    if (isOurs && object.kind === "Kiyoshi") this.#kiyoshi = object;
    else say(this.#format(object));
    if (isOurs && object.kind === "Zundoko") this.#words++;
    this.#endIfComplete();
  }

  #onHikawa(type: string, { metadata, status }: Stored<Hikawa>): void {
    if (metadata.name !== this.#name) return;
    if (type === "DELETED") this.#ended.resolve("deleted");
    else if (status?.kiyoshied) this.#wordsAtEnd = status.numZundokosSaid ?? 0;
    this.#endIfComplete();
  }

  #endIfComplete(): void {
    if (this.#kiyoshi === undefined || this.#words < this.#wordsAtEnd) return;
    say(this.#format(this.#kiyoshi));
    this.#kiyoshi = undefined;
    this.#ended.resolve("complete");
  }

  #watchFailed(error: Error | undefined): void {
    // The environment reports restarts of its own API server.
    if (this.#environment.origin === "local") return;
    const before = this.#failedWatches;
    this.#failedWatches += error === undefined ? -1 : 1;
    if (error !== undefined && before === 0) say(`Watches failed, retrying: ${error.message}`);
    if (this.#failedWatches === 0) say("Watches work again.");
  }
}

function columns(replicas: readonly string[]): (object: Stored<Saying>) => string {
  let width = Math.max(...replicas.map((name) => name.length));
  return ({ metadata, spec }) => {
    const by = metadata.annotations?.[saidByAnnotation] ?? "?";
    width = Math.max(width, by.length);
    return `  ${spec.say.padEnd("Kiyoshi!".length)}   ${by.padEnd(width)}   ${metadata.name}`;
  };
}

/** Creates the sample, under another name if an existing cluster already has one. */
async function createSample({ client, origin, id }: DemoEnvironment): Promise<Stored<Hikawa>> {
  const sample = parse(await readFile(sampleFile, "utf8")) as Hikawa;
  const { namespace } = client.connection;
  const create = (name: string) => {
    const metadata = { ...sample.metadata, name, namespace };
    return client.create(Hikawa, { ...sample, metadata }, { fieldManager: "denrei-cli" });
  };
  try {
    return await create(sample.metadata.name);
  } catch (error) {
    if (origin === "local" || !isAlreadyExists(error)) throw error;
    return await create(`${sample.metadata.name}-${id}`);
  }
}

async function removeSample(client: KubeClient, { metadata }: Stored<Hikawa>): Promise<void> {
  const { name, namespace, uid } = metadata;
  try {
    await client.delete(Hikawa, { name, namespace }, { uid, signal: AbortSignal.timeout(removeMillis) });
    say(`\nThe Hikawa ${name} is deleted; the CRDs stay in the cluster.`);
  } catch (error) {
    // Another user has deleted or replaced it.
    if (isNotFound(error) || isConflict(error)) return;
    say(`\nFailed to delete the Hikawa ${name}: ${(error as Error).message}`);
  }
}

/** Prints the objects of a song as `kubectl get` does; omits the middle of long tables. */
async function showObjects(client: KubeClient, namespace: string, name: string): Promise<void> {
  const ours = new RegExp(`^${name}(-zundoko-\\d+|-kiyoshi)?\\s`);
  for (const kind of [Hikawa, Zundoko, Kiyoshi] as Kind[]) {
    const [head = "", ...rows] = (await kubectlTable(client, kind, namespace)).split("\n");
    const shown = withoutMiddle(rows.filter((row) => ours.test(row)));
    say([`\n$ kubectl get ${kind.plural}`, head, ...shown].join("\n"));
  }
}

/** The first and the last rows of a long table. */
export function withoutMiddle(rows: readonly string[]): string[] {
  const omitted = rows.length - firstRows - lastRows;
  return omitted > 1 ? rows.toSpliced(firstRows, omitted, `(${omitted} more)`) : [...rows];
}
