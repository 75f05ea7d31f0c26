/** Manifests as YAML that parsers of YAML 1.1 and 1.2 read alike. */
import { stringify } from "yaml";

/** kubectl reads YAML 1.1, in which a bare `on` or `1:20` is not a string. Aliases would hinder kustomize patches and readers. */
const options = { compat: "yaml-1.1", aliasDuplicateObjects: false, lineWidth: 0 } as const;

/** One document per manifest. */
export const yamlText = (manifests: readonly object[]): string =>
  manifests.map((manifest) => stringify(manifest, options)).join("---\n");
