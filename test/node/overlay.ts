/** The deployed overlay, with the changes for a cluster without DNS. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { render } from "../../deploy/helm/kustomize.ts";
import { type Manifest, root } from "../deploy/manifests.ts";

/** The folder of the overlay. */
export const overlay = join(root, "deploy/kubernetes/overlays/kind");

/** Processes find the bus under this address through their hosts file, because there is no DNS. */
const busAddress = "10.96.0.50";

/** The objects to apply. */
export async function renderOverlay(): Promise<Manifest[]> {
  const folder = await mkdtemp(join(tmpdir(), "overlay-"));
  try {
    const hostAliases = JSON.stringify([{ ip: busAddress, hostnames: ["nats"] }]);
    await writeFile(
      join(folder, "kustomization.yaml"),
      JSON.stringify({
        apiVersion: "kustomize.config.k8s.io/v1beta1",
        kind: "Kustomization",
        resources: [relative(folder, overlay)],
        patches: [
          {
            target: { kind: "Deployment" },
            patch: `[{"op":"add","path":"/spec/template/spec/hostAliases","value":${hostAliases}}]`,
          },
          {
            target: { kind: "Service", name: "nats" },
            patch: `[{"op":"add","path":"/spec/clusterIP","value":"${busAddress}"}]`,
          },
        ],
      }),
    );
    return await render<Manifest>(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
