/** Supported agents of PipeCD v1, and the control planes that they need. */
import type { Stored } from "../../../bus/kube/object.ts";
import { profileOfPlane } from "../controlplane/blueprint.ts";
import type { ControlPlane } from "../kinds.ts";
import { hasReached } from "../profile.ts";

/** Releases that start with another sub-command. */
const tooOld = /^v1\.0\.0-rc[0-3]$/;

/** Why an agent of v1 cannot run at a control plane; undefined if it can. */
export function v1Problem(
  version: string,
  plane: Stored<ControlPlane>,
): { readonly reason: "VersionNotSupported" | "VersionMismatch"; readonly message: string } | undefined {
  if (tooOld.test(version)) {
    const message = `the agent PipeCD ${version} is not supported: expected v1.0.0-rc4 or later`;
    return { reason: "VersionNotSupported", message };
  }
  if (profileOfPlane(plane) === "C" && hasReached(plane.spec.version, "v0.52.0")) return undefined;
  const message = `the agent PipeCD ${version} needs a ControlPlane of v0.52.0 or later: ${plane.metadata.name} has ${plane.spec.version}`;
  return { reason: "VersionMismatch", message };
}
