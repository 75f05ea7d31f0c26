/** The current speed of the machine, measured without any of our code. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { quantile } from "../bench/statistics.ts";
import { compiledBefore } from "../harness/start/quick.ts";

/** The main dependencies of a worker. Node loads them and exits. */
const libraries = ["@nats-io/transport-node", "@nats-io/jetstream", "cloudevents", "pino", "zod"];
const script = libraries.map((name) => `import ${JSON.stringify(name)};`).join("");
const samples = 5;

/** How long that takes on the machine for which the limits are set. Milliseconds. */
const referenceMillis = 150;

/**
 * How many times slower this machine is than that one, at least 1. On a shared machine, limits on durations scale with it: a slow
 * machine gets more time, and a start that became slower is still detected.
 */
export async function slowness(signal: AbortSignal): Promise<number> {
  const millis: number[] = [];
  for (let sample = 0; sample < samples; sample++) millis.push(await load(signal));
  return Math.max(1, quantile(millis, 0.5) / referenceMillis);
}

async function load(signal: AbortSignal): Promise<number> {
  const begun = performance.now();
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
    env: { ...process.env, ...compiledBefore },
    stdio: ["ignore", "ignore", "inherit"],
    signal,
  });
  const [code] = await once(child, "exit", { signal });
  if (code !== 0) throw new Error(`expected Node to load ${libraries.join(", ")}, it ended with ${code}`);
  return performance.now() - begun;
}
