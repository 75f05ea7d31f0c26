/** A connection for one command. */
import { JetStreamApiError, JetStreamError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { type Bus, BusUnreachableError, connectBus } from "../../bus/connect.ts";
import type { Settings } from "../../bus/process/config.ts";

/** Settings of the commands that ask the bus. */
export type BusSettings = Settings<"natsUrl" | "natsCreds" | "natsCa" | "cluster">;

const refusals = [
  JetStreamApiError,
  JetStreamError,
  errors.ConnectionError,
  errors.ClosedConnectionError,
  errors.PermissionViolationError,
  errors.RequestError,
  errors.TimeoutError,
];

/** Runs `use` with a connection and closes it. Throws `BusUnreachableError` when the bus answers no or not at all. */
export async function withBus<T>(settings: BusSettings, use: (bus: Bus) => Promise<T>): Promise<T> {
  const bus = await connectBus({
    url: settings.natsUrl,
    name: "denrei-cli",
    credentials: settings.natsCreds,
    ca: settings.natsCa,
  });
  try {
    return await use(bus);
  } catch (error) {
    if (!refusals.some((type) => error instanceof type)) throw error;
    throw new BusUnreachableError(
      `expected an answer of the bus at ${settings.natsUrl}, but ${(error as Error).message}. ` +
        "Look at the server's log, and whether JetStream has a leader and this user may use its API.",
      { cause: error },
    );
  } finally {
    await bus.nc.close();
  }
}

/** Whether there is a stream of that name: there is none before the first worker or bridge. */
export async function hasStream({ jsm }: Bus, name: string): Promise<boolean> {
  try {
    await jsm.streams.info(name);
    return true;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status === 404) return false;
    throw error;
  }
}
