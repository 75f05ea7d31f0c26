/**
 * Hikawa: says words until the song is over, then Kiyoshi.
 *
 * Words have deterministic names, so saying one twice is impossible and no intent has to be recorded first. Words
 * that follow each other without a pause are said in one reconcile, and spec and status are brought up to date once
 * at its end.
 */

import type { Stored } from "../../bus/kube/object.ts";
import { TerminalError } from "../../bus/worker/errors.ts";
import { type Context, defineFunction, type Result } from "../../bus/worker/function.ts";
import { Hikawa, Kiyoshi, Zundoko } from "./kinds.ts";
import { numberOf, saidAtAnnotation, saidByAnnotation, wordSuffix } from "./names.ts";
import { lastNumber, nextStep, type Word, wordOfEnding } from "./song.ts";
import { wordSource } from "./words.ts";

/** A long song is sung in parts, so that others get their turn and the status moves on. */
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
    const step = nextStep({ words, wanted: current.spec.numZundokos ?? 0, timeForKiyoshi });
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
    // A word of a song that has ended is said again as the ending wants it; its number may be the last one.
    const last = countOf(current, words);
    const choice = (ended && wordOfEnding(step.number, last)) || nextWord(step.number);
    words.set(step.number, await say(hikawa, ctx, step.number, choice));
    before = ctx.now();
    said++;
  }
}

/** Says one word and returns what was said: another replica may have said this number first. */
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

/** Never fewer than the spec has: a word that is missing, or not on the bus yet, is sung in a later step. */
const countOf = ({ spec }: Stored<Hikawa>, words: ReadonlyMap<number, Word>): number =>
  Math.max(spec.numZundokos ?? 0, lastNumber(words));

/** The spec says how many words there are and that it is time, before Kiyoshi is said. */
const announce = (
  hikawa: Stored<Hikawa>,
  ctx: Context,
  words: ReadonlyMap<number, Word>,
): Promise<Stored<Hikawa>> =>
  ctx.patch(Hikawa, hikawa, { spec: { numZundokos: countOf(hikawa, words), sayKiyoshi: true } });

/** Brings spec and status to what was said. */
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
    `expected a name that leaves room for its children, but ${suffix} would be named with ${name.length} characters; ` +
      `at most ${nameLimit} are allowed. Create the Hikawa again under a name that is ${name.length - nameLimit} shorter.`,
  );
}

/** Without the annotation the creation time is all there is: it is cut to the second, so the second's end counts. */
function saidAt({ metadata }: Stored<Zundoko>): number {
  const exact = Date.parse(metadata.annotations?.[saidAtAnnotation] ?? "");
  if (!Number.isNaN(exact)) return exact;
  return Date.parse(metadata.creationTimestamp ?? "") + 999 || 0;
}
