/** `npm run bench`: ours compared with the same operator in Go, and the gateway with Probot. */
import { resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { type Side, sides } from "./contender.ts";
import { measureList } from "./dashboard.ts";
import { denrei } from "./denrei.ts";
import { documentName, writeDocument } from "./document.ts";
import { type BenchEnvironment, openBenchEnvironment } from "./environment.ts";
import { buildPeer, goPeer, type PeerVersions } from "./gopeer.ts";
import { idleMemory } from "./idle.ts";
import { describeBus, describeMachine, describePlatform, type Machine } from "./machine.ts";
import { expectProc } from "./processes.ts";
import { profileGateway, profileHikawas } from "./profile.ts";
import { queueSeries } from "./queue.ts";
import { sections } from "./report.ts";
import type { Results, Sizes } from "./results.ts";
import { runRounds } from "./rounds.ts";
import { routingRounds } from "./routing.ts";
import { measureSaves } from "./saves.ts";
import { openWebhookBenchEnvironment, type WebhookBenchEnvironment } from "./webhooks/environment.ts";
import { gateway } from "./webhooks/gateway.ts";
import { type InstalledProbot, installProbot, probot } from "./webhooks/probot.ts";
import { webhookRounds } from "./webhooks/rounds.ts";

const parts = [
  "throughput",
  "latency",
  "queue",
  "idle",
  "webhooks",
  "routing",
  "saves",
  "dashboard",
] as const;
/** Parts that need no cluster, or start one themselves. */
const withoutCluster: readonly string[] = ["webhooks", "routing", "saves", "dashboard"];
type Part = (typeof parts)[number];

/** The command-line options. */
interface Options extends Sizes {
  readonly only?: readonly Part[];
  readonly write?: true;
  readonly peers: readonly Side[];
  readonly before?: string;
  readonly profile?: string;
  readonly oneAccount?: true;
}

/** The default sizes. A run with smaller ones writes the document only on request. */
const full: Sizes = {
  rounds: 5,
  hikawas: 500,
  singles: 50,
  idle: 10_000,
  requests: 60_000,
  deliveries: 40_000,
  remoteSyncs: 10_000,
  saves: 20,
  applications: 1000,
  openings: 20,
};

const count = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("expected a positive integer.");
  return value;
};

/** Parses some of the known names, separated by commas. */
const someOf =
  <T extends string>(known: readonly T[]) =>
  (text: string): readonly T[] =>
    text.split(",").map((name) => {
      const found = known.find((one) => one === name.trim());
      if (found === undefined) throw new InvalidArgumentError(`expected some of ${known.join(",")}.`);
      return found;
    });

/** The sides that Denrei can be compared with, beside {@link Options.before}. */
const others = sides.filter((side) => side !== "denrei" && side !== "before");

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const options = new Command("bench")
  .description(
    "compare the Zundoko function with the same operator in Go on controller-runtime, and the gateway with Probot",
  )
  .option("--rounds <count>", "rounds, in each of which all sides run", count, full.rounds)
  .option("--hikawas <count>", "Hikawas at once", count, full.hikawas)
  .option("--singles <count>", "Hikawas one after another, for latency", count, full.singles)
  .option("--idle <count>", "idle Hikawas, for memory", count, full.idle)
  .option("--requests <count>", "requests in a run of the ticket queue", count, full.requests)
  .option("--deliveries <count>", "webhooks to a gateway in a round", count, full.deliveries)
  .option("--remote-syncs <count>", "RemoteSyncs for the pushes", count, full.remoteSyncs)
  .option("--saves <count>", "files saved in denrei dev", count, full.saves)
  .option("--applications <count>", "Applications on the dashboard", count, full.applications)
  .option("--openings <count>", "how often their list is opened", count, full.openings)
  .option("--only <parts>", `run only these parts, separated by commas: ${parts.join(", ")}`, someOf(parts))
  .option(
    "--peers <peers>",
    `with throughput and latency, compare with only these: ${others.join(", ")}, or none`,
    (text: string) => (text === "none" ? [] : someOf(others)(text)),
    others,
  )
  .option(
    "--before <folder>",
    "with throughput and latency, compare with a checkout of another commit that has its packages installed",
  )
  .option(
    "--write",
    `write ${documentName}, only the parts that ran (default: if all parts ran at full size)`,
  )
  .option(
    "--profile <folder>",
    "write CPU profiles of our processes instead, during one run of the Hikawas or, with --only webhooks, of the gateway",
  )
  .option(
    "--one-account",
    "put all users of the bus into one account, to measure the cost of separate accounts",
  )
  .showHelpAfterError("(see npm run bench -- --help)")
  .parse()
  .opts<Options>();

const accounts = options.oneAccount ? "one" : "own";
const stopping = new AbortController();
let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    interrupted = true;
    stopping.abort(new Error(`stopped by ${signal}`));
  });
}

const wants = (part: Part) => options.only === undefined || options.only.includes(part);
/** Parts that are measured on a cluster, and those of them that need the Go operator. */
const onCluster = parts.some((part) => !withoutCluster.includes(part) && wants(part));
const needsPeer = (part: Part) =>
  part === "idle" || (["throughput", "latency"].includes(part) && options.peers.length > 0);
const withPeer = parts.some((part) => wants(part) && needsPeer(part));

let peer: PeerVersions | undefined;
let installed: InstalledProbot | undefined;
let webhookEnvironment: WebhookBenchEnvironment | undefined;
let environment: BenchEnvironment | undefined;
try {
  expectProc();
  if (withPeer && !options.profile) peer = await buildPeer(stopping.signal);
  if (wants("webhooks") && !options.profile) installed = await installProbot(stopping.signal);
  if (options.profile) await profile(options.profile);
  else await bench();
} catch (error) {
  const reason = stopping.signal.aborted ? (stopping.signal.reason as Error) : (error as Error);
  // Errors before the platform has started are for the user to fix, later ones are ours.
  const atStart = environment === undefined && webhookEnvironment === undefined;
  process.stderr.write(`${interrupted || atStart ? reason.message : reason.stack}\n`);
  process.exitCode = interrupted ? 130 : 1;
} finally {
  await webhookEnvironment?.stop();
  await environment?.stop();
  await installed?.remove();
}
process.exit();

async function profile(folder: string): Promise<void> {
  if (onCluster) {
    environment = await openBenchEnvironment(stopping, accounts);
    say(await profileHikawas(environment, folder, options.hikawas));
  } else {
    webhookEnvironment = await openWebhookBenchEnvironment(stopping, accounts);
    say(await profileGateway(webhookEnvironment, folder, options.deliveries));
  }
}

async function bench(): Promise<void> {
  const webhooks = installed && (await webhookResults(installed));
  const routing = wants("routing") ? await routingResults() : undefined;
  const saves = wants("saves") ? await measureSaves(options.saves, stopping.signal, say) : undefined;
  const list = wants("dashboard")
    ? await measureList(options.applications, options.openings, stopping.signal, say)
    : undefined;
  const measured = onCluster ? await clusterResults() : undefined;
  const results: Results = {
    ...measured,
    webhooks: webhooks?.webhooks,
    routing: routing?.routing,
    saves,
    list,
    machine: new Map([
      ...describeMachine(),
      ...(measured?.machine ?? []),
      ...(webhooks?.machine ?? []),
      ...(routing?.machine ?? []),
    ]),
    sizes: options,
  };
  for (const { title, body } of sections(results)) say(`\n${title}\n\n${body}`);
  const enough = (Object.keys(full) as (keyof Sizes)[]).every((size) => options[size] >= full[size]);
  if (options.before !== undefined || options.peers.length < others.length) return;
  if (!options.write && (options.only !== undefined || !enough || accounts === "one")) return;
  await writeDocument(results, options.only === undefined ? "all" : "some");
  say(`\nWritten to ${documentName}${options.only ? ": the parts that ran" : ""}.`);
}

async function webhookResults(installed: InstalledProbot): Promise<Pick<Results, "webhooks" | "machine">> {
  webhookEnvironment = await openWebhookBenchEnvironment(stopping, accounts);
  const receivers = [gateway(webhookEnvironment), probot(webhookEnvironment, installed)] as const;
  const webhooks = await webhookRounds(webhookEnvironment, receivers, options, say);
  const machine: Machine = new Map([...describeBus(webhookEnvironment.bus), ["Probot", installed.version]]);
  await webhookEnvironment.stop();
  webhookEnvironment = undefined;
  return { webhooks, machine };
}

async function routingResults(): Promise<Pick<Results, "routing" | "machine">> {
  webhookEnvironment = await openWebhookBenchEnvironment(stopping, accounts);
  const routing = await routingRounds(webhookEnvironment.bus, options, say);
  const machine: Machine = new Map(describeBus(webhookEnvironment.bus));
  await webhookEnvironment.stop();
  webhookEnvironment = undefined;
  return { routing, machine };
}

async function clusterResults(): Promise<Omit<Results, "sizes" | "webhooks" | "routing" | "saves" | "list">> {
  const opened = await openBenchEnvironment(stopping, accounts);
  environment = opened;
  const { before } = options;
  const contenders = [
    denrei(opened),
    ...(before === undefined ? [] : [denrei(opened, { before: resolve(before) })]),
    goPeer(opened),
    goPeer(opened, "goOneWrite"),
  ].filter(({ side }) => side === "denrei" || side === "before" || options.peers.includes(side));
  const roundParts = { throughput: wants("throughput"), latency: wants("latency") };
  const rounds =
    roundParts.throughput || roundParts.latency
      ? await runRounds(opened, contenders, options, roundParts, say)
      : {};
  return {
    machine: await describePlatform(opened, peer),
    ...rounds,
    queue: wants("queue") ? await queues(opened) : undefined,
    idle: wants("idle") ? await idles(opened) : undefined,
  };
}

async function queues(environment: BenchEnvironment): Promise<NonNullable<Results["queue"]>> {
  say("ticket queue");
  const alone = await queueSeries(environment, "queue", options);
  return [...alone, ...(await queueSeries(environment, "runtime", options))];
}

async function idles(environment: BenchEnvironment): Promise<NonNullable<Results["idle"]>> {
  say("memory with idle Hikawas");
  const go = await idleMemory(environment, goPeer(environment), options.idle);
  await environment.clearObjects();
  await environment.clearBus();
  return {
    go,
    denrei: await idleMemory(environment, denrei(environment, { profiler: "profiler" }), options.idle),
  };
}
