/** State in the query of the address, so that a link, a reload, and Back restore it. */
import { useCallback } from "preact/hooks";
import { useLocation } from "preact-iso";

/** The current address with other query parameters. Undefined and empty values remove theirs. */
export function withQuery(changes: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  return url.pathname + url.search;
}

/** A query parameter and its setter, which replaces the current history entry. Empty if the address does not have it. */
export function useUrlState(name: string): readonly [string, (value: string | undefined) => void] {
  const { query, route } = useLocation();
  const set = useCallback(
    (value: string | undefined) => route(withQuery({ [name]: value }), true),
    [name, route],
  );
  return [query[name] ?? "", set];
}
