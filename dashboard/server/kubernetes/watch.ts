/**
 * Watches lists of objects over one stream of server-sent events per page, because browsers open only six connections per host.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 *
 * `GET /api/watch?of=<path>&of=<path>`: each path is that of a list, with its selectors. Events are `list` (all objects of a path),
 * `change` (one object), and `trouble`. The ID of an event holds the last version of each path, so that a browser that reconnects
 * gets the changes that it missed.
 */
import { Hono } from "hono";
import { isGone } from "../../../bus/kube/errors.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import { watchEvents } from "../../../bus/kube/watchstream.ts";
import type { Env, Parts } from "../env.ts";
import { refusal } from "../refusal.ts";
import { judge } from "./allowlist.ts";
import { ask, refused, troubleOf } from "./answers.ts";
import { type EventStream, eventStream } from "./eventstream.ts";
import { pauses } from "./pauses.ts";

/** More than any page needs. */
const maxPaths = 12;
const pageSize = 500;
const selectors = ["labelSelector", "fieldSelector"];

/** `/api/watch` */
export function watchRoutes(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();
  app.get("/api/watch", (c) => {
    const paths = c.req.queries("of") ?? [];
    if (paths.length === 0 || paths.length > maxPaths)
      return c.json(
        refusal("NotAllowed", `The query needs 1 to ${maxPaths} paths, but has ${paths.length}.`),
        400,
      );
    const wanted = paths.map(asked);
    for (const one of wanted)
      if ("status" in one) return c.json(refusal("NotAllowed", one.message), one.status);
    const seen = versionsIn(c.req.header("last-event-id") ?? c.req.query("seen"), paths.length);
    const troubled = wanted.map(() => 0);
    return eventStream(c, parts, async (stream) => {
      await Promise.all(
        wanted.map((path, at) => follow(parts, { path: path as Asked, at, seen, troubled, stream })),
      );
      return "again";
    });
  });
  return app;
}

interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
}

function asked(text: string): Asked | Extract<ReturnType<typeof judge>, { status: number }> {
  const { pathname: path, searchParams } = new URL(text, "http://kubernetes");
  const judged = judge("GET", text.split("?", 1)[0] ?? "");
  if ("status" in judged) return judged;
  if (judged.verb !== "list" || !judged.rule.verbs.includes("watch"))
    return { status: 405, message: "Not the path of a list that can be watched." };
  return { path, query: new URLSearchParams([...searchParams].filter(([name]) => selectors.includes(name))) };
}

const versionsIn = (id: string | undefined, count: number): string[] => {
  const found = (id ?? "").split(",");
  return Array.from({ length: count }, (_, at) =>
    /^\d+$/.test(found[at] ?? "") ? (found[at] as string) : "",
  );
};

interface Follower {
  readonly path: Asked;
  /** Index of the path. */
  readonly at: number;
  /** The last version sent for each path; empty before the list. */
  readonly seen: string[];
  /** The last error status sent for each path; 0 if none. */
  readonly troubled: number[];
  readonly stream: EventStream;
}

/** Lists, watches, and resumes ended watches until the client disconnects. */
async function follow(parts: Parts, follower: Follower): Promise<void> {
  const { at, seen, troubled, stream } = follower;
  const { signal } = stream;
  const tell: Tell = (event, data) => stream.tell({ event, data: { at, ...data }, id: seen.join(",") });
  const { pause, reset } = pauses(signal);
  const well = async () => {
    reset();
    if (troubled[at] !== 0) await tell("trouble", { status: 0 });
    troubled[at] = 0;
  };
  while (!signal.aborted) {
    try {
      if (seen[at] === "") await list(parts, follower, tell);
      await watch(parts, follower, tell, well);
    } catch (error) {
      if (signal.aborted) return;
      if (isGone(error)) {
        seen[at] = "";
        continue;
      }
      const trouble = troubleOf(error);
      if (trouble.status !== troubled[at]) await tell("trouble", trouble);
      troubled[at] = trouble.status;
      // Retry a 403 or 404 too: the right may be granted, or the kind installed.
      await pause();
    }
  }
}

type Tell = (event: string, data: object) => Promise<void>;

async function list(parts: Parts, { path, at, seen, stream }: Follower, tell: Tell): Promise<void> {
  const { token, signal } = stream;
  const items: Stored[] = [];
  for (let next = ""; ; ) {
    const query = new URLSearchParams(path.query);
    query.set("limit", String(pageSize));
    if (next !== "") query.set("continue", next);
    const page = await ask<{ items: Stored[]; metadata: { resourceVersion: string; continue?: string } }>(
      parts.apiServer,
      {
        path: `${path.path}?${query}`,
        token,
        signal,
      },
    );
    items.push(...page.items.map(trimmed));
    next = page.metadata.continue ?? "";
    if (next === "") {
      seen[at] = page.metadata.resourceVersion;
      return tell("list", { items });
    }
  }
}

/** Calls `began` when the API server has accepted the watch. */
async function watch(
  parts: Parts,
  { path, at, seen, stream }: Follower,
  tell: Tell,
  began: () => Promise<void>,
): Promise<void> {
  const query = new URLSearchParams(path.query);
  query.set("watch", "1");
  query.set("allowWatchBookmarks", "true");
  query.set("resourceVersion", seen[at] ?? "");
  const response = await parts.apiServer.ask({
    method: "GET",
    path: `${path.path}?${query}`,
    token: stream.token,
    signal: stream.signal,
    lasts: "endless",
  });
  if (response.statusCode !== 200) throw await refused("watch", response);
  await began();
  for await (const { type, object } of watchEvents<KubeObject>(response.body, path.path)) {
    seen[at] = object.metadata.resourceVersion;
    if (type !== "BOOKMARK") await tell("change", { type, object: trimmed(object) });
  }
}

/** Drops `managedFields`: a third of an object, and of no use to a page. */
function trimmed<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const { managedFields: _, ...metadata } = object.metadata as Stored["metadata"] & {
    managedFields?: unknown;
  };
  return { ...object, metadata } as Stored<T>;
}
