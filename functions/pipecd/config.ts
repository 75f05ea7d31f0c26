/** PipeCD's own configuration files, rendered from ControlPlanes and Pipeds. */

export { controlPlaneConfig } from "./config/controlplane.ts";
export { pipedConfig, pipedKeyFile } from "./config/piped.ts";
export { ConfigError } from "./config/problems.ts";
export { ignoredLogins } from "./config/sso.ts";
