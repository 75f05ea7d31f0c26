/**
 * `GET /api/usage?namespace=<name>&labelSelector=<selector>`: CPU and memory of pods, from the metrics API, which a cluster has only
 * with metrics-server or an adapter. 404 if it has none.
 * https://kubernetes.io/docs/reference/external-api/metrics.v1beta1/
 */
import { Hono } from "hono";
import type { PodUsages } from "../../api/usage.ts";
import type { Env, Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { parseTarget } from "./allowlist.ts";
import { type Ask, asUser } from "./asuser.ts";
import { RejectedError } from "./responses.ts";

const api = "/apis/metrics.k8s.io/v1beta1";

interface PodMetricsList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly containers?: readonly { readonly usage?: Readonly<Record<string, string>> }[];
  }[];
}

/** `/api/usage` */
export function usageRoutes({ apiServer }: Pick<Parts, "apiServer">): Hono<Env> {
  const app = new Hono<Env>();
  app.get("/api/usage", async (c) => {
    const path = `${api}/namespaces/${c.req.query("namespace")}/pods`;
    if (parseTarget(path) === undefined)
      return c.json(errorBody("NotAllowed", "The query needs the name of a namespace."), 400);
    const query = new URLSearchParams({ labelSelector: c.req.query("labelSelector") ?? "" });
    const ask = asUser(c, apiServer);
    try {
      const { items } = await ask<PodMetricsList>(`${path}?${query}`);
      const pods = items.map(({ metadata, containers = [] }) => ({
        name: metadata.name,
        containers: containers.map(({ usage }) => ({ cpu: usage?.cpu ?? "", memory: usage?.memory ?? "" })),
      }));
      return c.json({ pods } satisfies PodUsages);
    } catch (error) {
      if (isStatus(error, 403) && (await hasNoApi(ask)))
        return c.json(errorBody("NotFound", "This cluster has no metrics API."), 404);
      throw error;
    }
  });
  return app;
}

const isStatus = (error: unknown, status: number): boolean =>
  error instanceof RejectedError && error.status === status;

/** The API server checks the user's rights first, so a user without the right gets a 403 for an API that does not exist. */
const hasNoApi = (ask: Ask): Promise<boolean> =>
  ask(api).then(
    () => false,
    (error: unknown) => isStatus(error, 404),
  );
