/** Objects that a field can suggest. */
import { useEffect, useState } from "preact/hooks";
import type { KubeObject, Stored } from "../../../../../bus/kube/object.ts";
import { listOf } from "../../api/objects.ts";
import type { Resource } from "../../api/resource.ts";

/** The name of the namespace may be on its way still. Milliseconds. */
const typingMillis = 300;

/** Those of a namespace, listed once: none where they may not be listed, as any name can be typed all the same. */
export function useListed<T extends KubeObject>(
  resource: Resource<T>,
  namespace: string,
): readonly Stored<T>[] {
  const [found, setFound] = useState<{ namespace: string; items: readonly Stored<T>[] }>();
  useEffect(() => {
    if (namespace === "") return;
    let isOver = false;
    const timer = setTimeout(() => {
      listOf(resource, { namespace }).then(
        (items) => !isOver && setFound({ namespace, items }),
        () => undefined,
      );
    }, typingMillis);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [resource, namespace]);
  return found?.namespace === namespace ? found.items : [];
}
