/** A bus with the users of two functions and a connection for each. */

import { externalKind } from "../../bus/kube/kind.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { busRoles, type Role } from "../../bus/permissions.ts";
import type { FunctionSubscription } from "../../bus/topology.ts";
import { type NatsStorage, startLocalNats } from "../../deploy/local/index.ts";
import { programs } from "../harness/programs.ts";

await programs("nats-server");

export const cluster = "test";
export const kind = externalKind({
  group: "test.denrei.dev",
  version: "v1",
  kind: "Thing",
  plural: "things",
});
export const mine = { fn: "mine", cluster };
export const theirs = { fn: "theirs", cluster };
/** Only this one receives webhooks, and has an index and a filtered watch. */
export const subscriptions: readonly FunctionSubscription[] = [
  {
    ...{ scope: mine, kinds: [kind], webhooks: [{ provider: "github", event: "push" }] },
    ...{ indexes: ["repository"], filters: ["watch"] },
  },
  { scope: theirs, kinds: [kind] },
];
export const options = { replicas: 1, ackWaitMillis: 5000 };
export const key = { namespace: "default", name: "thing" };

/** A subject of the bridge. */
export const objectOfBridge = `objects.${cluster}.test=2Edenrei=2Edev.Thing.default._.x`;

/** The connections. */
export interface Parties {
  /** A connection with all permissions. */
  readonly admin: Bus;
  /** The restricted roles and their connections. */
  readonly buses: ReadonlyMap<string, Bus>;
  /** Throws if the role does not exist. */
  of(role: string): Bus;
  /** The connection settings of a role. */
  urlOf(role: string): string;
  stop(): Promise<void>;
}

/** Starts the server and connects. */
export async function openParties(
  roles: readonly Role[] = busRoles(subscriptions, cluster),
  storage?: NatsStorage,
): Promise<Parties> {
  const local = await startLocalNats({ roles, storage });
  const connect = (name: string) => connectBus({ url: local.natsUrlFor(name), name: `test-${name}` });
  const admin = await connect("admin");
  const buses = new Map<string, Bus>();
  for (const { name } of roles) buses.set(name, await connect(name));
  return {
    admin,
    buses,
    of(role) {
      const bus = buses.get(role);
      if (bus === undefined) throw new Error(`expected a connection of ${role}`);
      return bus;
    },
    urlOf: local.natsUrlFor,
    async stop() {
      for (const { nc } of [...buses.values(), admin]) await nc.close();
      await local.stop();
    },
  };
}

/** Whether the server refuses a publish on a subject. The error arrives before the response to a later ping. */
export async function refusesPublish({ nc, inbox }: Bus, subject: string): Promise<boolean> {
  let refused = false;
  const forget = inbox.onDenied(subject, () => {
    refused = true;
  });
  // Responses go to an inbox without a subscriber.
  nc.publish(subject, "{}", { reply: inbox.create() });
  await nc.flush();
  // The error was read before the response to the ping, and listeners are called in the same turn.
  await new Promise(setImmediate);
  forget();
  return refused;
}
