/** Bridges that take over from each other. */
import { ConfigMap, type Kind, Secret } from "../../../bus/kube/kind.ts";
import { quantile } from "../../bench/statistics.ts";
import { Note } from "../../fixtures/functions/notes.ts";
import { type OwnBridged, startChurn, startOwnBridged } from "../../harness/bridged.ts";
import { matchesApiServer, publishedInOrder } from "../buschecks.ts";
import {
  type LeaseRecords,
  type Loss,
  pauseMillis,
  SharedBridges,
  type Term,
  termsOf,
  watchLease,
} from "../leaders.ts";
import { bounded, type Check, figure, noneOf, type Scenario, type Trial } from "../scenario.ts";

const kinds: readonly Kind[] = [Note, Secret, ConfigMap];
const hotNotes = 10;
const limitSeconds = 5;

export const takeover: Scenario = {
  number: 3,
  name: "takeover",
  title:
    "Two and then three bridges share the kinds. The leader is killed, or paused for longer than its lease, while notes keep changing.",
  promise: "a standby bridge takes over within 5 s",
  fullMinutes: 4,
  tested: "nightly",
  async run(trial) {
    const bridged = await startOwnBridged();
    trial.defer(() => bridged.stop());
    const lease = await watchLease(bridged.kv);
    trial.defer(() => lease.stop());
    const bridges = new SharedBridges(bridged, trial.signal);
    await Promise.all(["bridge-a", "bridge-b"].map((name) => bridges.start(name)));
    await bridges.untilPublishing();
    const losses = await loseLeaders(trial, bridged, bridges);

    const terms = () => termsOf(bridges.all, losses);
    const matches = await matchesApiServer({
      what: "objects on the bus match the API server",
      untilEqual: () => Promise.all(kinds.map((kind) => bridged.untilAgreed(kind))),
      count: async () => `${figure((await bridged.environment.list(Note)).length)} notes`,
      events: () => eventsOf(losses, terms()),
    });
    const lists = bridges.all.flatMap((bridge) => bridge.logged("listed", Note)).length;
    const times = losses.map(({ seconds }) => seconds);
    return {
      injected: injectedBy(losses),
      checks: checksOf({ bridged, losses, terms: terms(), lease, matches }),
      figures: [
        { what: "takeover, median", found: `${figure(quantile(times, 0.5))} s` },
        { what: "lists of notes, all bridges", found: figure(lists) },
        { what: "changes of notes on the bus", found: figure(bridged.history.of(Note).length) },
      ],
    };
  },
};

/** Loses the leader repeatedly while notes change. */
async function loseLeaders(
  { next, say, defer, seed, scaled }: Trial,
  bridged: OwnBridged,
  bridges: SharedBridges,
): Promise<Loss[]> {
  const notes = Array.from({ length: hotNotes }, (_, at) => `note-${at}`);
  const churn = startChurn(bridged, notes, seed);
  let isRunning = true;
  defer(() => (isRunning ? churn.stop() : undefined));
  const losses: Loss[] = [];
  const rounds = scaled(15, 1);
  for (const [at, fault] of [...Array(rounds)].flatMap(() => ["killed", "paused"] as const).entries()) {
    // The first half with two bridges, the rest with three; at the smallest size one kill and one pause.
    if (at === rounds) await bridges.start("bridge-c");
    // At a random moment of its work.
    await churn.more(20 + Math.floor(next() * 50));
    const loss = await bridges.loseLeader(fault);
    losses.push(loss);
    say(`${fault} ${loss.victim}, takeover after ${loss.seconds.toFixed(2)} s`);
  }
  isRunning = false;
  await churn.stop();
  return losses;
}

const injectedBy = (losses: readonly Loss[]): string[] =>
  (["killed", "paused"] as const).flatMap((fault) =>
    [2, 3].map((count) => {
      const times = losses.filter((loss) => loss.fault === fault && loss.bridges === count).length;
      const how = fault === "killed" ? "kill -9" : `SIGSTOP for ${pauseMillis / 1000} s`;
      return `${how} of the leader of ${count} bridges: ${times}`;
    }),
  );

/** The losses and terms as lines, oldest first. */
const eventsOf = (losses: readonly Loss[], terms: readonly Term[]): string[] =>
  [
    ...losses.map(
      ({ time, victim, fault, seconds, bridges }) =>
        `${time} ${victim} ${fault}, ${seconds.toFixed(2)} s, of ${bridges}`,
    ),
    ...terms.map(({ replica, from, to }) => `${from} ${replica} leads until ${to}`),
  ].sort();

/** The results of a run. */
interface Results {
  readonly bridged: OwnBridged;
  readonly losses: readonly Loss[];
  /** From the logs of the bridges. */
  readonly terms: readonly Term[];
  readonly lease: LeaseRecords;
  readonly matches: Check;
}

function checksOf({ bridged, losses, terms, lease, matches }: Results): Check[] {
  const events = eventsOf(losses, terms);
  const longest = Math.max(...losses.map(({ seconds }) => seconds));
  const overlaps = terms.filter((term, at) => (terms[at - 1]?.to ?? "") > term.from);
  const leases = lease.terms();
  return [
    publishedInOrder(bridged.history, events),
    bounded("takeover, longest", longest, "<=", limitSeconds, "s", { history: events }),
    matches,
    noneOf(
      "times with two leaders at once (a paused one counts until its pause)",
      overlaps.length,
      terms.length,
      { least: losses.length + 1, history: events },
    ),
    {
      what: "times that a bridge led without the lease",
      limit: "0",
      found: `${Math.abs(terms.length - leases)} of ${leases}`,
      holds: terms.length === leases,
      ...(terms.length !== leases && { history: [...lease.lines(), ...events] }),
    },
  ];
}
