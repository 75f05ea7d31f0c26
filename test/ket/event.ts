/** Events of Kubernetes. */
import { externalKind, type KubeObject } from "denrei/kinds";

/** A Kubernetes Event. */
export interface EventObject extends KubeObject {
  readonly reason: string;
  readonly note: string;
  readonly type: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}

/** Kubernetes Events. */
export const Event = externalKind<EventObject>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
});
