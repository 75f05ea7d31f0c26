/** Ends registrations that were replaced. The status lists each one until PipeCD has deleted or disabled it. */

import {
  BlockedError,
  type Condition,
  type Context,
  type Kind,
  type KubeObject,
  type StatusFields,
  type Stored,
  withoutConditions,
} from "denrei";
import { blockedBy, PipecdError, since } from "../api/errors.ts";
import type { Caller } from "./openserver.ts";

const conditionType = "Retired";

/** Credentials for a project. The API key of an object is valid only in the object's project. */
export const callerFor = (spec: Caller, projectID: string): Caller =>
  spec.projectID === projectID
    ? spec
    : { projectID, ...(spec.insecure !== undefined && { insecure: spec.insecure }) };

/** Ends each registration and continues after a failure. Returns those that failed, and the first error. */
export async function retireAll<F>(
  former: readonly F[],
  end: (one: F) => Promise<void>,
): Promise<{ readonly left: readonly F[]; readonly error: PipecdError | BlockedError | undefined }> {
  const left: F[] = [];
  let first: PipecdError | BlockedError | undefined;
  for (const one of former)
    try {
      await end(one);
    } catch (error) {
      if (!(error instanceof PipecdError || error instanceof BlockedError)) throw error;
      left.push(one);
      first ??= error;
    }
  return { left, error: first };
}

/** The result of {@link writeRetired}. */
export interface RetireResult<T extends KubeObject> {
  /** The newest version of the object. */
  readonly object: Stored<T>;
  /** When to try again. Milliseconds. */
  readonly requeueAfter?: number;
}

type Retiring = KubeObject<
  unknown,
  | {
      readonly conditions?: readonly Condition[] | undefined;
      readonly former?: readonly object[] | undefined;
    }
  | undefined
>;

/** Writes the remaining registrations to the status, and the reason to the condition Retired. */
export async function writeRetired<T extends Retiring>(
  kind: Kind<T>,
  object: Stored<T>,
  left: readonly object[],
  error: PipecdError | BlockedError | undefined,
  ctx: Context,
): Promise<RetireResult<T>> {
  const { conditions, former = [] } = (object.status ?? {}) as NonNullable<Retiring["status"]>;
  if (error === undefined) {
    if (former.length === 0 && !conditions?.some(({ type }) => type === conditionType)) return { object };
    const status = { former: null, conditions: withoutConditions(conditions, conditionType) };
    return { object: await ctx.status(kind, object, status as StatusFields<T>) };
  }
  const { reason, message, retryAfterMillis } =
    error instanceof BlockedError
      ? error
      : blockedBy(error, since(conditions, conditionType, "False"), ctx.now());
  const latest = await ctx.status(kind, object, { former: left } as StatusFields<T>, [
    {
      type: conditionType,
      status: "False",
      reason,
      message: `PipeCD still has a registration that was replaced: ${message}`,
    },
  ]);
  return { object: latest, requeueAfter: retryAfterMillis };
}
