/** How fast the machine is at the moment, by something that none of our code has a part in. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { quantile } from "../bench/statistics.ts";
import { compiledBefore } from "../harness/start/quick.ts";

/** What a worker stands on: Node loads them, and ends. */
const libraries = ["@nats-io/transport-node", "@nats-io/jetstream", "cloudevents", "pino", "zod"];
const script = libraries.map((name) => `import ${JSON.stringify(name)};`).join("");
const looks = 5;

/** What that takes on a machine for which the limits are meant. Milliseconds. */
const meantMillis = 150;

/**
 * How many times as slow as such a machine this one is; 1 where it is no slower. It decides what a limit on a time is worth
 * where the machine is not the proof's own: a slow one is given more, and a function that became slow is still found out.
 */
export async function slowness(signal: AbortSignal): Promise<number> {
  const millis: number[] = [];
  for (let look = 0; look < looks; look++) millis.push(await load(signal));
  return Math.max(1, quantile(millis, 0.5) / meantMillis);
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
