/** The first line that a NATS server says, before anybody has to prove anything. */
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { z } from "zod";

const schema = z.looseObject({
  /** It wants to see certificates. */
  tls_verify: z.boolean().optional(),
});

/** A server's INFO: https://docs.nats.io/reference/reference-protocols/nats-protocol#info */
export type Greeting = z.infer<typeof schema>;

const patienceMillis = 2000;

/** The greeting of the first server of an address; undefined when there is none within two seconds. */
export async function greeting(url: string): Promise<Greeting | undefined> {
  const [first = ""] = url.split(",");
  const { hostname, port } = new URL(first.includes("://") ? first : `nats://${first}`);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 4222) });
  socket.on("error", () => undefined);
  try {
    const lines = createInterface({ input: socket });
    lines.on("error", () => undefined);
    const [line] = await once(lines, "line", { signal: AbortSignal.timeout(patienceMillis) });
    return schema.parse(JSON.parse(String(line).replace(/^INFO /, "")));
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}
