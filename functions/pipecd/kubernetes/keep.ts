/** Objects that are kept for an object of PipeCD's. */
import { isDeepStrictEqual } from "node:util";
import { refusalReasonOf } from "../../../bus/kube/blocker.ts";
import type { Kind } from "../../../bus/kube/kind.ts";
import { controllerOf, type KubeObject, type ObjectMeta, type Stored } from "../../../bus/kube/object.ts";
import { Service } from "../../../bus/kube/workloads.ts";
import { BlockedError } from "../../../bus/worker/errors.ts";
import type { Context, NewChild } from "../../../bus/worker/function.ts";
import { patience } from "../pace.ts";

/** An object that is wanted. */
export interface Child {
  readonly kind: Kind;
  readonly name: string;
  readonly labels?: ObjectMeta["labels"];
  readonly annotations?: ObjectMeta["annotations"];
  /** All of it but what its kind and its metadata are. */
  readonly content: Readonly<Record<string, unknown>>;
}

/** Brings one to what is wanted. Throws a `BlockedError` when the API server refuses it. */
export async function keep(
  { kind, name, labels, annotations, content }: Child,
  ctx: Context,
): Promise<Stored> {
  const metadata = { name, ...(labels && { labels }), ...(annotations && { annotations }) };
  const object = { ...content, metadata } as unknown as NewChild<KubeObject>;
  try {
    await makeWay(kind, name, content, ctx);
    return await ctx.apply(kind, object);
  } catch (error) {
    throw refused(kind, name, error);
  }
}

/** What applying can not change is taken out of its way. */
async function makeWay(kind: Kind, name: string, { spec }: Child["content"], ctx: Context): Promise<void> {
  const isService = kind === Service;
  if (kind.group !== "apps" && !isService) return;
  const found = await ctx.read.get(kind, name);
  if (found === undefined || controllerOf(found)?.name !== ctx.key.name) return;
  if (!isDeepStrictEqual(fixedIn(found.spec), fixedIn(spec))) await ctx.delete(kind, found);
  else if (isService) await makeWayForPorts(found, portsOf(spec), ctx);
}

/**
 * What can not be changed: the selector of a workload, and whether a Service has an address. One of ours that has another
 * (made by pipecd-operator, or for another version of PipeCD) is made anew; pods go with their workload.
 */
function fixedIn(spec: unknown): unknown {
  const { selector, clusterIP } = (spec ?? {}) as { selector?: { matchLabels?: object }; clusterIP?: string };
  return [selector?.matchLabels, clusterIP === "None"];
}

/**
 * Applying tells ports apart by their numbers, and the API server by their names as well: one of ours to which somebody has
 * given another number would be there twice, and is refused.
 */
async function makeWayForPorts(found: Stored, wanted: readonly Port[], ctx: Context): Promise<void> {
  const isMoved = portsOf(found.spec).some((port) =>
    wanted.some(({ name, port: number }) => name === port.name && number !== port.port),
  );
  if (isMoved) await ctx.patch(Service, found, { spec: { ports: wanted } });
}

interface Port {
  readonly name?: string;
  readonly port: number;
}
const portsOf = (spec: unknown): readonly Port[] =>
  (spec as { ports?: readonly Port[] } | undefined)?.ports ?? [];

/** What the API server refuses, as the object's owner reads it. */
export function refused({ kind }: Kind, name: string, error: unknown): unknown {
  const reason = refusalReasonOf(error);
  if (reason === undefined) return error;
  return new BlockedError(
    reason,
    `the API server refuses the ${kind} ${name}: ${(error as Error).message}`,
    patience,
    { cause: error },
  );
}
