/** The objects that charts create for Applications, with the fields that tests read. */
import type { Kind } from "../../bus/kube/kind.ts";
import type { KubeObject } from "../../bus/kube/object.ts";
import * as workloads from "../../bus/kube/workloads.ts";
import * as kinds from "../../functions/paas/charts/kinds.ts";

interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}

export interface DeploymentObject
  extends KubeObject<
    {
      readonly replicas: number;
      readonly template: {
        readonly spec: {
          readonly containers: readonly Container[];
          readonly imagePullSecrets?: readonly { readonly name: string }[];
        };
      };
    },
    { readonly replicas?: number; readonly availableReplicas?: number; readonly updatedReplicas?: number }
  > {}

export const Deployment = workloads.Deployment as unknown as Kind<DeploymentObject>;
export const Service = workloads.Service as Kind<
  KubeObject<{ readonly ports: readonly { readonly port: number; readonly targetPort?: string | number }[] }>
>;
export const Ingress = kinds.Ingress as Kind<
  KubeObject<{ readonly ingressClassName?: string; readonly rules: readonly { readonly host: string }[] }>
>;
export const HTTPRoute = kinds.HTTPRoute as Kind<KubeObject<{ readonly hostnames: readonly string[] }>>;

/** The image of a Deployment's first container. */
export const imageOf = ({ spec }: DeploymentObject): string | undefined =>
  spec.template.spec.containers[0]?.image;
