/** Versions of PipeCD that support the events that Denrei registers. */
import { BlockedError, type Stored } from "denrei";
import { retryMillis } from "../intervals.ts";
import type { ControlPlane, EventRegistration } from "../kinds.ts";
import { firstWithAPIKeys, hasReached } from "../profile.ts";

/** Throws a `BlockedError` if the control plane's version does not support the spec. */
export function checkVersion(
  { spec }: Pick<EventRegistration, "spec">,
  plane: Pick<Stored<ControlPlane>, "metadata" | "spec">,
): void {
  const { version } = plane.spec;
  if (!hasReached(version, firstWithAPIKeys))
    throw new BlockedError(
      "VersionNotSupported",
      `events need PipeCD ${firstWithAPIKeys} or later, and the ControlPlane ${plane.metadata.name} has ${version}`,
      retryMillis,
    );
  if (spec.contexts === undefined || hasReached(version, "v0.49.3")) return;
  throw new BlockedError(
    "ConfigInvalid",
    `spec.contexts needs PipeCD v0.49.3 or later, and the ControlPlane ${plane.metadata.name} has ${version}`,
    retryMillis,
  );
}
