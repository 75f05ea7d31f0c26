/**
 * Which recorded span wrote a version of an object: so that the trace of a change names the one that caused it, with nothing
 * written into anybody's object. Workers tell each other over plain NATS; what is lost or forgotten is a link less.
 */
import type { NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import { parseTrace } from "../events/trace.ts";
import { origins as originSubjects, type QueueScope } from "../subjects.ts";
import { Recent } from "../values/recent.ts";
import { isRecording, type Span } from "./spans.ts";

/** A write, as workers tell of it. */
const messageSchema = z.tuple([z.string(), z.string(), z.string()]);
type Message = z.infer<typeof messageSchema>;

/** The event of a write comes within milliseconds. Milliseconds, and a number of writes. */
const kept = { keptMillis: 10_000, limit: 20_000 };
/** How long a span that has ended waits for the word of who caused it, which may be slower than the event was. */
const patienceMillis = 1000;
/** Spans that wait at the most. */
const maxWaiting = 5000;

/** A span that has ended but for its link. */
interface Waiting {
  readonly span: Span;
  readonly endedAt: number;
}

/** What this process knows of writes, as long as their traces are recorded. */
interface Origins {
  readonly known: Recent<string>;
  readonly waiting: Map<string, Set<Waiting>>;
  waits: number;
  tell(message: Message): void;
}

let origins: Origins | undefined;

const versionText = (uid: string, resourceVersion: string): string => `${uid} ${resourceVersion}`;
const isSampled = ({ traceparent }: Span): boolean => parseTrace(traceparent)?.isSampled === true;

/** Notes which span a written object came of, and tells the other workers. `object` is what the API server answered. */
export function noteOrigin(span: Span, object: unknown): void {
  const { uid, resourceVersion } =
    (object as { metadata?: { uid?: string; resourceVersion?: string } } | undefined)?.metadata ?? {};
  if (origins === undefined || uid === undefined || resourceVersion === undefined || !isSampled(span)) return;
  learn(origins, [uid, resourceVersion, span.traceparent]);
  origins.tell([uid, resourceVersion, span.traceparent]);
}

/** Ends the span of a change that came to a worker, with a link to who wrote it, if anybody says so in time. */
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

/** Ends the spans that wait for the word about a version. */
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

/** From now on the workers of a cluster learn of each other's writes, if spans are recorded at all. The result ends it. `scope`: of any function here. */
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
        // What throws in here would end the reading of the whole connection.
      }
    },
  });
  return () => {
    for (const version of [...opened.waiting.keys()]) settle(version, undefined);
    origins = undefined;
    subscription.unsubscribe();
  };
}
