/**
 * Names of ConfigMaps and Secrets, as suggestions for fields: `GET /api/names?of=secrets&namespace=team-a`, answered with
 * `{ "names": […] }`. The server requests only metadata, and the page gets only the names: annotations may contain the whole object
 * (`kubectl.kubernetes.io/last-applied-configuration`).
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-metadata
 */
import { Hono } from "hono";
import { z } from "zod";
import type { Env, Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { concurrencyLimiter } from "../limiter.ts";
import { limitConcurrency } from "../requestlimit.ts";
import { parseTarget } from "./allowlist.ts";
import { asUser } from "./asuser.ts";

const kinds: readonly string[] = ["configmaps", "secrets"];
const onlyMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/** Enough for suggestions. */
const mostNames = 500;
const maxAtOnce = 8;

const metadataList = z.object({
  kind: z.literal("PartialObjectMetadataList"),
  items: z.array(z.object({ metadata: z.object({ name: z.string() }) })),
});

/** `/api/names` */
export function nameRoutes({ apiServer }: Pick<Parts, "apiServer">): Hono<Env> {
  const app = new Hono<Env>();
  app.get("/api/names", limitConcurrency(concurrencyLimiter(maxAtOnce)), async (c) => {
    const { of = "", namespace = "" } = c.req.query();
    const path = `/api/v1/namespaces/${namespace}/${of}`;
    const target = kinds.includes(of) ? parseTarget(path) : undefined;
    if (target?.namespace === undefined || target.name !== undefined)
      return c.json(
        errorBody("NotAllowed", `The query needs a namespace, and one of ${kinds.join(", ")}.`),
        400,
      );
    const found = await asUser(c, apiServer)(`${path}?limit=${mostNames}`, { accept: onlyMetadata });
    return c.json({ names: metadataList.parse(found).items.map(({ metadata }) => metadata.name) });
  });
  return app;
}
