/** Handles failed Builds: records the failure, and retries Builds that failed for reasons other than the code. */
import { type Context, redactorOf, type Stored } from "denrei";
import { timeText } from "denrei/kinds";
import { type Build, Build as BuildKind } from "../kinds/kpack.ts";
import type { RemoteSync } from "../kinds/remotesync.ts";
import { kpack } from "../names.ts";
import { type Failure, failureOf, type Outcome } from "./builds.ts";
import { writeToKpack } from "./kpackwrite.ts";
import { checkSecrets, secretValuesOf } from "./secrets.ts";
import type { Progress } from "./status.ts";

type Sync = Stored<RemoteSync>;

/** kpack orders Builds by creation time, which has whole seconds. Milliseconds. */
const minGapMillis = 2000;
const firstRetryMillis = 10_000;
const longestRetryMillis = 600_000;
const logLines = 50;
const longestLog = 16_000;

/**
 * Retries a Build that never got a pod, with growing pauses. Throws a `BlockedError` when a required Secret is missing: without it,
 * the Build would fail again.
 */
export async function retry(
  sync: Sync,
  { newest, canBeRetried }: Outcome,
  ctx: Context,
  progress: Progress,
): Promise<void> {
  if (newest === undefined || !canBeRetried) return;
  const retries = progress.status.retries === null ? 0 : (sync.status?.retries ?? 0);
  const left = pauseMillis(retries, Date.parse(newest.metadata.creationTimestamp ?? ""), ctx.now());
  if (left > 0) {
    progress.delays.push(left);
    return;
  }
  await checkSecrets(sync, ctx);
  progress.status.retries = retries + 1;
  const metadata = { annotations: { [kpack.rebuild]: new Date(ctx.now()).toISOString() } };
  await writeToKpack(() => ctx.patch(BuildKind, newest, { metadata }));
}

/** Milliseconds until a Build that was created `at` may be retried; 0 when it may. A clock that is behind must not delay it further. */
export function pauseMillis(retries: number, at: number, now: number): number {
  const pause =
    retries === 0 ? minGapMillis : Math.min(longestRetryMillis, firstRetryMillis * 2 ** (retries - 1));
  return Math.min(pause, Math.max(0, pause + minGapMillis - (now - at)));
}

/**
 * Records a failure in the status, with the end of the log, because Builds and their pods are deleted later. Returns it without
 * the build's credentials. Reads the Build from the API server, because the bus does not have messages of builds. `reason`:
 * reason of the Event.
 */
export async function noteFailure(
  sync: Sync,
  known: Stored<Build>,
  reason: "BuildFailed" | "RebuildFailed",
  ctx: Context,
  progress: Progress,
): Promise<Failure> {
  const { name, uid } = known.metadata;
  const before = sync.status?.lastFailure;
  if (before?.uid === uid) return { message: before.message, step: before.step };
  const found = await ctx.live.get(BuildKind, name);
  const failed = found?.metadata.uid === uid ? found : known;
  const redact = redactorOf(await secretValuesOf(sync, ctx));
  const { step, ...printed } = failureOf(failed);
  const message = redact(printed.message);
  const pod = failed.status?.podName;
  const log =
    pod !== undefined && step !== undefined
      ? await ctx.live.podLog(pod, { container: step, lines: logLines })
      : undefined;
  const facts = {
    build: name,
    uid,
    revision: failed.spec.source?.git?.revision ?? "",
    message,
    time: timeText(ctx.now()),
    // Null removes the step of the previous failure.
    step: step ?? null,
    // Redact before cutting: half a credential would not be recognized.
    log: log ? redact(log).slice(-longestLog) : null,
  };
  progress.status.lastFailure = facts;
  ctx.event("Warning", reason, `${name}${step ? ` in the step ${step}` : ""}: ${message}`.slice(0, 1000));
  return { message, step };
}
