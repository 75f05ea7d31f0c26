/** The thread of a keeper ({@link "./keeper.ts"}). */
import { parentPort, workerData } from "node:worker_threads";
import { connectBus } from "../nats/connect.ts";
import type { KeeperCommand, KeeperData, KeeperEvent } from "./keeper.ts";

const { address, everyMillis, epochMillis, events } = workerData as KeeperData;
/** Time limit for the server's confirmation, in milliseconds. */
const confirmMillis = 2000;

const { nc, inbox } = await connectBus(address);
const kept = new Set<string>();

const emit = (event: KeeperEvent): void => events.postMessage(event);

async function extend(reply: string): Promise<void> {
  const sent = Number(process.hrtime.bigint()) / 1e6 - epochMillis;
  try {
    await inbox.request(reply, "+WPI", { timeoutMillis: confirmMillis });
    emit({ reply, sent });
  } catch {
    // Retried at the next interval; the deadline of the ticket decides.
  }
}

parentPort?.on("message", (command: KeeperCommand) => {
  if ("keep" in command) kept.add(command.keep);
  else kept.delete(command.drop);
});
setInterval(() => {
  for (const reply of kept) void extend(reply);
}, everyMillis);
void (async () => {
  for await (const { type } of nc.status()) if (type === "disconnect") emit("disconnected");
})();
parentPort?.postMessage("connected");
