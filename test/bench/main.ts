/** `npm run bench`: ours side by side with the same operator in Go. */
import { Command, InvalidArgumentError, Option } from "commander";
import { type Arena, openArena } from "./arena.ts";
import { denrei } from "./denrei.ts";
import { documentName, writeDocument } from "./document.ts";
import { buildPeer, goPeer, type PeerVersions } from "./gopeer.ts";
import { idleMemory } from "./idle.ts";
import { describeMachine } from "./machine.ts";
import { expectProc } from "./processes.ts";
import { profileSongs } from "./profile.ts";
import { queueSeries } from "./queue.ts";
import { sections } from "./report.ts";
import type { Results, Sizes } from "./results.ts";
import { runRounds } from "./rounds.ts";

const parts = ["throughput", "latency", "queue", "idle"] as const;
type Part = (typeof parts)[number];

/** What the user asked for. */
interface Options extends Sizes {
  readonly only?: readonly Part[];
  readonly write?: true;
  readonly profile?: string;
}

/** The figures: with less than these the document is written only when that is asked for. */
const full: Sizes = { rounds: 5, hikawas: 500, singles: 50, idle: 10_000, requests: 60_000 };

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError("expected a whole number from 1 up.");
  return value;
};

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const options = new Command("bench")
  .description("compare the Zundoko function with the same operator in Go on controller-runtime")
  .option("--rounds <count>", "rounds, in each of which both sides run", count, full.rounds)
  .option("--hikawas <count>", "Hikawas at once", count, full.hikawas)
  .option("--singles <count>", "Hikawas one after another, for latency", count, full.singles)
  .option("--idle <count>", "idle Hikawas, for memory", count, full.idle)
  .option("--requests <count>", "requests of a run of the ticket queue", count, full.requests)
  .addOption(new Option("--only <part...>", "run only these parts").choices(parts))
  .option("--write", `write ${documentName} (default: when all parts ran with no less than the defaults)`)
  .option("--profile <folder>", "instead: CPU profiles of our processes during one run of the Hikawas")
  .showHelpAfterError("(npm run bench -- --help shows what is possible)")
  .parse()
  .opts<Options>();

const stopping = new AbortController();
let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    interrupted = true;
    stopping.abort(new Error(`stopped by ${signal}`));
  });
}

let arena: Arena | undefined;
try {
  expectProc();
  const wants = (part: Part) => options.only === undefined || options.only.includes(part);
  const peer =
    options.profile || (options.only && !options.only.some((part) => part !== "queue"))
      ? undefined
      : await buildPeer(stopping.signal);
  arena = await openArena(stopping);
  if (options.profile) say(await profileSongs(arena, options.profile, options.hikawas));
  else await bench(arena, wants, peer);
} catch (error) {
  const reason = stopping.signal.aborted ? (stopping.signal.reason as Error) : (error as Error);
  // Before the arena stands it is something for the user to mend, afterwards something for us.
  process.stderr.write(`${interrupted || arena === undefined ? reason.message : reason.stack}\n`);
  process.exitCode = interrupted ? 130 : 1;
} finally {
  await arena?.stop();
}
process.exit();

async function bench(
  arena: Arena,
  wants: (part: Part) => boolean,
  peer: PeerVersions | undefined,
): Promise<void> {
  const sides = [denrei(arena), goPeer(arena)] as const;
  const roundParts = { throughput: wants("throughput"), latency: wants("latency") };
  const rounds =
    roundParts.throughput || roundParts.latency
      ? await runRounds(arena, sides, options, roundParts, say)
      : {};
  const results: Results = {
    machine: await describeMachine(arena, peer),
    sizes: options,
    ...rounds,
    queue: wants("queue") ? await queues(arena) : undefined,
    idle: wants("idle") ? await idles(arena) : undefined,
  };
  for (const { title, body } of sections(results)) say(`\n${title}\n\n${body}`);
  const enough = (Object.keys(full) as (keyof Sizes)[]).every((size) => options[size] >= full[size]);
  if (!options.write && (options.only !== undefined || !enough)) return;
  await writeDocument(results);
  say(`\nWritten to ${documentName}.`);
}

async function queues(arena: Arena): Promise<NonNullable<Results["queue"]>> {
  say("ticket queue");
  const alone = await queueSeries(arena, "queue", options);
  return [...alone, ...(await queueSeries(arena, "runtime", options))];
}

async function idles(arena: Arena): Promise<NonNullable<Results["idle"]>> {
  say("memory with idle Hikawas");
  const go = await idleMemory(arena, goPeer(arena), options.idle);
  await arena.clearObjects();
  await arena.clearBus();
  return { go, denrei: await idleMemory(arena, denrei(arena, "inspector"), options.idle) };
}
