/** Converts messages of v0.9.0 to the common records, and back. */
import {
  type Application,
  ApplicationKind,
  type Piped,
  Piped_ConnectionStatus,
} from "./generated/l0/model_pb.ts";
import {
  type ApplicationKindName,
  type ApplicationRecord,
  keyIDsOf,
  nameOf,
  type PipedRecord,
} from "./model.ts";

export const pipedRecord = (piped: Piped): PipedRecord => ({
  id: piped.id,
  name: piped.name,
  description: piped.desc,
  disabled: piped.disabled,
  environmentIDs: piped.envIds,
  repositories: piped.repositories.map(({ id }) => id),
  connection: nameOf(Piped_ConnectionStatus, piped.status) ?? "UNKNOWN",
  keyIDs: keyIDsOf(piped.keys),
});

export const applicationRecord = (application: Application): ApplicationRecord => ({
  id: application.id,
  name: application.name,
  pipedID: application.pipedId,
  kind: nameOf(ApplicationKind, application.kind),
  repository: application.gitPath?.repo?.id ?? "",
  path: application.gitPath?.path ?? "",
  configFilename: application.gitPath?.configFilename ?? "",
  provider: application.cloudProvider,
  disabled: application.disabled,
  deleted: false,
});

/** Throws a `RangeError` for a kind that this version does not have. Callers check that first. */
export function kindOfL0(kind: ApplicationKindName): ApplicationKind {
  if (kind !== "ECS") return ApplicationKind[kind];
  throw new RangeError("expected a kind of v0.9.0, found ECS, which v0.9.8 was the first version to support");
}
