/** The fields of Kubernetes objects that these tests read. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The kustomize base. */
export const base = join(root, "deploy/kubernetes/base");

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: {
      readonly resourceFieldRef?: { readonly resource: string; readonly divisor: string };
    };
  }[];
  readonly resources?: {
    readonly limits?: { readonly memory?: string };
    readonly requests?: { readonly cpu?: string; readonly memory?: string };
  };
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly securityContext: Record<string, unknown>;
}

export interface PodTemplate {
  readonly metadata: {
    readonly labels: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  readonly spec: {
    readonly serviceAccountName?: string;
    readonly automountServiceAccountToken?: boolean;
    readonly terminationGracePeriodSeconds: number;
    readonly securityContext: Record<string, unknown>;
    readonly initContainers?: readonly Container[];
    readonly containers: readonly Container[];
    readonly volumes?: readonly {
      readonly name: string;
      readonly configMap?: { readonly name: string };
      readonly secret?: { readonly secretName: string; readonly optional?: boolean };
    }[];
  };
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Record<string, string>;
}

export interface Workload extends Manifest {
  readonly spec: {
    readonly replicas: number;
    readonly template: PodTemplate;
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

export interface Service extends Manifest {
  readonly spec: {
    readonly selector: Record<string, string>;
    readonly ports: readonly {
      readonly name: string;
      readonly port: number;
      readonly targetPort: string;
      readonly nodePort?: number;
    }[];
  };
}

export interface Role extends Manifest {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

export interface Binding extends Manifest {
  readonly roleRef: { readonly name: string };
  readonly subjects: readonly { readonly name: string; readonly namespace: string }[];
}

export const isWorkload = (object: Manifest): object is Workload =>
  ["Deployment", "StatefulSet"].includes(object.kind);

/** The single container of a workload's pods. */
export function containerOf({ metadata, spec }: Workload): Container {
  const [container, ...others] = spec.template.spec.containers;
  if (container === undefined || others.length > 0) {
    throw new Error(`expected ${metadata.name} to have one container, found ${others.length + 1}`);
  }
  return container;
}

/** The object of this kind and name. */
export function find<T extends Manifest = Manifest>(
  objects: readonly Manifest[],
  kind: string,
  name: string,
): T {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) {
    const names = objects.map((object) => `${object.kind} ${object.metadata.name}`).join(", ");
    throw new Error(`expected a ${kind} ${name} among ${names}`);
  }
  return found as T;
}
