/** What is shown where there is nothing to show: not yet, not at all, not to this user, or not at the moment. */
import type { ComponentChildren } from "preact";
import type { KubeObject, Stored } from "../../../../bus/kube/object.ts";
import type { Watched } from "../api/watch.ts";

/** Shows a list's objects, or why there are none. */
export function Loaded<T extends KubeObject>({
  watched,
  empty,
  children,
}: {
  watched: Watched<T>;
  /** What to do where there are none. */
  empty: ComponentChildren;
  children: (items: readonly Stored<T>[]) => ComponentChildren;
}) {
  const { state, items, trouble } = watched;
  if (state === "refused")
    return <Refused status={trouble?.status ?? 403} message={trouble?.message ?? ""} />;
  return (
    <>
      {state === "away" && (
        <p role="status" class="notice warn">
          Not live at the moment: {trouble?.message} What is shown is as it was.
        </p>
      )}
      {state === "loading" ? (
        <p role="status" class="loading">
          Loading…
        </p>
      ) : items.length === 0 ? (
        <div class="empty">{empty}</div>
      ) : (
        children(items)
      )}
    </>
  );
}

/** The API server says no. */
export function Refused({ status, message }: { status: number; message: string }) {
  return (
    <div role="alert" class="empty">
      <h2>{status === 403 ? "You may not see this" : "There is nothing of this kind"}</h2>
      <p>
        {status === 403
          ? "Choose a namespace that you have a role in, or ask whoever administers the cluster for one."
          : "The cluster does not know this kind: its definition is not installed."}
      </p>
      <p class="detail">{message}</p>
    </div>
  );
}

/** An address of no screen. */
export function NotFound() {
  return (
    <div class="empty">
      <h1>There is no such page</h1>
      <a href="/applications">Applications</a>
    </div>
  );
}
