/** Kubernetes Events that replicas record on objects. */
import { externalKind, type KubeObject } from "denrei/kinds";
import type { Steps } from "./steps.ts";

/** The fields of an Event that the demos read. */
export interface EventObject extends KubeObject {
  readonly note?: string;
  readonly eventTime?: string;
  readonly reportingInstance?: string;
  readonly regarding?: { readonly name?: string; readonly uid?: string; readonly resourceVersion?: string };
}

export const Event = externalKind<EventObject>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
});

/** An action of a replica. */
export interface Action {
  /** Name of the replica. */
  readonly actor: string;
  /** Name of the object. */
  readonly object: string;
  readonly note: string;
}

/** The action that an Event reports. */
export const actionOf = ({ regarding, reportingInstance: actor = "", note = "" }: EventObject): Action => ({
  actor,
  object: regarding?.name ?? "",
  note,
});

/** UIDs of Events that were returned before. */
const returned = new Set<string>();

/** New actions of the demo's replicas in the namespace, oldest first. Returns each action once. */
export async function newActions(
  { environment, namespace, signal }: Steps,
  isSelected: (action: Action) => boolean,
): Promise<readonly Action[]> {
  const replicas = new Set(environment.replicas.map((replica) => replica.name));
  const { items } = await environment.client.list(Event, namespace, undefined, signal);
  return items
    .sort((a, b) => ((a.eventTime ?? "") < (b.eventTime ?? "") ? -1 : 1))
    .flatMap((event) => {
      const { uid } = event.metadata;
      const action = actionOf(event);
      if (!replicas.has(action.actor) || returned.has(uid) || !isSelected(action)) return [];
      returned.add(uid);
      return [action];
    });
}
