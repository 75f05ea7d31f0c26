/** Converts messages of v0.57 to the common records, and back. */
import {
  type Application,
  ApplicationKind,
  type Piped,
  Piped_ConnectionStatus,
} from "./generated/c/model_pb.ts";
import {
  type ApplicationKindName,
  type ApplicationPlace,
  type ApplicationRecord,
  type DeployTargets,
  keyIDsOf,
  nameOf,
  type PipedRecord,
} from "./model.ts";

export const pipedRecord = (piped: Piped): PipedRecord => ({
  id: piped.id,
  name: piped.name,
  description: piped.desc,
  disabled: piped.disabled,
  environmentIDs: [],
  repositories: piped.repositories.map(({ id }) => id),
  connection: nameOf(Piped_ConnectionStatus, piped.status) ?? "UNKNOWN",
  keyIDs: keyIDsOf(piped.keys),
});

const deployTargetsIn = ({ deployTargetsByPlugin }: Application): DeployTargets =>
  Object.fromEntries(
    Object.entries(deployTargetsByPlugin).map(([plugin, { deployTargets }]) => [plugin, [...deployTargets]]),
  );

/** Deploy targets as a request message. */
export const deployTargetsByPlugin = (targets: DeployTargets = {}) =>
  Object.fromEntries(
    Object.entries(targets).map(([plugin, deployTargets]) => [plugin, { deployTargets: [...deployTargets] }]),
  );

export const applicationRecord = (application: Application): ApplicationRecord => ({
  id: application.id,
  name: application.name,
  pipedID: application.pipedId,
  kind: nameOf(ApplicationKind, application.kind),
  repository: application.gitPath?.repo?.id ?? "",
  path: application.gitPath?.path ?? "",
  configFilename: application.gitPath?.configFilename ?? "",
  provider: application.platformProvider,
  deployTargets: deployTargetsIn(application),
  disabled: application.disabled,
  deleted: application.deleted,
});

/** Without remote and branch, which the piped's configuration determines. */
export const gitPath = ({ repository, path, configFilename }: ApplicationPlace) => ({
  repo: { id: repository },
  path,
  configFilename,
});

/** Throws a `RangeError` for a kind that this version does not have. Callers check that first. */
export function kindOfC(kind: ApplicationKindName): ApplicationKind {
  if (kind !== "CROSSPLANE") return ApplicationKind[kind];
  throw new RangeError(
    "expected a kind of v0.37.1 or later, found CROSSPLANE, which v0.24 was the last version to support",
  );
}
