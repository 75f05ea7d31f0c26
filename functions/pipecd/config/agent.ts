/** The configuration file of an agent, of PipeCD v0 or v1. */
import type { Piped } from "../kinds.ts";
import { isV1, type Profile } from "../profile.ts";
import { pipedConfig } from "./piped.ts";
import { pipedV1Config } from "./pipedv1.ts";

/**
 * The text of `piped-config.yaml`, for the agent that PipeCD knows by `pipedID`. Throws a `ConfigError` for what the agent's version
 * cannot have.
 */
export const agentConfig = (
  spec: NonNullable<Piped["spec"]>,
  profile: Profile,
  known: { readonly pipedID: string },
): string => (isV1(spec.version) ? pipedV1Config(spec, known) : pipedConfig(spec, profile, known));
