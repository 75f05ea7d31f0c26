/** Decides when to ask GitHub. Changes of builds and Applications do not require it. Pure. */
import type { Cause, Condition, Stored } from "denrei";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { annotations } from "../names.ts";
import { sourceText } from "./source.ts";

/** Transient reasons: no user has to act. */
export const transientReasons: ReadonlySet<string> = new Set(["GitHubUnreachable", "RateLimited"]);
/** Reasons that another token would not change. */
const answers: ReadonlySet<string> = new Set(["MergeConflict", "PullRequestClosed"]);
/** Reasons of a condition that did not come from GitHub. */
const unasked: ReadonlySet<string> = new Set(["Waiting", "SiteConfigInvalid"]);

/** The previous result, when GitHub need not be asked again. */
export interface PreviousResult extends Pick<Condition, "status" | "reason" | "message"> {
  /** Whether a user has to change something. */
  readonly stands: boolean;
}

/** Milliseconds until the planned request to GitHub, 0 when it is due; undefined if none is planned. */
export function waitMillis({ status }: Pick<RemoteSync, "status">, now: number): number | undefined {
  const at = Date.parse(status?.retryAt ?? "");
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Whether to ask GitHub; if not, returns the previous result. `now`: milliseconds since the epoch. */
export function verdictOf(
  sync: Stored<RemoteSync>,
  causes: readonly Cause[],
  now: number,
): "due" | PreviousResult {
  const { metadata, status, spec } = sync;
  const before = status?.conditions?.find(({ type }) => type === "SourceResolved");
  if (before === undefined || unasked.has(before.reason)) return "due";
  if (status?.observedGeneration !== metadata.generation) return "due";
  if (status?.source !== sourceText({ spec })) return "due";
  if ((metadata.annotations?.[annotations.refreshedAt] ?? "") !== (status.refreshedAt ?? "")) return "due";
  // Ask once per annotation value: GitHub may have reported another commit in the meantime.
  const head = metadata.annotations?.[annotations.headSHA];
  if (head !== undefined && head !== status.headSHA && head !== status.askedHeadSHA) return "due";
  if (causes.some(({ type }) => type === "webhook" || type === "replay")) return "due";
  const wait = waitMillis(sync, now);
  if (wait === 0) return "due";
  // Do not ask before the planned time: GitHub may have requested the delay.
  if (wait === undefined && causes.some(({ type }) => type === "timer")) return "due";
  const stands = before.status === "False" && !answers.has(before.reason);
  const hasNewToken = causes.some(
    (cause) => cause.type === "object" && ["Secret", "Installation"].includes(cause.kind),
  );
  return stands && hasNewToken ? "due" : { ...before, stands };
}
