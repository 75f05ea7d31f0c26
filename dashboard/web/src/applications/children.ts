/** The objects of an Application that the page may read. */
import type { Application } from "@denrei/functions/paas/kinds";
import { controllerOf, type KubeObject, type Stored } from "denrei/kinds";
import {
  apiVersionOf,
  deployments,
  type Resource,
  type Scope,
  services,
  statefulSets,
} from "../api/resource.ts";

type App = Stored<Application>;

/** An entry of the inventory in the status. */
export type InventoryEntry = NonNullable<NonNullable<Application["status"]>["resources"]>[number];

const readable: readonly Resource[] = [deployments, statefulSets, services];

/**
 * The lists of objects with the Application's name, which the built-in chart gives them. By name: a namespace may have a thousand
 * Deployments. The same lists for every state of the Application, because other lists would open the page's stream again.
 */
export const childSelections = (namespace: string, name: string) =>
  readable.map((resource): readonly [Resource, Scope] => [
    resource,
    { namespace, fieldSelector: `metadata.name=${name}` },
  ]);

/** A list: the part of `Watched` that is in use, without the page's code, so that unit tests need no browser. */
interface ChildList {
  readonly state: "loading" | "live" | "refused" | "away";
  readonly items: readonly Stored[];
  readonly asOf?: number | undefined;
}

/** A child of an Application, and the list that holds it. Without a list, the page does not read the child. */
export interface Child {
  readonly entry: InventoryEntry;
  readonly watched?: ChildList | undefined;
  readonly object?: Stored | undefined;
}

/** The children in the order of the inventory. `lists` are those of {@link childSelections}. */
export function childrenOf(app: App, lists: readonly ChildList[]): readonly Child[] {
  return (app.status?.resources ?? []).map((entry) => {
    const at = readable.findIndex((resource) => isOf(resource, entry));
    const watched = entry.name === app.metadata.name ? lists[at] : undefined;
    return { entry, watched, object: watched?.items.find((object) => isChild(app, object)) };
  });
}

const isOf = (resource: Resource, { apiVersion, kind }: InventoryEntry): boolean =>
  resource.kind === kind && apiVersionOf(resource) === apiVersion;

const isChild = ({ metadata }: App, object: KubeObject): boolean =>
  controllerOf(object)?.uid === metadata.uid;
