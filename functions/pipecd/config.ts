/** PipeCD's own configuration files, from what ControlPlanes and Pipeds say. */

export { agentConfig as pipedConfig } from "./config/agent.ts";
export { controlPlaneConfig } from "./config/controlplane.ts";
export { pipedKeyFile } from "./config/piped.ts";
export { ConfigError } from "./config/problems.ts";
export { ignoredLogins } from "./config/sso.ts";
