import type { KubeObject } from "../../../../bus/kube/object.ts";
import type { Watched } from "../api/watch.ts";

/** Several lists as one. It is refused, loading, or away if one of them is. */
export function together<T extends KubeObject>(lists: readonly Watched<T>[]): Watched<T> {
  const of = (state: Watched["state"]) => lists.find((list) => list.state === state);
  const worst = of("refused") ?? of("loading") ?? of("away");
  return {
    state: worst?.state ?? "live",
    items: lists.flatMap(({ items }) => items),
    trouble: worst?.trouble,
  };
}
