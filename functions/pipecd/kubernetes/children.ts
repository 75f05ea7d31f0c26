/** Applies child objects. */
import { isDeepStrictEqual } from "node:util";
import {
  blockedByRefusal,
  type Context,
  controllerOf,
  type Kind,
  type KubeObject,
  type NewChild,
  type ObjectMeta,
  Service,
  type Stored,
} from "denrei";
import { retryMillis } from "../intervals.ts";

/** A desired child object. */
export interface Child {
  readonly kind: Kind;
  readonly name: string;
  readonly labels?: ObjectMeta["labels"];
  readonly annotations?: ObjectMeta["annotations"];
  /** All fields except apiVersion, kind, and metadata. */
  readonly content: Readonly<Record<string, unknown>>;
}

/** Creates or updates a child object. Throws a `BlockedError` if the API server rejects it. */
export async function applyChild(
  { kind, name, labels, annotations, content }: Child,
  ctx: Context,
): Promise<Stored> {
  const metadata = { name, ...(labels && { labels }), ...(annotations && { annotations }) };
  const object = { ...content, metadata } as unknown as NewChild<KubeObject>;
  try {
    await removeConflict(kind, name, content, ctx);
    return await ctx.apply(kind, object);
  } catch (error) {
    throw blockedByRefusal(error, (reason, message) => ({
      reason,
      message: `Kubernetes rejected the ${kind.kind} ${name}: ${message}`,
      retryAfterMillis: retryMillis,
    }));
  }
}

/** Deletes or patches an existing object that an apply cannot change. */
async function removeConflict(
  kind: Kind,
  name: string,
  { spec }: Child["content"],
  ctx: Context,
): Promise<void> {
  const isService = kind === Service;
  if (kind.group !== "apps" && !isService) return;
  const found = await ctx.read.get(kind, name);
  if (found === undefined || controllerOf(found)?.name !== ctx.key.name) return;
  if (!isDeepStrictEqual(immutableFields(found.spec), immutableFields(spec))) await ctx.delete(kind, found);
  else if (isService) await replacePorts(found, portsOf(spec), ctx);
}

/**
 * Immutable fields: the selector of a workload, and whether a Service is headless. A child with other values (from pipecd-operator
 * or for another version of PipeCD) is deleted and created again, together with its pods.
 */
function immutableFields(spec: unknown): unknown {
  const { selector, clusterIP } = (spec ?? {}) as { selector?: { matchLabels?: object }; clusterIP?: string };
  return [selector?.matchLabels, clusterIP === "None"];
}

/**
 * Server-side apply merges ports by number, but port names must be unique. If a user has changed a port's number, an apply would add
 * the port a second time, and the API server would reject it.
 */
async function replacePorts(found: Stored, desired: readonly Port[], ctx: Context): Promise<void> {
  const isMoved = portsOf(found.spec).some((port) =>
    desired.some(({ name, port: number }) => name === port.name && number !== port.port),
  );
  if (isMoved) await ctx.patch(Service, found, { spec: { ports: desired } });
}

interface Port {
  readonly name?: string;
  readonly port: number;
}
const portsOf = (spec: unknown): readonly Port[] =>
  (spec as { ports?: readonly Port[] } | undefined)?.ports ?? [];
