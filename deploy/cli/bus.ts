/** The bus connection of one command. */
import { JetStreamApiError, JetStreamError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import {
  type Bus,
  BusUnreachableError,
  busAddress,
  connectBus,
  DisconnectedError,
  withUser,
} from "denrei/bus";
import type { busSettings, Settings } from "denrei/runtime";

/** Settings of commands that use the bus. */
export type AddressSettings = Settings<(typeof busSettings)[number]>;
/** Settings of commands that read the data of one cluster. */
export type BusSettings = AddressSettings & Settings<"cluster">;

const busErrors = [
  DisconnectedError,
  JetStreamApiError,
  JetStreamError,
  errors.ConnectionError,
  errors.ClosedConnectionError,
  errors.RequestError,
  errors.TimeoutError,
];

/**
 * Calls `use` with a connection, then closes it. Throws a `BusUnreachableError` if the bus returns an error or does not answer, and a
 * `BusPermissionError` if the user lacks the permission.
 */
export async function withBus<T>(settings: AddressSettings, use: (bus: Bus) => Promise<T>): Promise<T> {
  const bus = await connectBus(busAddress(settings, "denrei-cli"));
  try {
    return await use(bus);
  } catch (caught) {
    const error = withUser(bus.identity.user, caught);
    if (!busErrors.some((type) => error instanceof type)) throw error;
    throw new BusUnreachableError(
      `the request to the bus at ${settings.natsUrl} failed: ${(error as Error).message}. ` +
        "Check the server's log, and that JetStream has a leader.",
      { cause: error },
    );
  } finally {
    await bus.nc.close();
  }
}

/** Whether the stream exists. The first worker or bridge creates it. */
export async function hasStream({ jsm }: Bus, name: string): Promise<boolean> {
  try {
    await jsm.streams.info(name);
    return true;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status === 404) return false;
    throw error;
  }
}
