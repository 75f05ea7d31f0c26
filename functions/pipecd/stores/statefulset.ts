/** The child objects of a store. Pure. */
import { Service, StatefulSet } from "denrei";
import type { Child } from "../kubernetes/children.ts";
import { annotations } from "../names.ts";
import type { StoreKind } from "./usedstores.ts";

/** The volume of a store's data. */
export interface StorageSpec {
  readonly emptyDir?: object | undefined;
  readonly volumeClaimTemplate?: { readonly spec?: object | undefined } | undefined;
}

/** The container of a store's pod. */
export interface Program {
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly object[];
  readonly port: number;
  /** Mount path of the data volume. */
  readonly dataPath: string;
  readonly readinessProbe: object;
}

/** The input of the child objects. */
export interface StoreOptions {
  readonly name: string;
  readonly component: StoreKind;
  readonly program: Program;
  readonly storage: StorageSpec | undefined;
  /** A new digest rolls the pod. */
  readonly digest: string;
}

const volumeName = "volume";

const labelsOf = ({ name, component }: Pick<StoreOptions, "name" | "component">) => ({
  "app.kubernetes.io/name": "pipecd",
  "app.kubernetes.io/instance": "pipecd",
  "app.kubernetes.io/component": component,
  name,
});

/** The Service of a store: `<name>-<kind>`. */
export const serviceOf = (options: StoreOptions): Child => ({
  kind: Service,
  name: `${options.name}-${options.component}`,
  labels: labelsOf(options),
  content: {
    spec: {
      type: "ClusterIP",
      selector: labelsOf(options),
      ports: [
        { name: "service", port: options.program.port, targetPort: options.component, protocol: "TCP" },
      ],
    },
  },
});

/** The StatefulSet of a store, with one pod. */
export function statefulSetOf(options: StoreOptions): Child {
  const { name, component, program, storage = {}, digest } = options;
  const { image, args, env, port, dataPath, readinessProbe } = program;
  const claim = storage.emptyDir === undefined ? storage.volumeClaimTemplate : undefined;
  return {
    kind: StatefulSet,
    name: `${name}-${component}`,
    labels: labelsOf(options),
    content: {
      spec: {
        replicas: 1,
        serviceName: `${name}-${component}`,
        selector: { matchLabels: labelsOf(options) },
        template: {
          metadata: { labels: labelsOf(options), annotations: { [annotations.contentDigest]: digest } },
          spec: {
            containers: [
              {
                name: component,
                image,
                imagePullPolicy: "IfNotPresent",
                ...(args && { args }),
                ...(env && { env }),
                ports: [{ name: component, containerPort: port, protocol: "TCP" }],
                readinessProbe,
                volumeMounts: [{ name: volumeName, mountPath: dataPath }],
              },
            ],
            ...(claim === undefined && {
              volumes: [{ name: volumeName, emptyDir: storage.emptyDir ?? {} }],
            }),
          },
        },
        ...(claim && {
          volumeClaimTemplates: [{ metadata: { name: volumeName }, spec: claim.spec ?? {} }],
        }),
      },
    },
  };
}
