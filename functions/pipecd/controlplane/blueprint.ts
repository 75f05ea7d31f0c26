/** Validates a control plane and renders the blueprint of its components. */
import { BlockedError } from "denrei";
import { ConfigError, controlPlaneConfig } from "../config.ts";
import { defaultVersions } from "../defaultversions.ts";
import { envoyConfig } from "../gateway/envoy.ts";
import { retryMillis } from "../intervals.ts";
import type { ControlPlane } from "../kinds.ts";
import { envoyProblem, firstOfC, type Profile, profileOf } from "../profile.ts";
import { partName } from "./partobjects.ts";
import type { Blueprint } from "./parts.ts";

const blocked = (reason: string, message: string): BlockedError =>
  new BlockedError(reason, `${message}. Running pods are unchanged.`, retryMillis);

/** The profile of a control plane. Throws a `BlockedError` for a version without one. */
export function profileOfPlane({ spec }: Pick<ControlPlane, "spec">): Profile {
  const found = profileOf(spec.version);
  if (found.problem !== undefined) throw blocked("VersionNotSupported", found.problem);
  return found.profile;
}

/** Fields of a {@link Blueprint} that do not come from the object. */
type Inputs = Pick<Blueprint, "secrets" | "datastoreSince">;

/** Throws a `BlockedError` if the version does not support the spec. */
export function blueprintOf(plane: Pick<ControlPlane, "metadata" | "spec">, inputs: Inputs): Blueprint {
  const profile = profileOfPlane(plane);
  const { envoyVersion = defaultVersions.envoy[profile], tls, bootstrapAPIKeys } = plane.spec;
  const problem = envoyProblem(profile, envoyVersion);
  if (problem) throw blocked("EnvoyVersionNotSupported", problem);
  if (profile === "L0" && tls) throw blocked("ConfigInvalid", `spec.tls needs PipeCD ${firstOfC} or later`);
  if (profile === "L0" && bootstrapAPIKeys)
    throw blocked("ConfigInvalid", "spec.bootstrapAPIKeys needs PipeCD v0.44.0 or later");
  try {
    return {
      plane,
      profile,
      config: controlPlaneConfig(plane.spec, profile),
      envoy: envoyConfig(profile, {
        server: partName(plane.metadata.name, "server"),
        ...(tls && { tls: true }),
      }),
      ...inputs,
    };
  } catch (error) {
    if (error instanceof ConfigError) throw blocked("ConfigInvalid", error.message);
    throw error;
  }
}
