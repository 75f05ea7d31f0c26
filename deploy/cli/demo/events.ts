/** What replicas have said on objects that they did: as Kubernetes Events. */
import { externalKind } from "../../../bus/kube/kind.ts";
import type { KubeObject } from "../../../bus/kube/object.ts";
import type { Play } from "./story.ts";

interface EventObject extends KubeObject {
  readonly note?: string;
  readonly eventTime?: string;
  readonly reportingInstance?: string;
  readonly regarding?: { readonly name?: string };
}

const Event = externalKind<EventObject>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
});

/** Something that was done. */
export interface Deed {
  /** A replica. */
  readonly by: string;
  readonly note: string;
}

const told = new Set<string>();

/** What replicas of the stage have done with objects of a name, in its order; each is told once. */
export async function eventsAbout(
  { stage, namespace, signal }: Play,
  name: string,
): Promise<readonly Deed[]> {
  const replicas = new Set(stage.replicas.map((replica) => replica.name));
  const { items } = await stage.client.list(Event, namespace, undefined, signal);
  return items
    .filter(
      ({ metadata: { uid }, regarding, reportingInstance = "" }) =>
        regarding?.name === name && replicas.has(reportingInstance) && !told.has(uid),
    )
    .sort((a, b) => ((a.eventTime ?? "") < (b.eventTime ?? "") ? -1 : 1))
    .map(({ metadata: { uid }, reportingInstance = "", note = "" }) => {
      told.add(uid);
      return { by: reportingInstance, note };
    });
}
