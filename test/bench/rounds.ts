/** The rounds, in which the sides take turns. */

import { type Contender, eachSide, type Side } from "./contender.ts";
import type { BenchEnvironment } from "./environment.ts";
import { latencies, type Pace, rests } from "./latency.ts";
import type { Results, Sizes } from "./results.ts";
import { quantile } from "./statistics.ts";
import { figure } from "./table.ts";
import { type Throughput, throughput } from "./throughput.ts";

/** Which of the parts with rounds to run. */
export interface RoundParts {
  readonly throughput: boolean;
  readonly latency: boolean;
}

/** Runs the rounds and returns their series. */
export async function runRounds(
  environment: BenchEnvironment,
  contenders: readonly Contender[],
  sizes: Sizes,
  parts: RoundParts,
  say: (line: string) => void,
): Promise<Pick<Results, "throughput" | "latency">> {
  const throughputs = eachSide<Throughput[]>(() => []);
  const paces = Object.keys(rests) as Pace[];
  const bySide = () => eachSide<number[][]>(() => []);
  const singles: Record<Pace, Record<Side, number[][]>> = { "from rest": bySide(), "back to back": bySide() };
  for (let round = 1; round <= sizes.rounds; round++) {
    // Alternate the order: a later side meets a warmer API server and a larger etcd.
    const order = round % 2 === 1 ? contenders : [...contenders].reverse();
    for (const contender of order) {
      await environment.clearBus();
      const running = await contender.start(String(round));
      try {
        await running.settled();
        await latencies(environment, "first", 1);
        await running.settled();
        if (parts.throughput) {
          const found = await throughput(environment, running, sizes.hikawas);
          throughputs[contender.side].push(found);
          say(
            `round ${round}, ${contender.side}: ${sizes.hikawas} Hikawas in ${figure(found.wallSeconds)} s`,
          );
        }
        for (const pace of parts.latency ? paces : []) {
          const found = await latencies(environment, pace.replaceAll(" ", "-"), sizes.singles, pace);
          singles[pace][contender.side].push(found);
          const p50 = figure(quantile(found, 0.5));
          say(`round ${round}, ${contender.side}: first Zundoko ${pace} after ${p50} ms (p50)`);
        }
      } finally {
        await running.stop();
      }
      await environment.clearObjects();
    }
  }
  return {
    throughput: parts.throughput ? throughputs : undefined,
    latency: parts.latency ? singles : undefined,
  };
}
