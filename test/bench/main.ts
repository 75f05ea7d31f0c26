/** `npm run bench`: ours compared with the same operator in Go, and the gateway with Probot. */
import { resolve } from "node:path";
import { measureList } from "./dashboard.ts";
import { denrei } from "./denrei.ts";
import { documentName, writeDocument } from "./document.ts";
import { type BenchEnvironment, openBenchEnvironment } from "./environment.ts";
import { buildPeer, goPeer, type PeerVersions } from "./gopeer.ts";
import { idleMemory } from "./idle.ts";
import { describeBus, describeMachine, describePlatform, type Machine } from "./machine.ts";
import { full, isChosen, others, type Part, parseOptions, parts } from "./options.ts";
import { expectProc } from "./processes.ts";
import { profileGateway, profileHikawas } from "./profile.ts";
import { queueSeries } from "./queue.ts";
import { sections } from "./report.ts";
import type { Results, Sizes } from "./results.ts";
import { runRounds } from "./rounds.ts";
import { routingRounds } from "./routing.ts";
import { measureSaves } from "./saves.ts";
import { measureScale } from "./scale/scale.ts";
import { measureStarts } from "./starts.ts";
import { openWebhookBenchEnvironment, type WebhookBenchEnvironment } from "./webhooks/environment.ts";
import { gateway } from "./webhooks/gateway.ts";
import { type InstalledProbot, installProbot, probot } from "./webhooks/probot.ts";
import { webhookRounds } from "./webhooks/rounds.ts";

/** Parts that need no cluster, or start one themselves. */
const withoutCluster: readonly Part[] = ["webhooks", "routing", "saves", "dashboard", "scale"];

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const options = parseOptions();
const accounts = options.oneAccount ? "one" : "own";
const stopping = new AbortController();
let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    interrupted = true;
    stopping.abort(new Error(`stopped by ${signal}`));
  });
}

const wants = (part: Part) => isChosen(options, part);
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
  const scale = wants("scale")
    ? await measureScale(options.scale, options, accounts, stopping, say)
    : undefined;
  const measured = onCluster ? await clusterResults() : undefined;
  const results: Results = {
    ...measured,
    webhooks: webhooks?.webhooks,
    routing: routing?.routing,
    saves,
    list,
    scale,
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

async function clusterResults(): Promise<
  Omit<Results, "sizes" | "webhooks" | "routing" | "saves" | "list" | "scale">
> {
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
    starts: wants("starts") ? await measureStarts(opened, options.rounds, say) : undefined,
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
