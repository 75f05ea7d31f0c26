/** EventRegistration: registers an event with PipeCD for each new value, and reports how an agent handled it. */
import { type Context, defineFunction, type Result, type Stored } from "denrei";
import { RemoteSync } from "../paas/kinds/remotesync.ts";
import { ensureEvent } from "./events/eventregistering.ts";
import { checkVersion } from "./events/eventsupport.ts";
import { syncMillis } from "./intervals.ts";
import { ControlPlane, EventRegistration } from "./kinds.ts";
import { namedSecret, namespaceIndex, neighbor, ownNamespace, within } from "./kubernetes/watches.ts";
import { objectNames } from "./names.ts";
import { planeFor, reconcileOrWait } from "./server/dependent.ts";
import { outbound } from "./server/serveraddress.ts";

/** Limits the calls after a control plane outage, when every EventRegistration of a namespace asks PipeCD again. */
const perSecond = 50;

export default defineFunction({
  name: "pipecd-eventregistration",
  for: EventRegistration,
  outbound,
  indexes: {
    ...namespaceIndex,
    secret: (registration) =>
      [objectNames.secret, registration.spec.apiKeySecretRef?.name ?? []]
        .flat()
        .map((name) => within(registration, name)),
    remoteSync: (registration) => {
      const { remoteSync } = registration.spec.source;
      return remoteSync === undefined ? [] : [within(registration, remoteSync.name)];
    },
  },
  watches: [
    neighbor(ControlPlane, perSecond),
    namedSecret,
    ownNamespace,
    {
      kind: RemoteSync,
      keys: (sync, find) => find("remoteSync", within(sync, sync.metadata.name)),
    },
  ],
  sweepMillis: syncMillis,
  reconcile: (registration, ctx) =>
    reconcileOrWait(EventRegistration, registration, ctx, () =>
      reconcileEventRegistration(registration, ctx),
    ),
});

async function reconcileEventRegistration(
  registration: Stored<EventRegistration>,
  ctx: Context,
): Promise<Result | undefined> {
  const plane = await planeFor(registration, ctx);
  checkVersion(registration, plane);
  return ensureEvent(registration, plane, ctx);
}
