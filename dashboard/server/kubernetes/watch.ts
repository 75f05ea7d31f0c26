/**
 * Watches lists of objects over one stream of server-sent events per page, because browsers open only six connections per host.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 *
 * `GET /api/watch?of=<path>&of=<path>`: each path is that of a list, with its selectors. Events are `list` (all objects of a path),
 * `change` (one object), and `problem`. The ID of an event holds the last version of each path, so that a browser that reconnects
 * gets the changes that it missed.
 */
import type { KubeObject, Stored } from "denrei/kinds";
import { isGone, watchEvents } from "denrei/kubernetes";
import { Hono } from "hono";
import type { Env, Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { type EventStream, eventStream } from "../eventstream.ts";
import { checkRequest } from "./allowlist.ts";
import { backoff } from "./backoff.ts";
import { apiServerLiveness } from "./liveness.ts";
import {
  apiServerUnavailable,
  type PageError,
  pageErrorOf,
  rejectedError,
  requestJson,
} from "./responses.ts";

/** More than any page needs. */
const maxPaths = 12;
const pageSize = 500;
const selectors = ["labelSelector", "fieldSelector"];

/** `/api/watch` */
export function watchRoutes(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();
  const liveness = apiServerLiveness(parts.apiServer);
  app.get("/api/watch", (c) => {
    const paths = c.req.queries("of") ?? [];
    if (paths.length === 0 || paths.length > maxPaths)
      return c.json(
        errorBody("NotAllowed", `The query needs 1 to ${maxPaths} paths, but has ${paths.length}.`),
        400,
      );
    const watched = paths.map(parsePath);
    for (const path of watched)
      if ("status" in path) return c.json(errorBody("NotAllowed", path.message), path.status);
    const seen = versionsIn(c.req.header("last-event-id") ?? c.req.query("seen"), paths.length);
    const reportedStatus = watched.map(() => 0);
    return eventStream(c, parts, async (stream) => {
      const followers = watched.map(
        (path, at): Follower => ({
          path: path as WatchedPath,
          at,
          seen,
          reportedStatus,
          isOpen: false,
          stream,
        }),
      );
      const unfollow = liveness.follow((state) => {
        for (const follower of followers) void reportLiveness(follower, state);
      });
      await Promise.all(followers.map((follower) => follow(parts, follower))).finally(unfollow);
      return "again";
    });
  });
  return app;
}

interface WatchedPath {
  readonly path: string;
  readonly query: URLSearchParams;
}

function parsePath(text: string): WatchedPath | Extract<ReturnType<typeof checkRequest>, { status: number }> {
  const { pathname: path, searchParams } = new URL(text, "http://kubernetes");
  const checked = checkRequest("GET", text.split("?", 1)[0] ?? "");
  if ("status" in checked) return checked;
  if (checked.verb !== "list" || !checked.rule.verbs.includes("watch"))
    return { status: 405, message: "This path is not a list that can be watched." };
  return { path, query: new URLSearchParams([...searchParams].filter(([name]) => selectors.includes(name))) };
}

const versionsIn = (id: string | undefined, count: number): string[] => {
  const found = (id ?? "").split(",");
  return Array.from({ length: count }, (_, at) =>
    /^\d+$/.test(found[at] ?? "") ? (found[at] as string) : "",
  );
};

interface Follower {
  readonly path: WatchedPath;
  /** Index of the path. */
  readonly at: number;
  /** The last version sent for each path; empty before the list. */
  readonly seen: string[];
  /** The last error status sent for each path; 0 if none. */
  readonly reportedStatus: number[];
  /** Whether its watch is open. */
  isOpen: boolean;
  readonly stream: EventStream;
}

/** Lists, watches, and resumes ended watches until the client disconnects. */
async function follow(parts: Parts, follower: Follower): Promise<void> {
  const { at, seen } = follower;
  const { signal } = follower.stream;
  const send = senderOf(follower);
  const { wait, reset } = backoff(signal);
  const opened = async () => {
    reset();
    follower.isOpen = true;
    await report(follower, { status: 0 });
  };
  while (!signal.aborted) {
    try {
      if (seen[at] === "") {
        await list(parts, follower, send);
        // For the page, a list ends an error.
        await report(follower, { status: 0 });
      }
      await watch(parts, follower, send, opened).finally(() => {
        follower.isOpen = false;
      });
    } catch (error) {
      if (signal.aborted) return;
      if (isGone(error)) {
        seen[at] = "";
        continue;
      }
      const pageError = pageErrorOf(error);
      // The page drops what the user may not see, so it needs the whole list afterwards.
      if (isRefusal(pageError)) seen[at] = "";
      await report(follower, pageError);
      // Retry a 403 or 404 too: the right may be granted, or the kind installed.
      await wait();
    }
  }
}

const isRefusal = ({ status }: PageError): boolean => status === 403 || status === 404;

type Send = (event: string, data: object) => Promise<void>;

const senderOf =
  ({ at, seen, stream }: Follower): Send =>
  (event, data) =>
    stream.send({ event, data: { at, ...data }, id: seen.join(",") });

/** Sends an error, or its end (status 0), unless it was the last one sent. */
async function report(follower: Follower, problem: { readonly status: number }): Promise<void> {
  const { at, reportedStatus } = follower;
  if (problem.status === reportedStatus[at]) return;
  reportedStatus[at] = problem.status;
  await senderOf(follower)("problem", problem);
}

/** A path with an error keeps it until its next watch opens, and a path without an open watch recovers with it. */
async function reportLiveness(follower: Follower, state: "responds" | "hangs"): Promise<void> {
  const status = follower.reportedStatus[follower.at];
  if (state === "hangs" && status === 0) await report(follower, apiServerUnavailable);
  if (state === "responds" && status === apiServerUnavailable.status && follower.isOpen)
    await report(follower, { status: 0 });
}

async function list(parts: Parts, { path, at, seen, stream }: Follower, send: Send): Promise<void> {
  const { token, signal } = stream;
  const items: Stored[] = [];
  for (let next = ""; ; ) {
    const query = new URLSearchParams(path.query);
    query.set("limit", String(pageSize));
    if (next !== "") query.set("continue", next);
    const page = await requestJson<{
      apiVersion: string;
      kind: string;
      items: Stored[];
      metadata: { resourceVersion: string; continue?: string };
    }>(parts.apiServer, {
      path: `${path.path}?${query}`,
      token,
      signal,
    });
    // Lists of built-in kinds name the kind only once, as `DeploymentList`; changes name it in each object.
    const { apiVersion } = page;
    const kind = page.kind.replace(/List$/, "");
    items.push(...page.items.map((item) => trimmed({ ...item, apiVersion, kind })));
    next = page.metadata.continue ?? "";
    if (next === "") {
      seen[at] = page.metadata.resourceVersion;
      return send("list", { items });
    }
  }
}

/** Calls `began` when the API server has accepted the watch. */
async function watch(
  parts: Parts,
  { path, at, seen, stream }: Follower,
  send: Send,
  began: () => Promise<void>,
): Promise<void> {
  const query = new URLSearchParams(path.query);
  query.set("watch", "1");
  query.set("allowWatchBookmarks", "true");
  query.set("resourceVersion", seen[at] ?? "");
  const response = await parts.apiServer.request({
    method: "GET",
    path: `${path.path}?${query}`,
    token: stream.token,
    signal: stream.signal,
    lasts: "endless",
  });
  if (response.statusCode !== 200) throw await rejectedError("watch", response);
  await began();
  for await (const { type, object } of watchEvents<KubeObject>(response.body, path.path)) {
    seen[at] = object.metadata.resourceVersion;
    if (type !== "BOOKMARK") await send("change", { type, object: trimmed(object) });
  }
}

/** Drops `managedFields`: a third of an object, and of no use to a page. */
function trimmed<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const { managedFields: _, ...metadata } = object.metadata as Stored["metadata"] & {
    managedFields?: unknown;
  };
  return { ...object, metadata } as Stored<T>;
}
