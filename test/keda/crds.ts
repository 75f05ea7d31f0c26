/** The CRDs of KEDA, from its Go module. go.mod in this folder pins the version. https://keda.sh */
import { fileURLToPath } from "node:url";
import { crdsIn } from "../harness/gomodule.ts";

/** Every CRD: ScaledObject, TriggerAuthentication, and others. */
export const kedaCrds = (): Promise<Record<string, unknown>[]> =>
  crdsIn({
    folder: fileURLToPath(new URL(".", import.meta.url)),
    module: "github.com/kedacore/keda/v2",
    path: "config/crd/bases",
    project: "KEDA",
  });
