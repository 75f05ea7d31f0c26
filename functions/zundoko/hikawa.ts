/**
 * Hikawa: says words until the song is over, then Kiyoshi.
 *
 * Words have deterministic names, so no word is created twice and no intent has to be recorded first. One reconcile says all
 * words that need no pause between them, and updates spec and status once at its end.
 */
import { type Context, defineFunction, type Result, type Stored, TerminalError } from "denrei";
import { Hikawa, Kiyoshi, Zundoko } from "./kinds.ts";
import { numberOf, saidAtAnnotation, saidByAnnotation, wordSuffix } from "./names.ts";
import { lastNumber, nextStep, type Word, wordOfEnding } from "./song.ts";
import { wordSource } from "./words.ts";

/** A long song takes several reconciles, so that other objects get their turn and the status advances. */
const wordsPerReconcile = 50;
/** Longest name of an object (DNS subdomain). */
const nameLimit = 253;

const nextWord = wordSource(process.env);

export default defineFunction({
  name: "hikawa",
  for: Hikawa,
  owns: [Zundoko, Kiyoshi],
  async reconcile(hikawa, ctx) {
    const zundokos = await ctx.read.children(Zundoko);
    const words = new Map<number, Word>();
    let lastSaid = 0;
    for (const zundoko of zundokos) {
      const number = numberOf(zundoko.metadata.name);
      if (number === undefined) continue;
      words.set(number, zundoko.spec.say);
      lastSaid = Math.max(lastSaid, saidAt(zundoko));
    }
    return sing(hikawa, ctx, words, lastSaid);
  },
});

async function sing(
  hikawa: Stored<Hikawa>,
  ctx: Context,
  words: Map<number, Word>,
  lastSaid: number,
): Promise<Result | undefined> {
  const { intervalMillis } = hikawa.spec;
  const ended = hikawa.status?.kiyoshied === true;
  let current = hikawa;
  let timeForKiyoshi = current.spec.sayKiyoshi === true;
  let before = lastSaid;
  for (let said = 0; ; ) {
    const step = nextStep({ words, count: current.spec.numZundokos ?? 0, timeForKiyoshi });
    if (step.do === "announce") {
      timeForKiyoshi = true;
      continue;
    }
    if (step.do === "kiyoshi" && ended && (await ctx.read.children(Kiyoshi)).length > 0) {
      await record(current, ctx, words, { timeForKiyoshi, kiyoshied: true });
      return undefined;
    }
    const pause = Math.min(intervalMillis, before + intervalMillis - ctx.now());
    const rest = said >= wordsPerReconcile;
    if (pause > 0 || rest) {
      await record(current, ctx, words, { timeForKiyoshi, kiyoshied: ended });
      return { requeueAfter: Math.max(0, pause) };
    }
    if (step.do === "kiyoshi") {
      current = await announce(current, ctx, words);
      await sayKiyoshi(current, ctx);
      await record(current, ctx, words, { timeForKiyoshi, kiyoshied: true });
      return undefined;
    }
    // A missing word of a finished song must match the ending. Its number may be the last one.
    const last = countOf(current, words);
    const choice = (ended && wordOfEnding(step.number, last)) || nextWord(step.number);
    words.set(step.number, await say(hikawa, ctx, step.number, choice));
    before = ctx.now();
    said++;
  }
}

/** Says one word and returns the stored one: another replica may have said this number first. */
async function say(hikawa: Stored<Hikawa>, ctx: Context, number: number, word: Word): Promise<Word> {
  const zundoko = await ctx.create(Zundoko, {
    metadata: {
      name: childName(hikawa, wordSuffix(number)),
      annotations: { [saidAtAnnotation]: new Date(ctx.now()).toISOString(), [saidByAnnotation]: ctx.replica },
    },
    spec: { say: word },
  });
  return zundoko.spec.say;
}

async function sayKiyoshi(hikawa: Stored<Hikawa>, ctx: Context): Promise<void> {
  await ctx.create(Kiyoshi, {
    metadata: { name: childName(hikawa, "kiyoshi"), annotations: { [saidByAnnotation]: ctx.replica } },
    spec: { say: "Kiyoshi!" },
  });
}

/** At least the number in the spec: words may still be missing, or not be on the bus yet. */
const countOf = ({ spec }: Stored<Hikawa>, words: ReadonlyMap<number, Word>): number =>
  Math.max(spec.numZundokos ?? 0, lastNumber(words));

/** Records the number of words and the time for Kiyoshi in the spec, before it creates the Kiyoshi. */
const announce = (
  hikawa: Stored<Hikawa>,
  ctx: Context,
  words: ReadonlyMap<number, Word>,
): Promise<Stored<Hikawa>> =>
  ctx.patch(Hikawa, hikawa, { spec: { numZundokos: countOf(hikawa, words), sayKiyoshi: true } });

/** Updates spec and status to the current words. */
async function record(
  hikawa: Stored<Hikawa>,
  ctx: Context,
  words: ReadonlyMap<number, Word>,
  { timeForKiyoshi, kiyoshied }: { timeForKiyoshi: boolean; kiyoshied: boolean },
): Promise<void> {
  const said = words.size;
  const current = timeForKiyoshi
    ? await announce(hikawa, ctx, words)
    : await ctx.patch(Hikawa, hikawa, { spec: { numZundokos: countOf(hikawa, words) } });
  const message = kiyoshied ? `Kiyoshi! after ${said} words` : `${said} words so far`;
  await ctx.status(Hikawa, current, { numZundokosSaid: said, ...(kiyoshied && { kiyoshied }) }, [
    {
      type: "Ready",
      status: kiyoshied ? "True" : "False",
      reason: kiyoshied ? "Kiyoshied" : "Singing",
      message,
    },
    {
      type: "Progressing",
      status: kiyoshied ? "False" : "True",
      reason: kiyoshied ? "Kiyoshied" : "Singing",
      message,
    },
  ]);
}

function childName(hikawa: Stored<Hikawa>, suffix: string): string {
  const name = `${hikawa.metadata.name}-${suffix}`;
  if (name.length <= nameLimit) return name;
  throw new TerminalError(
    "NameTooLong",
    `the name leaves no room for children: ${suffix} would get a name of ${name.length} characters; ` +
      `at most ${nameLimit} are allowed. Create the Hikawa again under a name that is ${name.length - nameLimit} shorter.`,
  );
}

/** Without the annotation, uses the end of the second of the creation time, which has whole seconds. */
function saidAt({ metadata }: Stored<Zundoko>): number {
  const exact = Date.parse(metadata.annotations?.[saidAtAnnotation] ?? "");
  if (!Number.isNaN(exact)) return exact;
  return Date.parse(metadata.creationTimestamp ?? "") + 999 || 0;
}
