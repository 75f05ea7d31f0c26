/** An answer of the server, or why there is none. */
import type { ComponentChildren } from "preact";
import type { Answer } from "../api/answer.ts";
import { Away, Loading } from "./states.tsx";

/** Shows what was answered. */
export function Answered<T>({
  answer,
  refused,
  children,
}: {
  answer: Answer<T>;
  /** What is shown to whoever asked for what is not to be had. */
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
      <h2>There is no answer at the moment</h2>
      <p>{trouble?.message}</p>
      <button type="button" onClick={ask}>
        Try again
      </button>
    </div>
  );
}
