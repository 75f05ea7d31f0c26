/** Scenarios: each injects faults into real processes and checks a promise. */

/** A scenario for one promise. */
export interface Scenario {
  /** Its row in docs/reliability.md. */
  readonly number: number;
  /** Its name for `--only`. */
  readonly name: string;
  /** What the scenario does. */
  readonly title: string;
  /** The promise, as a clause for the summary. */
  readonly promise: string;
  /** Minutes at full size on a machine with two cores: its share of `--minutes`. */
  readonly fullMinutes: number;
  /**
   * When it runs as a test, at the smallest size. `always`: its limits hold on a busy machine. `nightly`: its limits are durations,
   * or other tests cover each of its faults.
   */
  readonly tested: "always" | "nightly";
  run(trial: Trial): Promise<Outcome>;
}

/** The context of a running scenario. */
export interface Trial {
  readonly seed: number;
  /** A random number in [0, 1). The same seed gives a scenario the same numbers, independent of other scenarios. */
  readonly next: () => number;
  /** A size of the full run, reduced to the available time, but not below `least`. Whole numbers. */
  scaled(full: number, least: number): number;
  /** Prints progress. */
  say(text: string): void;
  /** Aborts when the user ends the run. */
  readonly signal: AbortSignal;
  /** Whether to measure the Go operator as well, if there is time for it. */
  readonly peer: "measure" | "omit";
  /** Registers cleanup for the end of the scenario, in reverse order of registration. It also runs after an error. */
  defer(undo: () => unknown): void;
}

/** A checked promise. */
export interface Check {
  readonly what: string;
  /** The limit: `0`, `<= 5 s`, `all of them`. */
  readonly limit: string;
  readonly found: string;
  readonly holds: boolean;
  /** The value of the Go operator on controller-runtime, if measured. */
  readonly peer?: string;
  /** For a broken check: the events of the offending key, oldest first. */
  readonly history?: readonly string[];
}

/** A figure without a limit. */
export interface Figure {
  readonly what: string;
  readonly found: string;
  readonly peer?: string;
}

/** The result of a scenario. */
export interface Outcome {
  /** The injected faults with their counts. */
  readonly injected: readonly string[];
  readonly checks: readonly Check[];
  readonly figures?: readonly Figure[];
}

/** A check that a number is at most (or at least) another one. */
export function bounded(
  what: string,
  found: number,
  relation: "<=" | ">=" | "=",
  limit: number,
  unit: string,
  more: Pick<Check, "peer" | "history"> = {},
): Check {
  const holds = relation === "<=" ? found <= limit : relation === ">=" ? found >= limit : found === limit;
  const text = (value: number): string => `${figure(value)}${unit === "" ? "" : ` ${unit}`}`;
  return {
    what,
    limit: relation === "=" ? text(limit) : `${relation === "<=" ? "≤" : "≥"} ${text(limit)}`,
    found: Number.isFinite(found) ? text(found) : "nothing was measured",
    // Comparisons with NaN are false, so a missing measurement does not hold.
    holds,
    ...(more.peer !== undefined && { peer: more.peer }),
    ...(!holds && more.history && { history: more.history }),
  };
}

/** A check that none of `total` things are bad. It does not hold either if `total` is below `least`, because it then shows nothing. */
export function noneOf(
  what: string,
  bad: number,
  total: number,
  { least = 1, history }: { readonly least?: number; readonly history?: readonly string[] | undefined } = {},
): Check {
  return {
    what,
    limit: "0",
    found: `${figure(bad)} of ${figure(total)}`,
    holds: bad === 0 && total >= least,
    ...(bad > 0 && history && { history }),
  };
}

/** A number for readers: integers in full, others with the significant digits. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  return size >= 1000
    ? Math.round(value).toLocaleString("en-US")
    : value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}
