/** EventRegistration: an event at PipeCD for each new value, and what an agent makes of it. */
import type { Stored } from "../../bus/kube/object.ts";
import { BlockedError } from "../../bus/worker/errors.ts";
import { type Context, defineFunction, type Result } from "../../bus/worker/function.ts";
import { RemoteSync } from "../paas/kinds/remotesync.ts";
import { profileOfPlane } from "./controlplane/blueprint.ts";
import { keepRegistered } from "./events/registration.ts";
import { ControlPlane, EventRegistration } from "./kinds.ts";
import { namedSecret, namespaceIndex, neighbour, ownNamespace, within } from "./kubernetes/watches.ts";
import { objectNames } from "./names.ts";
import { driftMillis, patience } from "./pace.ts";
import { isAtLeast, versionOf } from "./profile.ts";
import { outbound } from "./server/address.ts";
import { orWait, planeFor } from "./server/dependent.ts";

/** There may be many, and each asks PipeCD when it has been away: not all at once. */
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
    neighbour(ControlPlane, perSecond),
    namedSecret,
    ownNamespace,
    {
      kind: RemoteSync,
      keys: (sync, find) => find("remoteSync", within(sync, sync.metadata.name)),
    },
  ],
  sweepMillis: driftMillis,
  reconcile: (registration, ctx) =>
    orWait(EventRegistration, registration, ctx, () => keep(registration, ctx)),
});

async function keep(registration: Stored<EventRegistration>, ctx: Context): Promise<Result | undefined> {
  const plane = await planeFor(registration, ctx);
  checkVersion(registration, plane);
  return keepRegistered(registration, plane, ctx);
}

/** Throws a `BlockedError` when the version of the control plane cannot have what is wanted. */
function checkVersion({ spec }: EventRegistration, plane: Stored<ControlPlane>): void {
  const { version } = plane.spec;
  if (profileOfPlane(plane) === "L0")
    throw new BlockedError(
      "VersionNotSupported",
      `events need PipeCD v0.49.0 or later, and the ControlPlane ${plane.metadata.name} has ${version}`,
      patience,
    );
  const found = versionOf(version);
  if (spec.contexts === undefined || (found && isAtLeast(found, 0, 49, 3))) return;
  throw new BlockedError(
    "ConfigInvalid",
    `spec.contexts needs PipeCD v0.49.3 or later, and the ControlPlane ${plane.metadata.name} has ${version}`,
    patience,
  );
}
