/** Paths of the form's fields in an Installation. */
import type { Path } from "../ui/form/draft.ts";

export const paths = {
  name: ["metadata", "name"],
  namespace: ["metadata", "namespace"],
  appKind: ["spec", "appRef", "kind"],
  appName: ["spec", "appRef", "name"],
  installationID: ["spec", "installationID"],
  repositories: ["spec", "repositories"],
  permissions: ["spec", "permissions"],
  format: ["spec", "format"],
  key: ["spec", "key"],
  registry: ["spec", "registry"],
  gitHost: ["spec", "template", "metadata", "annotations", "kpack.io/git"],
} as const satisfies Record<string, Path>;
