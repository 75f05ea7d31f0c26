/** Status and conditions of a control plane. Pure. */
import { type ConditionUpdate, rolloutOf, type Stored } from "denrei";
import type { Deployment } from "denrei/kinds";
import { ignoredLogins } from "../config.ts";
import type { ControlPlane } from "../kinds.ts";
import type { Profile } from "../profile.ts";
import { type Component, components, replicasOf } from "./components.ts";

type Status = NonNullable<ControlPlane["status"]>;

/** The observed state. */
export interface Observed {
  readonly profile: Profile;
  readonly deployments: Readonly<Partial<Record<Component, Stored<Deployment>>>>;
  readonly stores: readonly ConditionUpdate[];
}

export interface StatusUpdate {
  readonly status: Partial<Status>;
  readonly conditions: readonly ConditionUpdate[];
}

/** Derives status and conditions from the observed state. */
export function statusOf(plane: Pick<ControlPlane, "spec" | "metadata">, observed: Observed): StatusUpdate {
  const { profile, deployments, stores } = observed;
  const available = (component: Component): number => deployments[component]?.status?.availableReplicas ?? 0;
  return {
    status: {
      profile,
      availableGatewayReplicas: available("gateway"),
      availableServerReplicas: available("server"),
      availableCacheReplicas: available("cache"),
      availableOpsReplicas: available("ops"),
      ...revisionOf(deployments.server),
    },
    conditions: [...stores, readyOf(plane, observed)],
  };
}

/** Set by the deployment controller; it counts the changes of the pod template. */
const revisionAnnotation = "deployment.kubernetes.io/revision";

/** The revision of the server's pods, once all of them are new. Until then the status keeps the previous one. */
function revisionOf(server: Stored<Deployment> | undefined): Pick<Status, "serverRevision"> {
  if (server === undefined || rolloutOf(server).state !== "done") return {};
  const { uid, annotations } = server.metadata;
  return { serverRevision: `${uid}/${annotations?.[revisionAnnotation] ?? "0"}` };
}

const ready = (status: "True" | "False", reason: string, message: string): ConditionUpdate => ({
  type: "Ready",
  status,
  reason,
  message,
});

function readyOf(
  plane: Pick<ControlPlane, "spec" | "metadata">,
  { deployments, stores }: Observed,
): ConditionUpdate {
  const failing = stores.find(({ status }) => status === "False");
  if (failing) return ready("False", failing.type.replace("Ready", "NotReady"), failing.message);
  const none = components.filter((component) => replicasOf(plane, component) === 0);
  if (none.length > 0) return ready("False", "ScaledToZero", `scaled to zero: ${none.join(", ")}`);
  for (const component of components) {
    const deployment = deployments[component];
    if (deployment === undefined)
      return ready("False", "Progressing", `the Deployment of the ${component} does not exist yet`);
    const { state, message } = rolloutOf(deployment);
    if (state === "failed") return ready("False", "ProgressDeadlineExceeded", message);
    if (state === "progressing") return ready("False", "Progressing", `${component}: ${message}`);
  }
  const ignored = ignoredLogins(plane.spec.config);
  const rest =
    ignored.length > 0
      ? `. PipeCD uses one provider per SSO configuration and ignores ${ignored.join(", ")}`
      : "";
  return ready("True", "Available", `gateway, server, cache, and ops are available${rest}`);
}
