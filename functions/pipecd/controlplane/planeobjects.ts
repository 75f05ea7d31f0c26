/** ConfigMaps of a control plane, and the Service of its gateway. Pure. */
import { ConfigMap, Service } from "denrei";
import type { ControlPlane } from "../kinds.ts";
import type { Child } from "../kubernetes/children.ts";
import { configKeys, labels, objectNames } from "../names.ts";
import { partName, podLabels } from "./partobjects.ts";
import type { Blueprint } from "./parts.ts";

/** ConfigMaps with the configurations of PipeCD and of the gateway. */
export function configMaps({ plane, config, envoy }: Blueprint): readonly Child[] {
  const { name } = plane.metadata;
  const of = { labels: { [labels.controlPlane]: name }, kind: ConfigMap };
  return [
    { ...of, name: objectNames.config, content: { data: { [configKeys.controlPlane]: config } } },
    { ...of, name: partName(name, "gateway"), content: { data: { [configKeys.envoy]: envoy } } },
  ];
}

/** The Service through which users and pipeds reach the control plane. */
export const gatewayService = ({ metadata: { name } }: Pick<ControlPlane, "metadata">): Child => ({
  kind: Service,
  name: objectNames.service,
  labels: { [labels.controlPlane]: name },
  content: {
    spec: {
      type: "NodePort",
      selector: podLabels(name, "gateway"),
      ports: [{ name: "service", port: 8080, targetPort: "ingress", protocol: "TCP" }],
    },
  },
});
