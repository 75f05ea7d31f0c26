/** The result or error of a request. */
import type { ComponentChildren } from "preact";
import type { Query } from "../api/query.ts";
import { Loading, NoAnswer, StaleNotice } from "./states.tsx";

export function QueryResult<T>({
  result,
  refused,
  children,
}: {
  result: Query<T>;
  /** Shown if the server refuses the request. */
  refused: (error: { readonly status: number; readonly message: string }) => ComponentChildren;
  children: (value: T) => ComponentChildren;
}) {
  const { state, value, asOf, error, reload } = result;
  if (state === "refused") return <>{refused(error ?? { status: 0, message: "" })}</>;
  if (value !== undefined)
    return (
      <div class="stack">
        {state === "away" && <StaleNotice asOf={asOf} error={error} />}
        {children(value)}
      </div>
    );
  return state === "away" ? <NoAnswer error={error} retry={reload} /> : <Loading />;
}
