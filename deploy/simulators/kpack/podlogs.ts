/** In-memory logs of the simulated build containers. Not simulated: the output of a real build. */
import { EventEmitter, once } from "node:events";
import type { Pod } from "./kinds.ts";
import { annotationOf, failStep } from "./podannotations.ts";

/** The log of a container. */
export interface ContainerLog {
  readonly lines: readonly LogLine[];
  readonly isOver: boolean;
  /** Resolves when lines are added or the log is complete. */
  more(signal: AbortSignal): Promise<void>;
}

/** A line and its time. */
export interface LogLine {
  readonly at: Date;
  readonly text: string;
}

/** The logs of all pods. */
export interface PodLogs {
  started(pod: Pod, container: string): void;
  ended(pod: Pod, container: string): void;
  /** Drops the logs of a deleted pod. */
  forget(pod: Pod): void;
  /** Undefined when the container has not run. */
  of(podUid: string, container: string): ContainerLog | undefined;
  /** The last non-empty line. */
  lastLine(pod: Pod, container: string): string;
}

interface Log {
  lines: LogLine[];
  isOver: boolean;
  readonly changed: EventEmitter;
}

/** Output of a failing step, long enough to make truncation visible. */
const failingLines = 60;

/** Creates an empty store of logs. */
export function podLogs(): PodLogs {
  const logs = new Map<string, Map<string, Log>>();

  function write(pod: Pod, container: string, texts: readonly string[], isOver: boolean): void {
    const uid = pod.metadata.uid ?? "";
    const ofPod = logs.get(uid) ?? new Map<string, Log>();
    logs.set(uid, ofPod);
    const log = ofPod.get(container) ?? { lines: [], isOver, changed: new EventEmitter() };
    ofPod.set(container, log);
    log.lines.push(...texts.map((text) => ({ at: new Date(), text })));
    log.isOver = isOver;
    log.changed.emit("change");
  }

  return {
    started: (pod, container) => write(pod, container, firstLines(pod, container), false),
    ended: (pod, container) => write(pod, container, lastLines(pod, container), true),
    forget: ({ metadata: { uid = "" } }) => {
      for (const log of logs.get(uid)?.values() ?? []) {
        log.isOver = true;
        log.changed.emit("change");
      }
      logs.delete(uid);
    },
    of(uid, container) {
      const log = logs.get(uid)?.get(container);
      return (
        log && {
          get lines() {
            return log.lines;
          },
          get isOver() {
            return log.isOver;
          },
          more: async (signal) => {
            await once(log.changed, "change", { signal });
          },
        }
      );
    },
    lastLine: ({ metadata }, container) =>
      logs
        .get(metadata.uid ?? "")
        ?.get(container)
        ?.lines.findLast(({ text }) => text !== "")?.text ?? "",
  };
}

function firstLines(pod: Pod, container: string): string[] {
  const { annotations = {} } = pod.metadata;
  const reason = annotations["image.kpack.io/reason"];
  return container === "prepare"
    ? [`Build reason(s): ${reason}`, "Fetching the source"]
    : [`${container} started`];
}

function lastLines(pod: Pod, container: string): string[] {
  if (annotationOf(pod, failStep) !== container) return [`${container} finished`];
  const output = Array.from({ length: failingLines - 2 }, (_, at) => `${container}: output line ${at + 1}`);
  return [...output, `ERROR: failed to ${container}: exit status 1`];
}
