/**
 * Records which span wrote a version of an object, so that the trace of a change links to its cause without metadata in the
 * object. Workers inform each other over plain NATS; a lost message only costs a link.
 */
import type { NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import { origins as originSubjects, type QueueScope } from "../subjects.ts";
import { Recent } from "../values/recent.ts";
import { isRecording, type Span } from "./spans.ts";
import { parseTrace } from "./trace.ts";

/** A write, as workers publish it. */
const messageSchema = z.tuple([z.string(), z.string(), z.string()]);
type Message = z.infer<typeof messageSchema>;

/** The event of a write arrives within milliseconds. Retention in milliseconds, and maximum number of writes. */
const kept = { keptMillis: 10_000, limit: 20_000 };
/** How long an ended span waits for the origin of its change, whose message may be slower than the event. Milliseconds. */
const patienceMillis = 1000;
/** Maximum number of waiting spans. */
const maxWaiting = 5000;

/** An ended span that waits for its link. */
interface Waiting {
  readonly span: Span;
  readonly endedAt: number;
}

/** The writes that this process knows, while traces are recorded. */
interface Origins {
  readonly known: Recent<string>;
  readonly waiting: Map<string, Set<Waiting>>;
  waits: number;
  tell(message: Message): void;
}

let origins: Origins | undefined;

const versionText = (uid: string, resourceVersion: string): string => `${uid} ${resourceVersion}`;
const isSampled = ({ traceparent }: Span): boolean => parseTrace(traceparent)?.isSampled === true;

/** Records the span that wrote an object, and informs other workers. `object` is the API server's answer. */
export function noteOrigin(span: Span, object: unknown): void {
  const { uid, resourceVersion } =
    (object as { metadata?: { uid?: string; resourceVersion?: string } } | undefined)?.metadata ?? {};
  if (origins === undefined || uid === undefined || resourceVersion === undefined || !isSampled(span)) return;
  learn(origins, [uid, resourceVersion, span.traceparent]);
  origins.tell([uid, resourceVersion, span.traceparent]);
}

/** Ends the span of a received change, with a link to the span that wrote it, if that arrives in time. */
export function endWithOrigin(span: Span, uid: string, resourceVersion: string): void {
  const version = versionText(uid, resourceVersion);
  const origin = origins?.known.get(version);
  if (origins === undefined || origin !== undefined || !isSampled(span) || origins.waits >= maxWaiting) {
    span.link(origin);
    span.end();
    return;
  }
  const entry: Waiting = { span, endedAt: performance.now() };
  const same = origins.waiting.get(version) ?? new Set();
  origins.waiting.set(version, same.add(entry));
  origins.waits++;
  const { waiting } = origins;
  setTimeout(() => {
    if (waiting.get(version)?.has(entry)) settle(version, undefined);
  }, patienceMillis).unref();
}

function learn({ known }: Origins, [uid, resourceVersion, traceparent]: Message): void {
  const version = versionText(uid, resourceVersion);
  known.set(version, traceparent);
  settle(version, traceparent);
}

/** Ends the spans that wait for the origin of a version. */
function settle(version: string, origin: string | undefined): void {
  const settled = origins?.waiting.get(version);
  if (origins === undefined || settled === undefined) return;
  origins.waiting.delete(version);
  origins.waits -= settled.size;
  for (const { span, endedAt } of settled) {
    span.link(origin);
    span.end(endedAt);
  }
}

/** Lets the workers of a cluster share their writes while spans are recorded. Returns the function that stops it. `scope`: of any function here. */
export function shareOrigins(nc: NatsConnection, scope: QueueScope): () => void {
  if (!isRecording()) return () => undefined;
  const subject = originSubjects.of(scope);
  const opened: Origins = {
    known: new Recent(kept),
    waiting: new Map(),
    waits: 0,
    tell(message) {
      if (!nc.isClosed()) nc.publish(subject, JSON.stringify(message));
    },
  };
  origins = opened;
  const subscription = nc.subscribe(originSubjects.all(scope.cluster), {
    callback(error, message) {
      if (error !== null) return;
      try {
        learn(opened, messageSchema.parse(message.json()));
      } catch {
        // An error here would end all reads from the connection.
      }
    },
  });
  return () => {
    for (const version of [...opened.waiting.keys()]) settle(version, undefined);
    origins = undefined;
    subscription.unsubscribe();
  };
}
