/** Runs scenarios one after the other, because measured scenarios cannot share the machine. */
import { withCleanup } from "../harness/cleanup.ts";
import { random } from "../harness/random.ts";
import type { Outcome, Scenario, Trial } from "./scenario.ts";

/** A scenario and its result. */
export interface Verdict {
  readonly scenario: Scenario;
  /** Undefined if the scenario failed with `error`. */
  readonly outcome: Outcome | undefined;
  /** Why the scenario failed without an outcome. */
  readonly error: Error | undefined;
  readonly holds: boolean;
  readonly seconds: number;
}

/** Options of a run. */
export interface ProofOptions {
  readonly seed: number;
  /** For all scenarios; undefined is full size. */
  readonly minutes: number | undefined;
  readonly peer: Trial["peer"];
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The minutes that the scenarios take at full size. */
export const fullMinutes = (scenarios: readonly Scenario[]): number =>
  scenarios.reduce((sum, scenario) => sum + scenario.fullMinutes, 0);

/** Runs the scenarios and prints each verdict. Throws only the reason of `signal`. */
export async function prove(scenarios: readonly Scenario[], options: ProofOptions): Promise<Verdict[]> {
  const share = options.minutes === undefined ? 1 : Math.min(1, options.minutes / fullMinutes(scenarios));
  const verdicts: Verdict[] = [];
  for (const scenario of scenarios) {
    options.say(`${scenario.number}. ${scenario.title}`);
    const verdict = await judge(scenario, share, options);
    options.signal.throwIfAborted();
    for (const line of describe(verdict)) options.say(line);
    verdicts.push(verdict);
  }
  return verdicts;
}

async function judge(
  scenario: Scenario,
  share: number,
  { seed, peer, say, signal }: ProofOptions,
): Promise<Verdict> {
  const begun = performance.now();
  const elapsed = () => (performance.now() - begun) / 1000;
  const found: { outcome?: Outcome } = {};
  let error: Error | undefined;
  try {
    await withCleanup(signal, async (defer) => {
      found.outcome = await scenario.run({
        seed,
        // Separate random numbers, so that a scenario does the same when run alone.
        next: random(seed * 1009 + scenario.number),
        scaled: (full, least) => Math.max(least, Math.round(full * share)),
        say: (text) => say(`   ${elapsed().toFixed(0).padStart(4)} s  ${text}`),
        signal,
        peer,
        defer,
      });
    });
  } catch (thrown) {
    error = thrown instanceof Error ? thrown : new Error(String(thrown));
  }
  const { outcome } = found;
  const holds = error === undefined && outcome !== undefined && outcome.checks.every((check) => check.holds);
  return { scenario, outcome, error, holds, seconds: elapsed() };
}

const peerText = (peer: string | undefined): string => (peer === undefined ? "" : `; Go: ${peer}`);

/** Lines that describe a verdict, with the history of each broken check. */
export function describe({ scenario, outcome, error, holds, seconds }: Verdict): string[] {
  const broken = outcome?.checks.filter((check) => !check.holds) ?? [];
  return [
    ...(outcome?.checks.map(
      ({ what, limit, found, holds, peer }) =>
        `   ${holds ? "holds " : "BROKEN"}  ${what}: ${found} (${limit})${peerText(peer)}`,
    ) ?? []),
    ...(outcome?.figures?.map(({ what, found, peer }) => `           ${what}: ${found}${peerText(peer)}`) ??
      []),
    ...broken.flatMap(({ what, history = [] }) => [
      ...(history.length > 0 ? [`   What happened (${what}):`] : []),
      ...history.map((line) => `     ${line}`),
    ]),
    ...(error ? [`   ${error.stack ?? error.message}`] : []),
    `   ${scenario.name} ${holds ? "holds" : "is BROKEN"}, after ${seconds.toFixed(0)} s`,
  ];
}
