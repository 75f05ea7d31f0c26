/** Waits for several objects at once by watching them. */
import type { KubeClient, ObjectName } from "../../bus/kube/client.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { changesOf, failureLines, type ReadFailure } from "../harness/changes.ts";
import { differences, type Expectation, isAbsence } from "./match.ts";

/** An object and its expectation: a partial object or a condition. */
export interface Wanted {
  readonly kind: Kind;
  readonly at: ObjectName;
  readonly expected: Expectation | ((object: Stored) => boolean);
}

/** The last known state of an object. */
export interface Seen extends Wanted {
  readonly object: Stored | undefined;
  /** Empty when it is as expected. */
  readonly differences: readonly string[];
}

function seen(wanted: Wanted, object: Stored | undefined): Seen {
  return { ...wanted, object, differences: differing(wanted, object) };
}

function differing({ expected }: Wanted, object: Stored | undefined): readonly string[] {
  if (object === undefined && !isAbsence(expected)) return ["it does not exist"];
  if (typeof expected !== "function") return differences(expected, object);
  return expected(object as Stored) ? [] : [`expected ${expected.toString()}`];
}

/** The object is neither known to exist nor known to be missing. */
const unseen = (wanted: Wanted): Seen => ({
  ...wanted,
  object: undefined,
  differences: ["the API server has not answered"],
});

/** Resolves with the last known states when all are as expected at the same time, or when the signal aborts. */
export async function watched(
  client: KubeClient,
  wanted: readonly Wanted[],
  signal: AbortSignal,
): Promise<readonly Seen[]> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const now = new Map<Wanted, Seen>();
  const follow = async (one: Wanted): Promise<ReadFailure> => {
    const trouble: ReadFailure = {};
    for await (const object of changesOf(client, one.kind, one.at, until, trouble)) {
      now.set(one, seen(one, object));
      const isAll = wanted.every((other) => now.get(other)?.differences.length === 0);
      if (isAll) over.abort();
      if (until.aborted) break;
    }
    return trouble;
  };
  const troubles = await Promise.all(wanted.map(follow));
  return wanted.map((one, at) => {
    const last = now.get(one) ?? unseen(one);
    if (last.differences.length === 0) return last;
    return { ...last, differences: [...last.differences, ...failureLines(troubles[at] ?? {})] };
  });
}
