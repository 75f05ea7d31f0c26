/** The desired registration and configuration of a piped. */
import { BlockedError, type Context, type Stored } from "denrei";
import { ConfigError, pipedConfig } from "../config.ts";
import { profileOfPlane } from "../controlplane/blueprint.ts";
import { retryMillis } from "../intervals.ts";
import { type ControlPlane, Environment, type Piped } from "../kinds.ts";
import { hasReached, isV1, type Profile, profileOf } from "../profile.ts";
import { referenced } from "../server/references.ts";
import type { Desired } from "./pipedregistration.ts";

/** The profile of a piped. Throws a `BlockedError` if its version does not match that of the control plane. */
export function profileOfPiped({ spec }: Piped, plane: Stored<ControlPlane>): Profile {
  const expected = profileOfPlane(plane);
  if (isV1(spec.version)) {
    const problem = v1Problem(spec.version, plane);
    if (problem !== undefined) throw new BlockedError(problem.reason, problem.message, retryMillis);
    return expected;
  }
  const found = profileOf(spec.version);
  if (found.problem !== undefined) throw new BlockedError("VersionNotSupported", found.problem, retryMillis);
  if (found.profile === expected) return expected;
  throw new BlockedError(
    "VersionMismatch",
    `PipeCD ${spec.version} does not work with ${plane.spec.version} of the ControlPlane ${plane.metadata.name}`,
    retryMillis,
  );
}

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

/** The desired registration. Throws a `WaitingError` while its environment is not ready. */
export async function desiredOf(
  { spec, status }: Stored<Piped>,
  profile: Profile,
  ctx: Context,
): Promise<Desired> {
  const { name, description, projectID, environmentRef } = spec;
  const desired = { name, description, projectID };
  if (environmentRef === undefined) {
    if (profile === "C") return desired;
    throw new BlockedError(
      "ConfigInvalid",
      "spec.environmentRef is required: up to v0.9.0 every piped belongs to an environment",
      retryMillis,
    );
  }
  const environment = await referenced(
    Environment,
    environmentRef,
    { projectID, isSettled: status?.pipedID !== undefined },
    ctx,
  );
  const { environmentID } = environment.status ?? {};
  return profile === "L0" && environmentID !== undefined ? { ...desired, environmentID } : desired;
}

/** PipeCD's configuration. Throws a `BlockedError` for fields that the version does not have. */
export function configOf({ spec }: Piped, profile: Profile, pipedID: string): string {
  try {
    return pipedConfig(spec, profile, { pipedID });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new BlockedError("ConfigInvalid", error.message, retryMillis, { cause: error });
  }
}
