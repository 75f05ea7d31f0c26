/** The result or error of a request. */
import type { ComponentChildren } from "preact";
import type { Answer } from "../api/query.ts";
import { Away, Loading } from "./states.tsx";

export function Answered<T>({
  answer,
  refused,
  children,
}: {
  answer: Answer<T>;
  /** Shown if the server refuses the request. */
  refused: (trouble: { readonly status: number; readonly message: string }) => ComponentChildren;
  children: (value: T) => ComponentChildren;
}) {
  const { state, value, trouble, ask } = answer;
  if (state === "refused") return <>{refused(trouble ?? { status: 0, message: "" })}</>;
  if (value !== undefined)
    return (
      <div class="stack">
        {state === "away" && <Away message={trouble?.message} />}
        {children(value)}
      </div>
    );
  if (state !== "away") return <Loading />;
  return (
    <div role="alert" class="empty">
      <h2>The server does not respond</h2>
      <p>{trouble?.message}</p>
      <button type="button" onClick={ask}>
        Try again
      </button>
    </div>
  );
}
