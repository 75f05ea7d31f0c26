/** What the tests deploy, changed for a cluster without DNS. */
import { join } from "node:path";
import { render } from "../../deploy/helm/kustomize.ts";
import { isWorkload, type Manifest, root } from "../deploy/manifests.ts";

/** The folder of the overlay for kind. */
export const overlay = join(root, "deploy/kubernetes/overlays/kind");

/** Processes find the bus under this address through their hosts file, because there is no DNS. */
const busAddress = "10.96.0.50";
const hostAliases = [{ ip: busAddress, hostnames: ["nats"] }];

/** The objects of the overlay for kind. */
export const renderOverlay = (): Promise<Manifest[]> => render<Manifest>(overlay);

/** Gives the bus a known address, and tells it to all pods. */
export const withoutDns = (objects: readonly Manifest[]): Manifest[] =>
  objects.map((object) => {
    if (object.kind === "Service" && object.metadata.name === "nats")
      return {
        ...object,
        spec: { ...(object as { spec?: object }).spec, clusterIP: busAddress },
      } as Manifest;
    if (object.kind !== "Deployment" || !isWorkload(object)) return object;
    const { template } = object.spec;
    const spec = { ...object.spec, template: { ...template, spec: { ...template.spec, hostAliases } } };
    return { ...object, spec } as Manifest;
  });
