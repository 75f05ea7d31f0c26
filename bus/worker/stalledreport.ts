/** Reports on the object, in its conditions, why the platform makes no progress on it. */

import { isDeepStrictEqual } from "node:util";
import type { KubeClient } from "../kube/client.ts";
import { type ConditionUpdate, withConditions } from "../kube/conditions.ts";
import { isConflict, isNotFound } from "../kube/errors.ts";
import type { Condition, KubeObject, Stored } from "../kube/object.ts";
import type { ObjectKey } from "../subjects.ts";
import { redacted } from "../values/redact.ts";
import type { ReconcileFunction } from "./function.ts";
import { isReadyOfPlatform, keepsConditions, ready, stalled } from "./platformconditions.ts";
import { mergePatched } from "./writes.ts";

/** The content of the `Stalled` condition. The reason is one CamelCase word. */
export interface StalledReport {
  readonly reason: string;
  readonly message: string;
  /**
   * `stalled-and-not-ready` if the object makes no progress without an intervention: then `Ready` becomes False. `stalled` if a
   * retry may succeed: then a `Ready` of True becomes Unknown.
   */
  readonly severity: "stalled" | "stalled-and-not-ready";
  /** Time limit of the report, in milliseconds. Default: none. */
  readonly limitMillis?: number | undefined;
}

const messageLimit = 2000;

/**
 * The update of `Ready`, which must not be True beside `Stalled`. An Unknown that an earlier report has written follows this one;
 * the function's own False or Unknown stays.
 */
export function readyBeside(
  before: readonly Condition[] = [],
  { severity, reason, message }: StalledReport,
): readonly ConditionUpdate[] {
  if (severity === "stalled-and-not-ready") return [{ type: ready, status: "False", reason, message }];
  const current = before.find(({ type }) => type === ready);
  const isTrueOrOurs = current?.status === "True" || isReadyOfPlatform(before);
  return isTrueOrOurs ? [{ type: ready, status: "Unknown", reason, message }] : [];
}

/** Sets `Stalled` (and `Ready`) on the object, if its kind has conditions. No write if nothing changes. */
export async function reportStalled(
  client: KubeClient,
  fn: ReconcileFunction,
  key: ObjectKey,
  report: StalledReport,
  context: {
    readonly traceparent: string;
    /** Called before the write, with the version that the condition will replace: later reads may never see this version. */
    onRead(object: Stored): Promise<void>;
    assertOwned(): void;
    now(): number;
    onWrite(object: Stored): void;
    /** Called with the object after the condition has changed. */
    onReported(object: Stored): void;
  },
): Promise<void> {
  if (!keepsConditions(fn)) return;
  const message = redacted(report.message).slice(0, messageLimit);
  const { reason, limitMillis } = report;
  const signal = limitMillis === undefined ? undefined : AbortSignal.timeout(limitMillis);
  for (let tries = 0; ; tries++) {
    try {
      const object = await client.get(fn.for, key, signal);
      const { generation } = object.metadata;
      const before = (object as KubeObject<unknown, { conditions?: Condition[] }>).status ?? {};
      const conditions = withConditions(
        before.conditions,
        [
          ...readyBeside(before.conditions, { ...report, message }),
          { type: stalled, status: "True", reason, message },
        ],
        { generation, now: new Date(context.now()) },
      );
      if (isDeepStrictEqual(mergePatched(before, { conditions }), before)) return;
      await context.onRead(object);
      context.assertOwned();
      const { resourceVersion } = object.metadata;
      const patch = { metadata: { resourceVersion }, status: { conditions } };
      const { fieldManager } = fn;
      const written = await client.mergePatch(fn.for, key, patch, {
        fieldManager,
        subresource: "status",
        traceparent: context.traceparent,
        signal,
      });
      context.onWrite(written);
      context.onReported(written);
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || tries >= 3) throw error;
    }
  }
}
