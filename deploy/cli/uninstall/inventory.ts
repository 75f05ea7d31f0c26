/** The inventory of a project in a cluster: objects of its kinds, and its finalizers on objects of other kinds. */
import type { Kind, KubeObject } from "denrei/kinds";
import { type FoundObject, type KubeClient, objectsOf, servedKinds } from "denrei/kubernetes";
import { definedKinds, type ReconcileFunction } from "denrei/runtime";

/** The kinds and finalizers of a project, the same in every cluster. */
export interface Claim {
  /** Names of its functions. */
  readonly functions: readonly string[];
  /** Kinds that it defines. */
  readonly kinds: readonly Kind[];
  /** Kinds of others, whose objects its functions finalize. */
  readonly others: readonly Kind[];
  /** Names of functions, by their finalizers. */
  readonly finalizers: ReadonlyMap<string, string>;
}

/** Objects of a project in one cluster. */
export interface Inventory {
  /** All objects of the project's kinds. */
  readonly own: readonly FoundObject[];
  /** Objects of other kinds with a finalizer of the project. */
  readonly others: readonly FoundObject[];
  /** Kinds that the user may not list. */
  readonly unseen: readonly string[];
}

const isSame = (one: Kind, other: Kind): boolean => one.group === other.group && one.plural === other.plural;

/** The kinds and finalizers of a project with these functions. */
export function claimOf(functions: readonly ReconcileFunction[]): Claim {
  const kinds = definedKinds(functions);
  const finalizing = functions.filter(({ finalizer }) => finalizer !== undefined);
  return {
    functions: functions.map(({ name }) => name),
    kinds,
    others: finalizing.map((fn) => fn.for).filter((kind) => !kinds.some((defined) => isSame(defined, kind))),
    finalizers: new Map(finalizing.map(({ name, finalizer = "" }) => [finalizer, name])),
  };
}

/** The project's finalizers on an object. */
export const finalizersOf = ({ metadata }: KubeObject, { finalizers }: Claim): string[] =>
  (metadata.finalizers ?? []).filter((one) => finalizers.has(one));

/** Whether an object has a finalizer of the project. */
export const isFinalized = (object: KubeObject, claim: Claim): boolean =>
  finalizersOf(object, claim).length > 0;

/** Lists what the cluster has, in the versions that it serves. */
export async function takeInventory(client: KubeClient, claim: Claim): Promise<Inventory> {
  const served = await servedKinds(client);
  const among = (kinds: readonly Kind[]) => served.filter((one) => kinds.some((kind) => isSame(kind, one)));
  const own = await objectsOf(client, among(claim.kinds));
  const others = await objectsOf(client, among(claim.others), (object) => isFinalized(object, claim));
  return {
    own: own.found,
    others: others.found,
    unseen: [...own.unseen, ...others.unseen],
  };
}
