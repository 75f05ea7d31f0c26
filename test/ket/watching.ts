/** Waits for several objects at once by watching them. */
import type { Kind, Stored } from "denrei/kinds";
import type { KubeClient, ObjectName } from "denrei/kubernetes";
import { changesOf, failureLines, type ReadFailure } from "./changes.ts";
import { differences, type Expectation, isAbsence } from "./match.ts";

/** An object and what is expected of it: a partial object or a condition. */
export interface Target {
  readonly kind: Kind;
  readonly at: ObjectName;
  readonly expected: Expectation | ((object: Stored) => boolean);
}

/** The last known state of an object. */
export interface ObservedObject extends Target {
  readonly object: Stored | undefined;
  /** Empty when it is as expected. */
  readonly differences: readonly string[];
}

function observed(target: Target, object: Stored | undefined): ObservedObject {
  return { ...target, object, differences: differing(target, object) };
}

function differing({ expected }: Target, object: Stored | undefined): readonly string[] {
  if (object === undefined && !isAbsence(expected)) return ["it does not exist"];
  if (typeof expected !== "function") return differences(expected, object);
  return expected(object as Stored) ? [] : [`expected ${expected.toString()}`];
}

/** The object is neither known to exist nor known to be missing. */
const unanswered = (target: Target): ObservedObject => ({
  ...target,
  object: undefined,
  differences: ["the API server has not answered"],
});

/** Resolves with the last known states when all are as expected at the same time, or when the signal aborts. */
export async function watched(
  client: KubeClient,
  targets: readonly Target[],
  signal: AbortSignal,
): Promise<readonly ObservedObject[]> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const now = new Map<Target, ObservedObject>();
  const follow = async (one: Target): Promise<ReadFailure> => {
    const failure: ReadFailure = {};
    for await (const object of changesOf(client, one.kind, one.at, until, failure)) {
      now.set(one, observed(one, object));
      if (targets.every((other) => now.get(other)?.differences.length === 0)) over.abort();
      if (until.aborted) break;
    }
    return failure;
  };
  const failures = await Promise.all(targets.map(follow));
  return targets.map((one, at) => {
    const last = now.get(one) ?? unanswered(one);
    if (last.differences.length === 0) return last;
    return { ...last, differences: [...last.differences, ...failureLines(failures[at] ?? {})] };
  });
}
