/** The sample's song: every word as it is said, with the replica that said it, and what is left of it at the end. */
import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import type { KubeClient } from "../../../bus/kube/client.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../../bus/kube/errors.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import { controllerOf, type KubeObject, type Stored } from "../../../bus/kube/object.ts";
import { kubectlTable } from "../../../bus/kube/table.ts";
import { Hikawa, Kiyoshi, Zundoko } from "../../../functions/zundoko/kinds.ts";
import { saidByAnnotation } from "../../../functions/zundoko/names.ts";
import { AbsentError } from "../../environment/errors.ts";
import { say } from "../output.ts";
import type { DemoEnvironment } from "./environment.ts";
import { follow } from "./follow.ts";

/** The sample Hikawa. */
export const sampleFile = new URL("../../../functions/zundoko/sample.yaml", import.meta.url);

type Saying = KubeObject<{ say: string }>;

/** How much of a table is shown: its first and its last rows. */
const firstRows = 3;
const lastRows = 6;
/** How long taking the sample away may take, in milliseconds. */
const removeMillis = 2000;

/**
 * Creates the sample and prints its words, and at the end its objects. Resolves then (`demo`), or when `signal`
 * aborts (`up`, which prints other songs as well). A sample in somebody's own cluster is taken away again.
 */
export async function sing(
  stage: DemoEnvironment,
  { mode, signal }: { readonly mode: "demo" | "up"; readonly signal: AbortSignal },
): Promise<void> {
  const { client } = stage;
  const { namespace } = client.connection;
  const over = Promise.withResolvers<"over" | "deleted">();
  let words = 0;
  let wordsAtEnd = Number.POSITIVE_INFINITY;
  let kiyoshi: Stored<Saying> | undefined;
  /** Each kind has a watch of its own, so Kiyoshi and the status may arrive before the last words. */
  const endIfComplete = (): void => {
    if (kiyoshi === undefined || words < wordsAtEnd) return;
    say(show(kiyoshi));
    kiyoshi = undefined;
    over.resolve("over");
  };
  // The first words may be told before the creation is answered, and whose they are is known only then.
  let name: string | undefined;
  const early: (() => void)[] = [];
  const whenNamed = (tell: () => void): void => (name === undefined ? void early.push(tell) : tell());
  let troubled = 0;
  const onTrouble = (error: Error | undefined): void => {
    // The end and the new start of an API server of our own are told anyway.
    if (stage.origin === "local") return;
    const before = troubled;
    troubled += error === undefined ? -1 : 1;
    if (error !== undefined && before === 0)
      say(`The changes can not be followed, trying again: ${error.message}`);
    if (troubled === 0) say("The changes are followed again.");
  };
  const common = { client, namespace, signal, onTrouble };
  const show = singer(stage.replicas.map((replica) => replica.name));
  const each = (type: string, object: Stored<Saying>): void => {
    const hikawa = controllerOf(object)?.name;
    if (type !== "ADDED" || (mode === "demo" && hikawa !== name)) return;
    if (hikawa === name && object.kind === "Kiyoshi") kiyoshi = object;
    else say(show(object));
    if (hikawa === name && object.kind === "Zundoko") words++;
    endIfComplete();
  };
  const followed = await Promise.all([
    ...[Zundoko, Kiyoshi].map((kind) =>
      follow({
        ...common,
        kind: kind as Kind<Saying>,
        each: (type, object) => whenNamed(() => each(type, object)),
      }),
    ),
    follow({
      ...common,
      kind: Hikawa,
      each: (type, { metadata, status }) =>
        whenNamed(() => {
          if (metadata.name !== name) return;
          if (type === "DELETED") over.resolve("deleted");
          else if (status?.kiyoshied) wordsAtEnd = status.numZundokosSaid ?? 0;
          endIfComplete();
        }),
    }),
  ]);
  const ended = Promise.all(followed.map((one) => one.ended));

  const sample = await createSample(stage);
  name = sample.metadata.name;
  for (const tell of early.splice(0)) tell();
  try {
    const outcome = await Promise.race([over.promise, ended]);
    if (signal.aborted) return;
    if (outcome === "over") await showObjects(client, namespace, name);
    else if (mode === "demo")
      throw new AbsentError(`the Hikawa ${name} was deleted before its song was over`);
    if (mode === "up") {
      say("");
      await ended;
    }
  } finally {
    if (stage.origin === "existing") await removeSample(client, sample);
  }
}

/** Lines with the words and the replicas in columns. */
function singer(replicas: readonly string[]): (object: Stored<Saying>) => string {
  let width = Math.max(...replicas.map((name) => name.length));
  return ({ metadata, spec }) => {
    const by = metadata.annotations?.[saidByAnnotation] ?? "?";
    width = Math.max(width, by.length);
    return `  ${spec.say.padEnd("Kiyoshi!".length)}   ${by.padEnd(width)}   ${metadata.name}`;
  };
}

/** Creates the sample, under another name if somebody's own cluster has one already. */
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
    // Somebody else has taken it away, or put another one in its place.
    if (isNotFound(error) || isConflict(error)) return;
    say(`\nThe Hikawa ${name} could not be deleted: ${(error as Error).message}`);
  }
}

/** What `kubectl get` shows of a song; a long table without its middle. */
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
  const left = rows.length - firstRows - lastRows;
  return left > 1 ? rows.toSpliced(firstRows, left, `(${left} more)`) : [...rows];
}
