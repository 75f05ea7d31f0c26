/** Changes that users make to an Application. */
import type { Application } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { objectKeyOf, patch } from "../api/objects.ts";
import { applications, deployments } from "../api/resource.ts";

type App = Stored<Application>;

/** Sets the number of pods. */
export const scale = (app: App, replicas: number): Promise<unknown> =>
  patch(applications, { ...objectKeyOf(app), subresource: "scale" }, { spec: { replicas } });

/** Replaces its pods one at a time, as `kubectl rollout restart` does. */
export async function restart(app: App): Promise<void> {
  const annotations = { "kubectl.kubernetes.io/restartedAt": new Date().toISOString() };
  const change = { spec: { template: { metadata: { annotations } } } };
  await Promise.all(
    deploymentsOf(app).map((name) => patch(deployments, { ...objectKeyOf(app), name }, change)),
  );
}

/** The names of its Deployments. */
export const deploymentsOf = ({ status }: App): readonly string[] =>
  (status?.resources ?? []).flatMap(({ kind, name }) => (kind === "Deployment" ? [name] : []));

/** Pins an earlier image. Newer builds are not deployed. */
export const rollBack = (app: App, image: string): Promise<unknown> =>
  patch(applications, objectKeyOf(app), { spec: { pinnedImage: image } });

/** Lets the newest image run again. */
export const unpin = (app: App): Promise<unknown> =>
  patch(applications, objectKeyOf(app), { spec: { pinnedImage: null } });
