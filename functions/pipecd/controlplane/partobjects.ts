/** A component of the control plane: a Deployment and a Service. Pure. */
import { Service } from "denrei";
import { Deployment } from "denrei/kinds";
import type { ControlPlane } from "../kinds.ts";
import type { Child } from "../kubernetes/children.ts";
import { type Mount, volumeMountsOf, volumesOf } from "../kubernetes/volumes.ts";
import { annotations, labels } from "../names.ts";
import { type Component, replicasOf } from "./components.ts";

/** A port of a container, and of the Service in front of it. */
export interface Port {
  /** In the container. */
  readonly name: string;
  readonly port: number;
  /** In the Service. If undefined, the Service does not have the port. */
  readonly service?: string;
}

/** The parts of a component that differ between components. */
export interface Part {
  readonly component: Component;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly ports: readonly Port[];
  readonly probe?: { readonly path: string; readonly port: string; readonly initialDelaySeconds?: number };
  /** Name of the port for a TCP readiness probe, for components without an HTTP probe. */
  readonly readyPort?: string;
  readonly mounts?: readonly Mount[];
  /** A new digest rolls the pods. */
  readonly digest: string;
  /** Whether the Service resolves to all pods, so that clients can balance between them. */
  readonly headless?: boolean;
  /** Seconds that a terminating pod keeps serving, until clients no longer connect to it. */
  readonly lingerSeconds?: number;
}

/** Kubernetes removes a pod when its replacement is ready, so a crashing replacement does no harm. */
const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } as const;

/** Name of a component's Deployment and Service: `<control plane>-<component>`. */
export const partName = (plane: string, component: Component): string => `${plane}-${component}`;

/** Labels of its pods. The control plane's label separates two control planes in one namespace. */
export const podLabels = (plane: string, component: Component) => ({
  "app.kubernetes.io/name": "pipecd",
  "app.kubernetes.io/instance": "pipecd",
  "app.kubernetes.io/component": component,
  [labels.controlPlane]: plane,
});

/** The Deployment of a component. */
export function deploymentOf(plane: Pick<ControlPlane, "metadata" | "spec">, part: Part): Child {
  const { component, image, command, args, ports, probe, readyPort, mounts = [], digest } = part;
  const selector = podLabels(plane.metadata.name, component);
  const httpGet = probe && { path: probe.path, port: probe.port };
  const delay = probe?.initialDelaySeconds;
  const check = httpGet && { httpGet, ...(delay !== undefined && { initialDelaySeconds: delay }) };
  return {
    kind: Deployment,
    name: partName(plane.metadata.name, component),
    labels: selector,
    content: {
      spec: {
        replicas: replicasOf(plane, component),
        selector: { matchLabels: selector },
        strategy,
        template: {
          metadata: { labels: selector, annotations: { [annotations.contentDigest]: digest } },
          spec: {
            containers: [
              {
                name: component,
                image,
                imagePullPolicy: "IfNotPresent",
                ...(command && { command }),
                ...(args && { args }),
                ports: ports.map(({ name, port }) => ({ name, containerPort: port, protocol: "TCP" })),
                ...(check && { livenessProbe: check, readinessProbe: check }),
                ...(readyPort && { readinessProbe: { tcpSocket: { port: readyPort } } }),
                ...(part.lingerSeconds && {
                  lifecycle: { preStop: { exec: { command: ["sleep", String(part.lingerSeconds)] } } },
                }),
                ...volumeMountsOf(mounts),
              },
            ],
            ...volumesOf(mounts),
            ...(part.lingerSeconds && { terminationGracePeriodSeconds: part.lingerSeconds + 30 }),
          },
        },
      },
    },
  };
}

/** The Service of a component. */
export function serviceOf(
  plane: Pick<ControlPlane, "metadata">,
  { component, ports, headless }: Part,
): Child {
  const selector = podLabels(plane.metadata.name, component);
  return {
    kind: Service,
    name: partName(plane.metadata.name, component),
    labels: selector,
    content: {
      spec: {
        type: "ClusterIP",
        ...(headless && { clusterIP: "None" }),
        selector,
        ports: ports.flatMap(({ name, port, service }) =>
          service === undefined ? [] : [{ name: service, port, targetPort: name, protocol: "TCP" }],
        ),
      },
    },
  };
}
