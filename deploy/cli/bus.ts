/** A connection for one command. */
import { JetStreamApiError, JetStreamError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import type { busSettings, Settings } from "../../bus/config/config.ts";
import { type Bus, BusUnreachableError, busAddress, connectBus } from "../../bus/nats/connect.ts";
import { DisconnectedError } from "../../bus/nats/inbox.ts";
import { withUser } from "../../bus/nats/permissionerror.ts";

/** Settings of the commands that ask the bus. */
export type AddressSettings = Settings<(typeof busSettings)[number]>;
/** Settings of those that ask about a cluster. */
export type BusSettings = AddressSettings & Settings<"cluster">;

const refusals = [
  DisconnectedError,
  JetStreamApiError,
  JetStreamError,
  errors.ConnectionError,
  errors.ClosedConnectionError,
  errors.RequestError,
  errors.TimeoutError,
];

/**
 * Runs `use` with a connection and closes it. Throws `BusUnreachableError` when the bus answers no or not at all, and
 * `BusPermissionError` when this user may not ask.
 */
export async function withBus<T>(settings: AddressSettings, use: (bus: Bus) => Promise<T>): Promise<T> {
  const bus = await connectBus(busAddress(settings, "denrei-cli"));
  try {
    return await use(bus);
  } catch (caught) {
    const error = withUser(bus.identity.user, caught);
    if (!refusals.some((type) => error instanceof type)) throw error;
    throw new BusUnreachableError(
      `expected an answer of the bus at ${settings.natsUrl}, but ${(error as Error).message}. ` +
        "Look at the server's log, and whether JetStream has a leader.",
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
