/** The thread of a keeper ({@link "./keeper.ts"}). */
import { parentPort, workerData } from "node:worker_threads";
import { connectBus } from "../nats/connect.ts";
import type { KeeperCommand, KeeperData, KeeperEvent } from "./keeper.ts";

const { address, everyMillis, epochMillis, events } = workerData as KeeperData;
/** How long the server may take to confirm, in milliseconds. */
const confirmMillis = 2000;

const { nc, inbox } = await connectBus(address);
const kept = new Set<string>();

const tell = (text: KeeperEvent): void => events.postMessage(text);

async function extend(reply: string): Promise<void> {
  const sent = Number(process.hrtime.bigint()) / 1e6 - epochMillis;
  try {
    await inbox.request(reply, "+WPI", { timeoutMillis: confirmMillis });
    tell({ reply, sent });
  } catch {
    // Tried again in its turn; the ticket's age decides.
  }
}

parentPort?.on("message", (order: KeeperCommand) => {
  if ("keep" in order) kept.add(order.keep);
  else kept.delete(order.drop);
});
setInterval(() => {
  for (const reply of kept) void extend(reply);
}, everyMillis);
void (async () => {
  for await (const { type } of nc.status()) if (type === "disconnect") tell("disconnected");
})();
parentPort?.postMessage("connected");
