/** What another one has replaced at PipeCD goes last, and is remembered in the status until PipeCD has ended it. */
import { withoutConditions } from "../../../bus/kube/conditions.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import type { Condition, KubeObject, Stored } from "../../../bus/kube/object.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context } from "../../../bus/worker/function.ts";
import { blockedBy, PipecdError, since } from "../api/errors.ts";
import type { Caller } from "./open.ts";

const conditionType = "Retired";

/** Who talks to a project. An API key is good for the project of the object alone. */
export const callerFor = (spec: Caller, projectID: string): Caller =>
  spec.projectID === projectID
    ? spec
    : { projectID, ...(spec.insecure !== undefined && { insecure: spec.insecure }) };

/** Ends each; returns those that are left, and the first error. One that cannot be ended does not keep the others. */
export async function retiring<F>(
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

/** What has come of it. */
export interface Retired<T extends KubeObject> {
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

/** Writes what is left to the status, and why. */
export async function retired<T extends Retiring>(
  kind: Kind<T>,
  object: Stored<T>,
  left: readonly object[],
  error: PipecdError | BlockedError | undefined,
  ctx: Context,
): Promise<Retired<T>> {
  const { conditions, former = [] } = (object.status ?? {}) as NonNullable<Retiring["status"]>;
  if (error === undefined) {
    if (former.length === 0 && !conditions?.some(({ type }) => type === conditionType)) return { object };
    // A merge patch removes what is null.
    const status = { former: null, conditions: withoutConditions(conditions, conditionType) };
    return { object: await ctx.status(kind, object, status as object) };
  }
  const { reason, message, retryAfterMillis } =
    error instanceof BlockedError
      ? error
      : blockedBy(error, since(conditions, conditionType, "False"), ctx.now());
  const latest = await ctx.status(kind, object, { former: left } as object, [
    {
      type: conditionType,
      status: "False",
      reason,
      message: `PipeCD is still to end what this object has replaced: ${message}`,
    },
  ]);
  return { object: latest, requeueAfter: retryAfterMillis };
}
