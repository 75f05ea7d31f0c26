/** The song of the sample Hikawa: for the demo, its words and objects; for `denrei up`, a line for it and for each further song. */
import { readFile } from "node:fs/promises";
import { Hikawa, Kiyoshi, Zundoko } from "@denrei/functions/zundoko/kinds";
import type { Kind, Stored } from "denrei/kinds";
import { isAlreadyExists, isConflict, isNotFound, type KubeClient, kubectlTable } from "denrei/kubernetes";
import { AbsentError, say } from "denrei/runtime";
import { parse } from "yaml";
import type { DemoEnvironment } from "./environment.ts";
import { type CompleteSong, followSongs, type SaidWord } from "./songs.ts";

/** The sample Hikawa. */
export const sampleFile = new URL(import.meta.resolve("@denrei/functions/zundoko/sample.yaml"));

/** Number of rows to show of a long table: the first and the last ones. */
const firstRows = 3;
const lastRows = 6;
/** Time limit for the deletion of the sample. Milliseconds. */
const removeMillis = 2000;

/** Creates the sample, prints its words and then its objects. In an existing cluster, deletes the sample at the end. */
export async function printSong(environment: DemoEnvironment, signal: AbortSignal): Promise<void> {
  const { client, origin, replicas } = environment;
  const format = columns(replicas.map((replica) => replica.name));
  const outcome = Promise.withResolvers<"complete" | "deleted">();
  // Words may arrive before the response to the creation.
  const created = Promise.withResolvers<string>();
  const ifOurs = (uid: string, handle: () => void) =>
    void created.promise.then((ours) => uid === ours && handle());
  const { ended } = await followSongs(client, signal, {
    onWord: (word) => ifOurs(word.song, () => say(format(word))),
    onEnd: ({ uid, kiyoshi }) =>
      ifOurs(uid, () => {
        say(format(kiyoshi));
        outcome.resolve("complete");
      }),
    onDelete: (uid) => ifOurs(uid, () => outcome.resolve("deleted")),
    onWatch: watchReporter(environment),
  });
  const sample = await createSample(environment);
  const { uid, name } = sample.metadata;
  created.resolve(uid);
  try {
    const found = await Promise.race([outcome.promise, ended]);
    if (signal.aborted) return;
    if (found === "deleted") throw new AbsentError(`the Hikawa ${name} was deleted before its song ended`);
    await showObjects(client, client.connection.namespace, name);
  } finally {
    if (origin === "existing") await removeSample(client, sample);
  }
}

/**
 * Creates the sample, calls `onSample` with its name, and prints one line when a song begins and one when it ends, so that the guide
 * stays on the screen. Resolves when `signal` aborts. In an existing cluster, deletes the sample at the end.
 */
export async function summarizeSongs(
  environment: DemoEnvironment,
  { signal, onSample }: { readonly signal: AbortSignal; readonly onSample: (name: string) => void },
): Promise<void> {
  const { client, origin } = environment;
  const created = Promise.withResolvers<string>();
  const whenCreated = (handle: (sample: string) => void) => void created.promise.then(handle);
  const { ended } = await followSongs(client, signal, {
    onStart: (uid, name) => whenCreated((sample) => uid !== sample && say(`${name} sings.`)),
    onEnd: (song) => whenCreated(() => say(summary(song))),
    onWatch: watchReporter(environment),
  });
  const sample = await createSample(environment);
  try {
    onSample(sample.metadata.name);
    created.resolve(sample.metadata.uid);
    await ended;
  } finally {
    if (origin === "existing") await removeSample(client, sample);
  }
}

/** How a song ended: `hikawa-sample: Kiyoshi! after 6 words (worker-1 4, worker-2 2)`. */
export function summary({ name, words, kiyoshi }: CompleteSong): string {
  const counts = new Map<string, number>();
  for (const { replica } of words) counts.set(replica, (counts.get(replica) ?? 0) + 1);
  const shares = [...counts].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  const by = shares.map(([replica, number]) => `${replica} ${number}`).join(", ");
  return `${name}: ${kiyoshi.say} after ${words.length} words (${by})`;
}

/** Reports when all watches fail, and when they work again. */
function watchReporter({ origin }: DemoEnvironment): (error: Error | undefined) => void {
  let failed = 0;
  return (error) => {
    // The environment reports restarts of its own API server.
    if (origin === "local") return;
    const before = failed;
    failed += error === undefined ? -1 : 1;
    if (error !== undefined && before === 0) say(`Watches failed, retrying: ${error.message}`);
    if (failed === 0) say("Watches work again.");
  };
}

function columns(replicas: readonly string[]): (word: SaidWord) => string {
  let width = Math.max(...replicas.map((name) => name.length));
  return ({ say, replica, name }) => {
    width = Math.max(width, replica.length);
    return `  ${say.padEnd("Kiyoshi!".length)}   ${replica.padEnd(width)}   ${name}`;
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
