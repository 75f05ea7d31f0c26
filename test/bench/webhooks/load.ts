/** The benchmark's side of the load generator. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Made, Order } from "./order.ts";

/** A process that sends deliveries. */
export interface Load {
  readonly pid: number;
  /** Sends deliveries, one order at a time. Throws unless each of them was accepted. */
  make(order: Order): Promise<Made>;
  stop(): void;
}

const program = fileURLToPath(new URL("./generator.ts", import.meta.url));

/** Starts the generator; it ends with this process. */
export async function openLoad(signal: AbortSignal): Promise<Load> {
  const generator = fork(program, { env: { ...process.env, NODE_NO_WARNINGS: "1" } });
  await once(generator, "spawn", { signal });
  const ended = once(generator, "exit").then(([code]) => {
    throw new Error(`the load generator exited with code ${code}`);
  });
  ended.catch(() => undefined);
  return {
    pid: generator.pid ?? 0,
    async make(order) {
      if (!generator.connected) await ended;
      const answer = once(generator, "message", { signal });
      generator.send(order);
      const [made] = (await Promise.race([answer, ended])) as [Made];
      const refused = Object.entries(made.statuses).filter(([status]) => !status.startsWith("2"));
      if (refused.length === 0) return made;
      const what = refused.map(([status, count]) => `${count} × ${status}`).join(", ");
      throw new Error(`expected all deliveries to ${order.url} to be accepted, but ${what}`);
    },
    stop() {
      if (generator.connected) generator.disconnect();
    },
  };
}
