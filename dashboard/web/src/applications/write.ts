/** What people do with an Application. */
import type { Stored } from "../../../../bus/kube/object.ts";
import type { Application } from "../../../../functions/paas/kinds.ts";
import { patch, placeOf } from "../api/objects.ts";
import { applications, deployments } from "../api/resource.ts";

type App = Stored<Application>;

/** Says how many pods there are to be. */
export const scale = (app: App, replicas: number): Promise<unknown> =>
  patch(applications, { ...placeOf(app), subresource: "scale" }, { spec: { replicas } });

/** Has its pods made anew, one after the other: as `kubectl rollout restart` does. */
export async function restart(app: App): Promise<void> {
  const annotations = { "kubectl.kubernetes.io/restartedAt": new Date().toISOString() };
  const change = { spec: { template: { metadata: { annotations } } } };
  await Promise.all(deploymentsOf(app).map((name) => patch(deployments, { ...placeOf(app), name }, change)));
}

/** Names of its Deployments. */
export const deploymentsOf = ({ status }: App): readonly string[] =>
  (status?.resources ?? []).flatMap(({ kind, name }) => (kind === "Deployment" ? [name] : []));

/** Runs an image of before, whatever is built meanwhile. */
export const rollBack = (app: App, image: string): Promise<unknown> =>
  patch(applications, placeOf(app), { spec: { pinnedImage: image } });

/** Runs the newest image again. */
export const unpin = (app: App): Promise<unknown> =>
  patch(applications, placeOf(app), { spec: { pinnedImage: null } });
