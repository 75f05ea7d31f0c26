/** A worker of the queue's benchmark: makes requests on command, and handles those of all workers without doing any work. */
import { readSettings } from "../../bus/config/config.ts";
import { type ProcessContext, processSettings, type Running, runProcess } from "../../bus/process/run.ts";
import { startPull } from "../../bus/queue/pull.ts";
import { isCovered, type TicketQueue, ticketQueue } from "../../bus/queue/queue.ts";
import { startRelay } from "../../bus/queue/relay.ts";
import { newRequest, parseRequest } from "../../bus/queue/request.ts";
import { consumers, type ObjectKey, parseKeySubject, workStream } from "../../bus/subjects.ts";
import { defineFunction } from "../../bus/worker/function.ts";
import { startWorker } from "../../bus/worker/worker.ts";
import {
  busOptions,
  Note,
  namespace,
  noteName,
  type Order,
  orderSchema,
  orderSubject,
  type QueueMode,
  scope,
  type Times,
  timesSubject,
} from "./queueplan.ts";
import { makeRequests } from "./requests.ts";

/** The number of objects that a worker reconciles concurrently. */
const slots = 10;

const mode = process.argv[2] as QueueMode;
const settings = readSettings([...processSettings], {}, process.env);
const { replica } = settings;
const times: Times = { requested: {}, started: {} };
/** Versions of this worker's changes, in increasing order. */
let version = 1;

await runProcess("worker", settings, async (context) => {
  const { bus } = context;
  const queue = ticketQueue(bus, scope, { replica });
  bus.nc.subscribe(orderSubject(replica), {
    callback(_error, message) {
      const order = orderSchema.parse(message.json());
      void requestNotes(context, queue, order).then((owned) => message.respond(JSON.stringify({ owned })));
    },
  });
  bus.nc.subscribe(timesSubject(replica), {
    callback: (_error, message) => void message.respond(JSON.stringify(times)),
  });
  // Ready means that the benchmark can reach this worker.
  await bus.nc.flush();
  return mode === "queue" ? startBare(context, queue) : startRuntime(context);
});

/** Makes the requests and returns how many of them found the key owned. */
function requestNotes({ bus }: ProcessContext, queue: TicketQueue, order: Order): Promise<number> {
  return makeRequests(bus, scope, order, (at) => {
    const name = noteName(at);
    times.requested[name] = Date.now();
    return queue.request({ namespace, name }, requestFor(name));
  });
}

/** A change of something the note depends on. The runtime reads the note, which has only one version. */
function requestFor(name: string) {
  const { group, kind } = Note;
  const changed =
    mode === "runtime"
      ? { uid: name, resourceVersion: "1" }
      : { uid: `${name}.${replica}`, resourceVersion: String(version++) };
  return newRequest({ type: "object", group, kind, namespace, name, ...changed });
}

function startOf({ name }: ObjectKey): void {
  times.started[name] = Date.now();
}

/** The runtime with a function that does nothing. */
function startRuntime(context: ProcessContext): Promise<Running> {
  const nothing = defineFunction({
    name: scope.fn,
    for: Note,
    async reconcile(_note, { key }) {
      startOf(key);
      return undefined;
    },
  });
  return startWorker({ ...context, ...settings, busOptions, functions: [nothing] });
}

/** Only the queue: ticket, confirmed acknowledgment, and the check for marks. As after a reconcile, its request is covered. */
function startBare({ bus, log }: ProcessContext, queue: TicketQueue): Running {
  const tickets = startPull({
    bus,
    stream: workStream(scope.fn),
    consumer: consumers.worker(scope),
    slots,
    async handle(delivery) {
      const { key } = parseKeySubject(delivery.subject);
      startOf(key);
      const { cause, also = [] } = parseRequest(delivery.string());
      const causes = [cause, ...also].filter((each) => each.type === "object");
      const seen = new Map(causes.map(({ uid, resourceVersion }) => [uid, resourceVersion]));
      await delivery.confirmDone();
      const marks = await queue.marks(key);
      if (marks.length === 0) return;
      const [first, ...rest] = marks.filter(({ request }) => !isCovered(request, seen));
      if (first) {
        const combined = { ...first.request, also: rest.map(({ request }) => request.cause) };
        if ((await queue.requestUnlessOwned(key, combined)) === "owned") return;
      }
      await queue.dropMarks(key, marks);
    },
  });
  const relay = startRelay({
    bus,
    queue,
    slots: 32,
    deadline: { ackWaitMillis: 5000, signal: new AbortController().signal },
    onError: (error, subject) => log.error({ err: error, subject }, "failed to relay a due message"),
  });
  log.info("worker ready");
  return {
    async stop() {
      await Promise.all([tickets.stop(), relay.stop()]);
    },
  };
}
