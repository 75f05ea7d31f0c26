/** `/api/bus/…`, as described in dashboard/api/bus.ts, restricted by RBAC. */
import { type Context, Hono } from "hono";
import type { Searched } from "../../../bus/activity/history.ts";
import { CursorError } from "../../../bus/activity/timeline.ts";
import { ApiError } from "../../../bus/kube/errors.ts";
import type { BusRights, DeadLetterList, LivePast, Replayed } from "../../api/bus.ts";
import type { Env, Parts } from "../env.ts";
import { eventStream } from "../kubernetes/eventstream.ts";
import { limited } from "../limited.ts";
import { places as placesFor } from "../places.ts";
import { refusal } from "../refusal.ts";
import { listLetters, NoLetterError, replayLetter, showLetter } from "./deadletters.ts";
import { figuresOf } from "./figures.ts";
import { historyOf } from "./history.ts";
import { windowSeconds } from "./live.ts";
import { namespaceIn } from "./names.ts";
import { accessReviews, demand, ForbiddenError, placesOf, type Right } from "./rights.ts";
import { workingIn } from "./working.ts";

type C = Context<Env>;

/** The query is invalid. */
class QuestionError extends Error {
  override readonly name = "QuestionError";
}

/** Per user. Each request may search everything that the bus retains. */
const mostRequests = 6;

/** The routes of the bus API. */
export function busRoutes(parts: Parts): Hono<Env> {
  const { apiServer, platform, log } = parts;
  const { bus, cluster, functions, live } = platform;
  const may = accessReviews(apiServer);
  const figures = figuresOf(bus, cluster, functions);
  const namespaceOf = (c: C): string | undefined => c.req.query("namespace") || undefined;
  const mayIn = (c: C, right: Right) => (namespace: string) => may(c.get("session"), right, namespace);
  const lettersFor = (c: C) => ({ bus, cluster, functions, mayReplay: mayIn(c, "replay") });
  const keyOf = (c: C) => ({
    namespace: namespaceIn(c.req.param("namespace") ?? ""),
    name: c.req.param("name") ?? "",
  });

  const app = new Hono<Env>();
  app.onError((error, c) => {
    if (error instanceof ForbiddenError) return c.json(refusal("Forbidden", error.message), 403);
    if (error instanceof NoLetterError) return c.json(refusal("NotFound", error.message), 404);
    if (error instanceof CursorError || error instanceof QuestionError)
      return c.json(refusal("BadRequest", error.message), 400);
    if (error instanceof ApiError && error.status === 401)
      return c.json(refusal("Unauthorized", "Your token has expired. Log in again."), 401);
    log.error({ err: error, method: c.req.method, path: c.req.path }, "request failed");
    return c.json(refusal("Unavailable", `The bus request failed: ${error.message}`), 502);
  });

  app.use("/api/bus/*", limited(placesFor(mostRequests)));

  app.get("/api/bus/rights", async (c) => {
    const session = c.get("session");
    const namespace = namespaceOf(c);
    const [figuresToo, activity, deadLetters, replay] = await Promise.all([
      may(session, "functions", undefined),
      may(session, "activity", namespace),
      may(session, "deadLetters", namespace),
      may(session, "replay", namespace),
    ]);
    return c.json({ functions: figuresToo, activity, deadLetters, replay } satisfies BusRights);
  });

  app.get("/api/bus/figures", async (c) => {
    await demand(may, c.get("session"), "functions", undefined);
    return c.json(await figures());
  });

  app.get("/api/bus/live", async (c) => {
    await demand(may, c.get("session"), "functions", undefined);
    return eventStream(c, parts, async ({ signal, tell }) => {
      const past: LivePast = { windowSeconds, samples: [...live.past()] };
      await tell({ event: "past", data: past });
      let told = past.samples.at(-1)?.at ?? 0;
      while (!signal.aborted) {
        await live.tick(signal);
        // A slow reader gets the samples that it missed and that are still kept.
        for (const sample of live.past().filter(({ at }) => at > told)) {
          await tell({ event: "sample", data: sample });
          told = sample.at;
        }
      }
      return "again";
    });
  });

  app.get("/api/bus/working", async (c) => {
    const places = await placesOf(may, c.get("session"), "activity", namespaceOf(c));
    return c.json(await workingIn(bus, cluster, places));
  });

  app.get("/api/bus/deadletters", async (c) => {
    const places = await placesOf(may, c.get("session"), "deadLetters", namespaceOf(c));
    const items = await listLetters(lettersFor(c), places, c.req.query("function") || undefined);
    return c.json({ items } satisfies DeadLetterList);
  });

  app.get("/api/bus/deadletters/:function/:namespace/:name", async (c) => {
    const key = keyOf(c);
    await demand(may, c.get("session"), "deadLetters", key.namespace);
    return c.json(await showLetter(lettersFor(c), c.req.param("function"), key));
  });

  app.post("/api/bus/deadletters/:function/:namespace/:name/replay", async (c) => {
    const key = keyOf(c);
    const fn = c.req.param("function");
    const { session } = c.get("session");
    await demand(may, c.get("session"), "replay", key.namespace);
    await replayLetter({ bus, cluster, functions }, fn, key);
    log.info({ user: session.user, function: fn, ...key }, "dead letter replayed");
    return c.json({ replayed: true } satisfies Replayed);
  });

  app.get("/api/bus/history", async (c) => {
    const searched = searchedIn(c);
    const asked = "object" in searched ? searched.object.namespace : namespaceOf(c);
    const session = c.get("session");
    const places = await placesOf(may, session, "activity", asked);
    const tools = {
      ...{ bus, cluster, functions, apiServer, token: session.session.idToken },
      maySeeLetters: mayIn(c, "deadLetters"),
      mayReplay: mayIn(c, "replay"),
    };
    // Cluster-scoped objects may write to those in namespaces. Such writes are shown only to users who may list all activity.
    const wider = places !== "every" && (await may(session, "activity", "")) ? [...places, ""] : places;
    return c.json(await historyOf(tools, { searched, places: wider, before: c.req.query("before") }));
  });

  return app;
}

function searchedIn(c: C): Searched {
  const { trace, group = "", kind, namespace = "", name } = c.req.query();
  if (trace) return { trace };
  if (!kind || !name) throw new QuestionError("The query needs the kind and name of an object, or a trace.");
  return { object: { group, kind, namespace, name } };
}
