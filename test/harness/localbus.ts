/** A bus for one test file: a real server and a connection to it, discarded at the end. */
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { type LocalNats, type LocalNatsOptions, startLocalNats } from "../../deploy/local/index.ts";
import { programs } from "./programs.ts";

await programs("nats-server");

/** A NATS server, and a connection as its administrator. */
export interface LocalBus extends LocalNats {
  readonly bus: Bus;
}

/** Starts a server and connects to it. */
export async function startLocalBus(options: LocalNatsOptions = {}): Promise<LocalBus> {
  const local = await startLocalNats(options);
  try {
    const bus = await connectBus({ url: local.natsUrl, name: "test" });
    return {
      ...local,
      bus,
      async stop() {
        await bus.nc.close();
        await local.stop();
      },
    };
  } catch (error) {
    await local.stop();
    throw error;
  }
}
