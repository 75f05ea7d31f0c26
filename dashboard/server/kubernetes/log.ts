/**
 * Follows the logs of containers over one stream of server-sent events per view, because browsers open only six connections per host.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 *
 * `GET /api/log?namespace=&of=<pod>/<container>&of=<pod>/<container>`, with `tailLines` (of each log, default 500), `previous=true`
 * for the previous runs, and `since=<id>` to continue after an event. Its events are in `dashboard/api/log.ts`. The ID of an event
 * holds the position of each log, so that a browser that reconnects gets the lines that it missed, each once. One exception: if the
 * first line shares its time with the line cut off before it, it may be sent again.
 */
import type { KubeObject, Stored } from "denrei/kinds";
import { Hono } from "hono";
import { maxLogs } from "../../api/log.ts";
import type { Env, Parts } from "../env.ts";
import { errorBody } from "../errorbody.ts";
import { type EventStream, eventStream } from "../eventstream.ts";
import { checkRequest } from "./allowlist.ts";
import { backoff } from "./backoff.ts";
import { type LogPosition, linesAfter, logLines, type PositionedLine, parsePosition } from "./loglines.ts";
import { LogQueue } from "./logqueue.ts";
import { pageErrorOf, RejectedError, rejectedError, requestJson } from "./responses.ts";

const defaultTailLines = 500;
const maxTailLines = 10_000;

/** RFC 1123 label. */
const containerName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** `/api/log` */
export function logRoutes(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();
  app.get("/api/log", (c) => {
    const { namespace = "", previous, tailLines, since } = c.req.query();
    const names = c.req.queries("of") ?? [];
    if (names.length === 0 || names.length > maxLogs)
      return c.json(
        errorBody("NotAllowed", `The query needs 1 to ${maxLogs} logs, but has ${names.length}.`),
        400,
      );
    const logs = names.map((name) => parseLog(namespace, name)).filter((log) => log !== undefined);
    if (logs.length < names.length)
      return c.json(
        errorBody(
          "NotAllowed",
          "The query needs a namespace, and the names of a pod and a container for each log.",
        ),
        400,
      );
    const tail = Number(tailLines ?? defaultTailLines);
    if (!Number.isInteger(tail) || tail < 0 || tail > maxTailLines)
      return c.json(
        errorBody("NotAllowed", `tailLines must be between 0 and ${maxTailLines}, but is "${tailLines}".`),
        400,
      );
    const positions = positionsIn(c.req.header("last-event-id") ?? since, logs.length);
    const run = previous === "true" ? "previous" : "present";
    return eventStream(c, parts, async (stream) => {
      const queue = new LogQueue(stream, positions);
      await Promise.all(
        logs.map((log, of) => follow(parts, { ...log, of, run, tail, stream, queue }, positions[of])),
      );
      await queue.drained();
      return "over";
    });
  });
  return app;
}

interface ContainerPath {
  /** Path of the pod. */
  readonly path: string;
  readonly container: string;
}

/** Parses `<pod>/<container>`. */
function parseLog(namespace: string, name: string): ContainerPath | undefined {
  const [pod = "", container = "", ...rest] = name.split("/");
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}`;
  const checked = checkRequest("GET", `${path}/log`);
  if ("status" in checked || checked.rule.resource !== "pods/log") return undefined;
  return containerName.test(container) && rest.length === 0 ? { path, container } : undefined;
}

function positionsIn(id: string | undefined, count: number): (LogPosition | undefined)[] {
  const found = (id ?? "").split(",");
  return Array.from({ length: count }, (_, at) => parsePosition(found[at]));
}

interface LogRequest extends ContainerPath {
  /** Index of the log. */
  readonly of: number;
  readonly run: "present" | "previous";
  readonly tail: number;
  readonly stream: EventStream;
  readonly queue: LogQueue;
}

/** Sends lines until the container has ended or the client disconnects. Reconnects to the API server after failures. */
async function follow(parts: Parts, request: LogRequest, from: LogPosition | undefined): Promise<void> {
  const { of, stream, queue } = request;
  const { signal } = stream;
  let position = from;
  let reportedStatus = 0;
  const { wait, reset } = backoff(signal);
  const sendLine = async (line: PositionedLine) => {
    position = line.position ?? position;
    await queue.line(of, line);
  };
  while (!signal.aborted) {
    try {
      const body = await openLog(parts, request, position);
      if (reportedStatus !== 0) queue.event("problem", { of, status: 0 });
      reportedStatus = 0;
      let rest: PositionedLine | undefined;
      for await (const line of linesAfter(logLines(body), position)) {
        reset();
        if (line.isWhole) await sendLine(line);
        else rest = line;
      }
      if (await hasEnded(parts, request, position)) {
        if (rest !== undefined) await sendLine(rest);
        return queue.event("end", { of });
      }
    } catch (error) {
      if (signal.aborted) return;
      const pageError = pageErrorOf(error);
      if (pageError.status !== reportedStatus) queue.event("problem", { of, ...pageError });
      reportedStatus = pageError.status;
      // These cannot change: a missing pod, and a missing previous run. A 403 can, because RBAC caches fill late after a start.
      if (pageError.status === 404 || (request.run === "previous" && pageError.status === 400)) return;
    }
    await wait();
  }
}

async function openLog(
  { apiServer }: Pick<Parts, "apiServer">,
  { path, container, run, tail, stream }: LogRequest,
  position: LogPosition | undefined,
): Promise<AsyncIterable<Uint8Array>> {
  const query = new URLSearchParams({ container, timestamps: "true" });
  if (run === "previous") query.set("previous", "true");
  else query.set("follow", "true");
  if (position === undefined) query.set("tailLines", String(tail));
  else query.set("sinceTime", secondBefore(position));
  const response = await apiServer.request({
    method: "GET",
    path: `${path}/log?${query}`,
    token: stream.token,
    signal: stream.signal,
    lasts: "endless",
  });
  if (response.statusCode !== 200) throw await rejectedError(`GET ${path}/log`, response);
  return response.body;
}

/** `sinceTime` has whole seconds, and a line may have a slightly earlier time than the lines before it. */
const secondBefore = ({ at }: LogPosition): string =>
  `${new Date(Date.parse(at) - 1000).toISOString().slice(0, 19)}Z`;

interface ContainerStatus {
  readonly name: string;
  readonly state?: { readonly running?: { readonly startedAt?: string } };
}

type Pod = KubeObject<
  object,
  {
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  }
>;

/** A log stream ends in the same way when the container has ended and when the kubelet is unreachable. */
async function hasEnded(
  { apiServer }: Pick<Parts, "apiServer">,
  { path, container, run, stream }: LogRequest,
  position: LogPosition | undefined,
): Promise<boolean> {
  if (run === "previous") return true;
  let pod: Stored<Pod>;
  try {
    pod = await requestJson<Stored<Pod>>(apiServer, { path, token: stream.token, signal: stream.signal });
  } catch (error) {
    if (error instanceof RejectedError && error.status === 404) return true;
    throw error;
  }
  const {
    containerStatuses = [],
    initContainerStatuses = [],
    ephemeralContainerStatuses = [],
  } = pod.status ?? {};
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  const running = all.find(({ name }) => name === container)?.state?.running;
  if (running === undefined) return true;
  // A container that started after the last line is another run.
  return position !== undefined && Date.parse(running.startedAt ?? "") > Date.parse(position.at);
}
