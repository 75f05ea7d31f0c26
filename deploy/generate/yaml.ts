/** Manifests as YAML that every parser in Kubernetes' world reads alike. */
import { stringify } from "yaml";

/** kubectl reads YAML 1.1, to which a bare `on` or `1:20` is no string; aliases are for people, not for programs. */
const options = { compat: "yaml-1.1", aliasDuplicateObjects: false, lineWidth: 0 } as const;

/** One document per manifest. */
export const yamlText = (manifests: readonly object[]): string =>
  manifests.map((manifest) => stringify(manifest, options)).join("---\n");
