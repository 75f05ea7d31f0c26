/** The PipeCD kinds in the Kubernetes API. */
import type {
  Application,
  ControlPlane,
  Environment,
  EventRegistration,
  Minio,
  Mongo,
  Mysql,
  Piped,
} from "@denrei/functions/pipecd/kinds";
import { group, version } from "@denrei/functions/pipecd/names";
import { resource } from "../api/resource.ts";

export const controlPlanes = resource<ControlPlane>(group, version, "ControlPlane", "controlplanes");
export const pipeds = resource<Piped>(group, version, "Piped", "pipeds");
export const environments = resource<Environment>(group, version, "Environment", "environments");
export const eventRegistrations = resource<EventRegistration>(
  group,
  version,
  "EventRegistration",
  "eventregistrations",
);
export const applications = resource<Application>(group, version, "Application", "applications");
export const minios = resource<Minio>(group, version, "Minio", "minios");
export const mongoes = resource<Mongo>(group, version, "Mongo", "mongoes");
export const mysqls = resource<Mysql>(group, version, "Mysql", "mysqls");
