/** Names of Secrets and ConfigMaps as suggestions. The server gives the page nothing else of them. */
import { useEffect, useState } from "preact/hooks";
import { request } from "../../api/session.ts";

/** Kinds whose names can be suggested. */
export type NamedKind = "secrets" | "configmaps";

/** Wait for the user to finish typing the namespace. Milliseconds. */
const typingMillis = 300;

/**
 * The names in a namespace, of the wanted kinds. Empty while they load, and if the user may not list them; any name can be typed.
 */
export function useNames(
  wanted: readonly (NamedKind | undefined)[],
  namespace: string,
): Readonly<Record<NamedKind, readonly string[]>> {
  return {
    secrets: useNamesOf("secrets", wanted.includes("secrets") ? namespace : ""),
    configmaps: useNamesOf("configmaps", wanted.includes("configmaps") ? namespace : ""),
  };
}

function useNamesOf(kind: NamedKind, namespace: string): readonly string[] {
  const [found, setFound] = useState<{ readonly namespace: string; readonly names: readonly string[] }>();
  useEffect(() => {
    if (namespace === "") return;
    const over = new AbortController();
    const timer = setTimeout(() => {
      const query = new URLSearchParams({ of: kind, namespace });
      request<{ names: readonly string[] }>(`/api/names?${query}`, { signal: over.signal }).then(
        ({ names }) => setFound({ namespace, names }),
        () => undefined,
      );
    }, typingMillis);
    return () => {
      clearTimeout(timer);
      over.abort();
    };
  }, [kind, namespace]);
  return found?.namespace === namespace ? found.names : [];
}
