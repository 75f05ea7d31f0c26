/** What the proof is made of: scenarios that inject faults into real parts and say what held. */

/** One promise under attack. */
export interface Scenario {
  /** Its row in docs/reliability.md. */
  readonly number: number;
  /** What `--only` calls it. */
  readonly name: string;
  /** What the scenario does. */
  readonly title: string;
  /** What must hold, as a clause for the summary. */
  readonly promise: string;
  /** What it takes at full size on a machine of two cores, in minutes: its share of `--minutes`. */
  readonly fullMinutes: number;
  /**
   * When it is a test, at the smallest size. `always`: its limits hold on a busy machine. `nightly`: they are times, or other tests
   * show each of its faults.
   */
  readonly tested: "always" | "nightly";
  run(trial: Trial): Promise<Outcome>;
}

/** What a scenario is given. */
export interface Trial {
  readonly seed: number;
  /** Chance, in [0, 1): the same seed gives every scenario the same numbers, whichever others run. */
  readonly next: () => number;
  /** A size of the full proof, made smaller with the time that there is, but not below `least`. Whole numbers. */
  scaled(full: number, least: number): number;
  /** Tells the user how far it is. */
  say(text: string): void;
  /** Aborts when the user ends the run. */
  readonly signal: AbortSignal;
  /** Whether the Go operator is measured as well: not where there is no time for it. */
  readonly peer: "measure" | "omit";
  /** Registers what has to be undone at the end of the scenario, however it ends; last in, first out. */
  defer(undo: () => unknown): void;
}

/** One thing that must hold. */
export interface Check {
  readonly what: string;
  /** What must hold: `0`, `<= 5 s`, `all of them`. */
  readonly limit: string;
  readonly found: string;
  readonly holds: boolean;
  /** The same of the Go operator on controller-runtime, where it was measured. */
  readonly peer?: string;
  /** Of a check that does not hold: everything that happened to the offending key, oldest first. */
  readonly history?: readonly string[];
}

/** A figure that nothing depends on. */
export interface Figure {
  readonly what: string;
  readonly found: string;
  readonly peer?: string;
}

/** What came of a scenario. */
export interface Outcome {
  /** What was injected, and how often. */
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
    // A comparison with nothing is false either way: what was not measured does not hold.
    holds,
    ...(more.peer !== undefined && { peer: more.peer }),
    ...(!holds && more.history && { history: more.history }),
  };
}

/** A number for readers: whole ones as they are, others with as many digits as say something. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  return size >= 1000
    ? Math.round(value).toLocaleString("en-US")
    : value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}
