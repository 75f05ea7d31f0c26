/** What replicas have said on objects that they did: as Kubernetes Events. */
import { externalKind } from "../../../bus/kube/kind.ts";
import type { KubeObject } from "../../../bus/kube/object.ts";
import type { Steps } from "./story.ts";

/** An Event, as far as it is looked at. */
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

/** Something that was done. */
export interface Deed {
  /** A replica. */
  readonly by: string;
  /** Name of the object. */
  readonly about: string;
  readonly note: string;
}

/** What an Event tells, and who has done it. */
export const deedOf = ({ regarding, reportingInstance: by = "", note = "" }: EventObject): Deed => ({
  by,
  about: regarding?.name ?? "",
  note,
});

const told = new Set<string>();

/** What replicas of the stage have done with objects of the namespace, in its order; each is told once. */
export async function deeds(
  { environment: stage, namespace, signal }: Steps,
  isWanted: (deed: Deed) => boolean,
): Promise<readonly Deed[]> {
  const replicas = new Set(stage.replicas.map((replica) => replica.name));
  const { items } = await stage.client.list(Event, namespace, undefined, signal);
  return items
    .sort((a, b) => ((a.eventTime ?? "") < (b.eventTime ?? "") ? -1 : 1))
    .flatMap((event) => {
      const { uid } = event.metadata;
      const deed = deedOf(event);
      if (!replicas.has(deed.by) || told.has(uid) || !isWanted(deed)) return [];
      told.add(uid);
      return [deed];
    });
}
