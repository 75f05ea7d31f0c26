/** The result or error of a request. */
import type { ComponentChildren } from "preact";
import type { Query } from "../api/query.ts";
import { Loading, StaleNotice } from "./states.tsx";

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
  const { state, value, error, reload } = result;
  if (state === "refused") return <>{refused(error ?? { status: 0, message: "" })}</>;
  if (value !== undefined)
    return (
      <div class="stack">
        {state === "away" && <StaleNotice message={error?.message} />}
        {children(value)}
      </div>
    );
  if (state !== "away") return <Loading />;
  return (
    <div role="alert" class="empty">
      <h2>The server does not respond</h2>
      <p>{error?.message}</p>
      <button type="button" onClick={reload}>
        Try again
      </button>
    </div>
  );
}
