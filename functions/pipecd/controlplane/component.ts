/** A part of the control plane: a Deployment and a Service. Pure. */
import { Deployment, Service } from "../../../bus/kube/workloads.ts";
import type { ControlPlane } from "../kinds.ts";
import type { Child } from "../kubernetes/keep.ts";
import { type Mount, volumeMountsOf, volumesOf } from "../kubernetes/volumes.ts";
import { annotations, labels } from "../names.ts";
import { type Component, replicasOf } from "./components.ts";

/** A port of a container, and of the Service in front of it. */
export interface Port {
  /** Of the container. */
  readonly name: string;
  readonly port: number;
  /** Of the Service; without one the Service does not have the port. */
  readonly service?: string;
}

/** What a part is made of. */
export interface Part {
  readonly component: Component;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly ports: readonly Port[];
  /** Path and port name of what tells that it is well. */
  readonly probe?: { readonly path: string; readonly port: string; readonly initialDelaySeconds?: number };
  /** The name of the port that a pod listens at when it is ready, for parts without a path to ask. */
  readonly readyPort?: string;
  readonly mounts?: readonly Mount[];
  /** Another one rolls the pods. */
  readonly digest: string;
  /** Names of the pods instead of one address, so that whoever connects can choose among them. */
  readonly headless?: boolean;
  /** Seconds that a pod goes on for after it was told to end, until nobody is sent to it any more. */
  readonly lingerSeconds?: number;
}

/** Kubernetes removes a pod when its successor is ready, so a successor that crashes replaces none. */
const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } as const;

/** `<control plane>-<component>`: its Deployment, and its Service. */
export const partName = (plane: string, component: Component): string => `${plane}-${component}`;

/** Labels of its pods. That of the control plane keeps two of them in a namespace apart. */
export const podLabels = (plane: string, component: Component) => ({
  "app.kubernetes.io/name": "pipecd",
  "app.kubernetes.io/instance": "pipecd",
  "app.kubernetes.io/component": component,
  [labels.controlPlane]: plane,
});

/** Its Deployment. */
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

/** Its Service. */
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
