/**
 * Commit statuses. Several pull requests can have the same last commit. The status with the pipeline's context, which branch
 * protection rules name, then combines all of them, and each preview also has its own. Pure.
 */

import { digestOf } from "denrei";
import type { CommitStatus } from "denrei/github";
import type { Preview } from "../kinds/apppipeline.ts";
import { previewContext } from "./names.ts";
import type { Notes } from "./record.ts";
import { commitStateOf, reportedSHA } from "./text.ts";

/** The desired status of a commit. */
export interface DesiredStatus {
  readonly sha: string;
  readonly status: CommitStatus;
}

/** A status that was set on a commit. */
export type SetStatus = NonNullable<Notes["statuses"]>[number];

type State = Omit<CommitStatus, "context">;

/**
 * The statuses of all previews, by the number of the pull request that maintains them. A preview's own status stays up to date when
 * the preview becomes the only one of the commit again.
 */
export function desiredStatuses(
  context: string,
  previews: readonly Preview[],
  given: readonly SetStatus[],
): ReadonlyMap<number, readonly DesiredStatus[]> {
  const desired = new Map<number, DesiredStatus[]>();
  const shown = [...previews].sort((a, b) => a.number - b.number);
  for (const [sha, all] of Map.groupBy(shown, reportedSHA)) {
    const states = all.flatMap((preview) => {
      const state = commitStateOf(preview);
      return state === undefined ? [] : [{ number: preview.number, state }];
    });
    const [first] = states;
    if (first === undefined) continue;
    for (const { number, state } of states) {
      const own = { sha, status: { ...state, context: previewContext(context, number) } };
      const isNeeded = states.length > 1 || given.some((one) => isSame(one, own));
      desired.set(number, isNeeded ? [own] : []);
    }
    const status = { ...(states.length === 1 ? first.state : combinedState(states)), context };
    desired.get(first.number)?.unshift({ sha, status });
  }
  return desired;
}

/** Combines the states: the worst one, and all descriptions. */
function combinedState(states: readonly { readonly number: number; readonly state: State }[]): State {
  const worst = (["failure", "pending", "success"] as const).find((one) =>
    states.some(({ state }) => state.state === one),
  );
  const state = worst ?? "success";
  const targetUrl = states.find(({ state: { targetUrl: url } }) => url !== undefined)?.state.targetUrl;
  return {
    state,
    description: states.map(({ number, state: { description } }) => `#${number}: ${description}`).join("; "),
    ...(state === "success" && targetUrl !== undefined && { targetUrl }),
  };
}

/** Whether both have the same commit and context. Their content may differ. */
export const isSame = (given: SetStatus, { sha, status }: DesiredStatus): boolean =>
  given.sha === sha && given.context === status.context;

/** Identifies the content of a status. */
export const statusDigest = ({ sha, status }: DesiredStatus): string => digestOf([sha, status], 16);

/** The record of a status that was set. */
export const recordOf = (desired: DesiredStatus): SetStatus => ({
  context: desired.status.context,
  sha: desired.sha,
  digest: statusDigest(desired),
  ...(desired.status.state === "pending" && { pending: true }),
});

/**
 * Moves records of statuses to the pull request that maintains them now, and drops those of unwanted statuses that are not
 * pending.
 */
export function reassignStatuses(
  all: ReadonlyMap<number, Notes>,
  desired: ReadonlyMap<number, readonly DesiredStatus[]>,
): void {
  const given = [...all.values()].flatMap(({ number, statuses = [] }) =>
    statuses.map((status) => ({ number, status })),
  );
  const sorted = Map.groupBy(
    given.flatMap(({ number, status }) => {
      const owner = [...desired].find(([, statuses]) => statuses.some((one) => isSame(status, one)))?.[0];
      return owner === undefined && !status.pending ? [] : [{ number: owner ?? number, status }];
    }),
    ({ number }) => number,
  );
  for (const notes of all.values()) {
    const statuses = sorted.get(notes.number)?.map(({ status }) => status) ?? [];
    if (statuses.length > 0) notes.statuses = statuses;
    else delete notes.statuses;
  }
}
