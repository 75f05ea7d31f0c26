/** Objects as suggestions for a field. */
import type { KubeObject, Stored } from "denrei/kinds";
import { useEffect, useState } from "preact/hooks";
import { listOf } from "../../api/objects.ts";
import type { Resource } from "../../api/resource.ts";

/** Wait for the user to finish typing the namespace. Milliseconds. */
const typingMillis = 300;

/** Lists the objects of a namespace once. Empty if the user may not list them; any name can be typed. */
export function useSuggestedObjects<T extends KubeObject>(
  resource: Resource<T>,
  namespace: string,
): readonly Stored<T>[] {
  const [found, setFound] = useState<{ namespace: string; items: readonly Stored<T>[] }>();
  useEffect(() => {
    if (namespace === "") return;
    let isCanceled = false;
    const timer = setTimeout(() => {
      listOf(resource, { namespace }).then(
        (items) => !isCanceled && setFound({ namespace, items }),
        () => undefined,
      );
    }, typingMillis);
    return () => {
      isCanceled = true;
      clearTimeout(timer);
    };
  }, [resource, namespace]);
  return found?.namespace === namespace ? found.items : [];
}
