/** The kinds of PipeCD: `pipecd.kanatakita.com/v1alpha1`. Objects of pipecd-operator apply unchanged. */
export { Application } from "./kinds/application.ts";
export { ControlPlane } from "./kinds/controlplane.ts";
export type {
  ControlPlaneConfig,
  Datastore,
  Filestore,
  SharedSSOConfig,
} from "./kinds/controlplaneconfig.ts";
export { Environment } from "./kinds/environment.ts";
export { EventRegistration } from "./kinds/eventregistration.ts";
export type { Duration } from "./kinds/fields.ts";
export { Piped } from "./kinds/piped.ts";
export type { PipedConfig } from "./kinds/pipedconfig.ts";
export { Minio, Mongo, Mysql } from "./kinds/stores.ts";
