/** `/api/bus/…`, as described in dashboard/api/bus.ts, restricted by RBAC. */
import { errors } from "@nats-io/transport-node";
import { CursorError, DisconnectedError, type SearchTarget } from "denrei/bus";
import { ApiError } from "denrei/kubernetes";
import { type Context, Hono } from "hono";
import type { Logger } from "pino";
import type { BusRights, DeadLetterList, LivePast, Replayed } from "../../api/bus.ts";
import type { CausalHistory } from "../../api/causality.ts";
import type { FunctionSeries } from "../../api/functionseries.ts";
import type { Env, Parts } from "../env.ts";
import { errorBody, failedBody } from "../errorbody.ts";
import { type EventStream, eventStream } from "../eventstream.ts";
import { NoAnswerError } from "../kubernetes/apiserver.ts";
import { pageErrorOf } from "../kubernetes/responses.ts";
import { concurrencyLimiter } from "../limiter.ts";
import { limitConcurrency } from "../requestlimit.ts";
import { namespaceIn } from "./apivalues.ts";
import { causalityOf } from "./causality.ts";
import { getDeadLetter, listDeadLetters, NoDeadLetterError, replayDeadLetter } from "./deadletters.ts";
import { entryPosition } from "./entries.ts";
import { figuresOf } from "./figures.ts";
import { keptSeconds, type Period } from "./functionseries.ts";
import { historyOf } from "./history.ts";
import { reconcilesInFlight } from "./inflight.ts";
import { type Live, windowSeconds } from "./live.ts";
import {
  busReviews,
  ForbiddenError,
  type May,
  type Right,
  requireRight,
  visibleNamespaces,
} from "./rights.ts";

type C = Context<Env>;

class BadQueryError extends Error {
  override readonly name = "BadQueryError";
}

/** Per user. Each request may search everything that the bus retains. */
const maxRequests = 6;

/** The routes of the bus API. */
export function busRoutes(parts: Parts): Hono<Env> {
  const may = busReviews(parts.apiServer);
  const app = new Hono<Env>();
  app.onError((error, c) => busError(c, error, parts.log));
  app.use("/api/bus/*", limitConcurrency(concurrencyLimiter(maxRequests)));
  addRightsRoute(app, may);
  addFiguresRoutes(app, parts, may);
  addDeadLetterRoutes(app, parts, may);
  addHistoryRoute(app, parts, may);
  addCausalityRoute(app, parts, may);
  return app;
}

function busError(c: Context, error: Error, log: Logger): Response {
  if (error instanceof ForbiddenError) return c.json(errorBody("Forbidden", error.message), 403);
  if (error instanceof NoDeadLetterError) return c.json(errorBody("NotFound", error.message), 404);
  if (error instanceof CursorError || error instanceof BadQueryError)
    return c.json(errorBody("BadRequest", error.message), 400);
  if (error instanceof ApiError && error.status === 401)
    return c.json(errorBody("Unauthorized", "Your token has expired. Log in again."), 401);
  log.error({ err: error, method: c.req.method, path: c.req.path }, "request failed");
  if (error instanceof NoAnswerError) {
    const { reason, message } = pageErrorOf(error);
    return c.json(errorBody(reason, message), 503);
  }
  if (isBusError(error)) return c.json(busUnavailable, 503);
  return c.json(failedBody, 502);
}

const isBusError = (error: Error): boolean =>
  error instanceof DisconnectedError ||
  [errors.TimeoutError, errors.RequestError, errors.NoRespondersError, errors.ClosedConnectionError].some(
    (kind) => error instanceof kind,
  );

const busUnavailable = errorBody("BusUnavailable", "The bus does not answer. Try again in a moment.");

function addRightsRoute(app: Hono<Env>, may: May): void {
  app.get("/api/bus/rights", async (c) => {
    const session = c.get("session");
    const namespace = namespaceOf(c);
    const [figures, activity, deadLetters, replay] = await Promise.all([
      may(session, "functions", undefined),
      may(session, "activity", namespace),
      may(session, "deadLetters", namespace),
      may(session, "replay", namespace),
    ]);
    return c.json({ functions: figures, activity, deadLetters, replay } satisfies BusRights);
  });
}

function addFiguresRoutes(app: Hono<Env>, parts: Parts, may: May): void {
  const { bus, cluster, functions, live, counters } = parts.platform;
  const figures = figuresOf(bus, cluster, functions);

  app.get("/api/bus/figures", async (c) => {
    await requireRight(may, c.get("session"), "functions", undefined);
    return c.json(await figures());
  });

  app.get("/api/bus/functions/:function", async (c) => {
    await requireRight(may, c.get("session"), "functions", undefined);
    const name = c.req.param("function");
    const counter = counters.of(name);
    const { group = "", kind = "" } = functions.find((fn) => fn.name === name)?.for ?? {};
    if (counter === undefined)
      return c.json(errorBody("NotFound", `This dashboard does not know the function ${name}.`), 404);
    const now = Math.floor(Date.now() / 1000);
    const series = counter.read(now, periodOf(c, now));
    return c.json({ function: name, for: { group, kind }, ...series } satisfies FunctionSeries);
  });

  app.get("/api/bus/live", async (c) => {
    await requireRight(may, c.get("session"), "functions", undefined);
    return eventStream(c, parts, (stream) => streamSamples(live, stream));
  });

  app.get("/api/bus/working", async (c) => {
    const namespaces = await visibleNamespaces(may, c.get("session"), "activity", namespaceOf(c));
    return c.json(await reconcilesInFlight(bus, cluster, namespaces));
  });
}

async function streamSamples(live: Live, { signal, send }: EventStream): Promise<"again"> {
  const past: LivePast = { windowSeconds, samples: [...live.past()] };
  await send({ event: "past", data: past });
  let sentUntil = past.samples.at(-1)?.at ?? 0;
  while (!signal.aborted) {
    await live.tick(signal);
    // A slow reader gets the samples that it missed and that are still kept.
    for (const sample of live.past().filter(({ at }) => at > sentUntil)) {
      await send({ event: "sample", data: sample });
      sentUntil = sample.at;
    }
  }
  return "again";
}

function addDeadLetterRoutes(app: Hono<Env>, { platform, log }: Parts, may: May): void {
  const { bus, cluster, functions } = platform;
  const contextOf = (c: C) => ({ bus, cluster, functions, mayReplay: mayIn(c, may, "replay") });

  app.get("/api/bus/deadletters", async (c) => {
    const namespaces = await visibleNamespaces(may, c.get("session"), "deadLetters", namespaceOf(c));
    const items = await listDeadLetters(contextOf(c), namespaces, c.req.query("function") || undefined);
    return c.json({ items } satisfies DeadLetterList);
  });

  app.get("/api/bus/deadletters/:function/:namespace/:name", async (c) => {
    const key = keyOf(c);
    await requireRight(may, c.get("session"), "deadLetters", key.namespace);
    return c.json(await getDeadLetter(contextOf(c), c.req.param("function"), key));
  });

  app.post("/api/bus/deadletters/:function/:namespace/:name/replay", async (c) => {
    const key = keyOf(c);
    const fn = c.req.param("function");
    const { session } = c.get("session");
    await requireRight(may, c.get("session"), "replay", key.namespace);
    await replayDeadLetter({ bus, cluster, functions }, fn, key);
    log.info({ user: session.user, function: fn, ...key }, "dead letter replayed");
    return c.json({ replayed: true } satisfies Replayed);
  });
}

function addHistoryRoute(app: Hono<Env>, { apiServer, platform }: Parts, may: May): void {
  const { bus, cluster, functions } = platform;
  app.get("/api/bus/history", async (c) => {
    const searched = searchOf(c);
    const requested = "object" in searched ? searched.object.namespace : namespaceOf(c);
    const namespaces = await visibleActivity(c, may, requested);
    const context = {
      ...{ bus, cluster, functions, apiServer, token: c.get("session").session.idToken },
      mayListDeadLetters: mayIn(c, may, "deadLetters"),
      mayReplay: mayIn(c, may, "replay"),
    };
    return c.json(await historyOf(context, { searched, namespaces, before: c.req.query("before") }));
  });
}

function addCausalityRoute(app: Hono<Env>, { platform }: Parts, may: May): void {
  const { bus, cluster } = platform;
  const functions = platform.functions.map(({ name }) => name);
  app.get("/api/bus/causality", async (c) => {
    const id = c.req.query("entry") ?? "";
    const position = entryPosition(id);
    if (position === undefined)
      throw new BadQueryError(`"${id}" is not the id of a webhook or a reconcile in a history.`);
    const namespaces = await visibleActivity(c, may, namespaceOf(c));
    const found = await causalityOf({ bus, cluster, functions, namespaces }, position);
    if (found === undefined)
      return c.json(errorBody("NotFound", "This entry is not kept anymore, or you cannot view it."), 404);
    return c.json(found satisfies CausalHistory);
  });
}

/** Cluster-scoped objects may write to those in namespaces. Such writes are shown only to users who may list all activity. */
async function visibleActivity(
  c: C,
  may: May,
  requested: string | undefined,
): Promise<readonly string[] | "every"> {
  const session = c.get("session");
  const visible = await visibleNamespaces(may, session, "activity", requested);
  return visible !== "every" && (await may(session, "activity", "")) ? [...visible, ""] : visible;
}

const namespaceOf = (c: C): string | undefined => c.req.query("namespace") || undefined;

const keyOf = (c: C) => ({
  namespace: namespaceIn(c.req.param("namespace") ?? ""),
  name: c.req.param("name") ?? "",
});

const mayIn = (c: C, may: May, right: Right) => (namespace: string) =>
  may(c.get("session"), right, namespace);

/** Limited to what is kept, because the answer has a value for each step. */
function periodOf(c: C, now: number): Period {
  const seconds = (name: string, otherwise: number) => {
    const text = c.req.query(name);
    if (text === undefined) return otherwise;
    if (!/^\d{1,10}$/.test(text)) throw new BadQueryError(`"${text}" is not a number of seconds.`);
    return Number(text);
  };
  const to = Math.min(now, seconds("to", now));
  const from = seconds("from", to - seconds("seconds", keptSeconds));
  return { from: Math.max(now - keptSeconds, Math.min(from, to)), to };
}

function searchOf(c: C): SearchTarget {
  const { trace, group = "", kind, namespace = "", name } = c.req.query();
  if (trace) return { trace };
  if (!kind || !name) throw new BadQueryError("The query needs the kind and name of an object, or a trace.");
  return { object: { group, kind, namespace, name } };
}
