/**
 * Batches work by turns of the event loop. Messages that are written to one socket in the same turn leave in one system call;
 * a call per message would dominate the CPU time of a busy process.
 */

/**
 * Returns a function that calls back every `millis` until the function that it returns is called. All callers share one timer, so that
 * an idle process wakes up once for all of them. The timer does not keep the process alive.
 */
export function sharedInterval(millis: number): (run: () => void) => () => void {
  const runs = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  return (run) => {
    const own = (): void => run();
    runs.add(own);
    timer ??= setInterval(() => {
      for (const one of runs) one();
    }, millis).unref();
    return () => {
      if (!runs.delete(own) || runs.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  };
}

/** Interval of {@link onBeat}, in milliseconds. */
export const beatMillis = 250;

/** The regular checks of a process: calls back every {@link beatMillis}. */
export const onBeat = sharedInterval(beatMillis);

/** A timer may fire this share of its interval early. It is then not set for the same moment again. */
const earlyShare = 0.1;

/**
 * How long to wait for something that recurs every `millis`, so that everything with this interval happens in the same turn: until the
 * next multiple of `millis` by `performance.now()`. Between 0.1 and 1.1 times `millis`.
 */
export function untilShared(millis: number): number {
  const left = millis - (performance.now() % millis);
  return Math.ceil(left < millis * earlyShare ? left + millis : left);
}

/** Returns a function that waits for the end of the current turn. All waiters of a turn continue together. */
export function turnEnd(): () => Promise<void> {
  let end: Promise<void> | undefined;
  return () => {
    end ??= new Promise((resolve) => {
      setImmediate(() => {
        end = undefined;
        resolve();
      });
    });
    return end;
  };
}

/**
 * Returns a function that lets the first caller of a turn continue at once and makes later ones wait for the end of the turn. So a
 * lone caller is not delayed, and the rest of a burst continues together.
 */
export function turnEndAfterFirst(): () => Promise<void> | undefined {
  const end = turnEnd();
  let hasFirst = false;
  const reset = (): void => {
    hasFirst = false;
  };
  return () => {
    if (hasFirst) return end();
    hasFirst = true;
    setImmediate(reset);
    return undefined;
  };
}

/** Callers that may wait for each other. Each function returns undefined if the caller continues at once. */
export interface Gathering {
  /** Continues as {@link turnEndAfterFirst} says, and lets those that wait continue too. */
  urgent(): Promise<void> | undefined;
  /** Waits for an urgent caller, or for up to `millis` after the last callers have continued. After a longer rest, it is urgent. */
  patient(): Promise<void> | undefined;
}

/** Gathers up to `most` callers for up to `millis`, so that what they send under load shares socket writes. */
export function gathering(millis: number, most: number): Gathering {
  const turnEnd = turnEndAfterFirst();
  let last = Number.NEGATIVE_INFINITY;
  let waiting: PromiseWithResolvers<void> | undefined;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const release = (): void => {
    clearTimeout(timer);
    last = performance.now();
    count = 0;
    waiting?.resolve();
    waiting = undefined;
  };
  const urgent = (): Promise<void> | undefined => {
    release();
    return turnEnd();
  };
  return {
    urgent,
    patient() {
      const left = last + millis - performance.now();
      if (left <= 0 || ++count >= most) return urgent();
      if (waiting === undefined) {
        waiting = Promise.withResolvers();
        timer = setTimeout(release, left);
      }
      return waiting.promise;
    },
  };
}

/** Returns a function that plans `run` for the end of the current turn. However often it is called in a turn, `run` is called once. */
export const atTurnEnd = (run: () => void): (() => void) => planned(run, setImmediate);

/**
 * Returns a function that plans `run` within `millis`. All plans of a process with the same `millis` run in the same turn, so that what
 * they send shares a socket write. The plan does not keep the process alive.
 */
export const soon = (millis: number, run: () => void): (() => void) =>
  planned(run, (later) => setTimeout(later, millis - (performance.now() % millis)).unref());

/** Returns a function that plans `run` with `schedule`, unless it is planned already. */
function planned(run: () => void, schedule: (later: () => void) => unknown): () => void {
  let isPlanned = false;
  const later = (): void => {
    isPlanned = false;
    run();
  };
  return () => {
    if (isPlanned) return;
    isPlanned = true;
    schedule(later);
  };
}
