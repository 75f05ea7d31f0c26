/** `denrei crds` and `denrei rbac` */
import { functions } from "../../functions/index.ts";
import { crdManifests } from "../generate/crds.ts";
import { roleManifests } from "../generate/rbac.ts";
import { yamlText } from "../generate/yaml.ts";
import { functionsNamed } from "./named.ts";

const print = (manifests: readonly object[], { json }: { json?: boolean }): void => {
  const text = json
    ? JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }, null, 2)
    : yamlText(manifests);
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
};

/** Prints the CRDs of every kind that the functions define. */
export const crds = (options: { json?: boolean }): void => print(crdManifests(functions), options);

/** Prints service accounts, roles and bindings. */
export function rbac(names: readonly string[], options: { json?: boolean; namespace: string }): void {
  const wanted = names.length === 0 ? ["all", "bridge"] : names;
  const workers = functionsNamed(
    wanted.filter((name) => name !== "bridge"),
    ", bridge or all",
  );
  print(
    roleManifests({
      functions: workers,
      bridge: wanted.includes("bridge") ? functions : [],
      namespace: options.namespace,
    }),
    options,
  );
}
