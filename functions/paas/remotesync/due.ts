/** When GitHub is to be asked. What becomes of builds and applications is no reason to. Pure. */
import type { Condition, Stored } from "../../../bus/kube/object.ts";
import type { Cause } from "../../../bus/queue/request.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { annotations } from "../names.ts";
import { sourceText } from "./source.ts";

/** Reasons that pass by themselves. */
export const passing: ReadonlySet<string> = new Set(["GitHubUnreachable", "RateLimited"]);
/** Reasons that are answers of GitHub: no other token gets another one. */
const answers: ReadonlySet<string> = new Set(["MergeConflict", "PullRequestClosed"]);
/** Reasons of a condition that is about something else: GitHub was not asked. */
const unasked: ReadonlySet<string> = new Set(["Waiting", "SiteConfigInvalid"]);

/** What was found out before, when it need not be found out again. */
export interface Standing extends Pick<Condition, "status" | "reason" | "message"> {
  /** Somebody has to change something. */
  readonly stands: boolean;
}

/** Milliseconds until GitHub is to be asked again, if that is planned: 0 when it is time. */
export function waitMillis({ status }: Pick<RemoteSync, "status">, now: number): number | undefined {
  const at = Date.parse(status?.askAgainAt ?? "");
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Whether GitHub is to be asked; if not, what it came to before. `now`: milliseconds since the epoch. */
export function verdictOf(sync: Stored<RemoteSync>, causes: readonly Cause[], now: number): "due" | Standing {
  const { metadata, status, spec } = sync;
  const before = status?.conditions?.find(({ type }) => type === "SourceResolved");
  if (before === undefined || unasked.has(before.reason)) return "due";
  if (status?.observedGeneration !== metadata.generation) return "due";
  if (status?.source !== sourceText({ spec })) return "due";
  if ((metadata.annotations?.[annotations.refreshedAt] ?? "") !== (status.refreshedAt ?? "")) return "due";
  // Asked once for each: GitHub may have said something else meanwhile.
  const head = metadata.annotations?.[annotations.headSHA];
  if (head !== undefined && head !== status.headSHA && head !== status.askedHeadSHA) return "due";
  if (causes.some(({ type }) => type === "webhook" || type === "replay")) return "due";
  const wait = waitMillis(sync, now);
  if (wait === 0) return "due";
  // What is planned is not done before its time: GitHub may have asked for that.
  if (wait === undefined && causes.some(({ type }) => type === "timer")) return "due";
  const stands = before.status === "False" && !answers.has(before.reason);
  const hasNewToken = causes.some(
    (cause) => cause.type === "object" && ["Secret", "Installation"].includes(cause.kind),
  );
  return stands && hasNewToken ? "due" : { ...before, stands };
}
