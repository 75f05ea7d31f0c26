/** What is shown where there is nothing to show: not yet, not at all, not to this user, or not at the moment. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { KubeObject, Stored } from "../../../../bus/kube/object.ts";
import type { Watched } from "../api/watch.ts";
import { chooseNamespace, namespace } from "./namespace.tsx";

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
  if (state === "loading") return <Loading />;
  return (
    <div class="stack">
      {state === "away" && <Away message={trouble?.message} />}
      {items.length === 0 ? <div class="empty">{empty}</div> : children(items)}
    </div>
  );
}

/** Something is on its way. */
export function Loading() {
  return (
    <p role="status" class="loading">
      Loading…
    </p>
  );
}

/** What is shown may be old. */
export function Away({ message = "" }: { message?: string | undefined }) {
  return (
    <p role="status" class="notice busy">
      Not live at the moment; what is shown is as it was. {message}
    </p>
  );
}

/** The API server says no. */
export function Refused({ status, message }: { status: number; message: string }) {
  if (status === 404) {
    return (
      <div role="alert" class="empty">
        <h2>The cluster does not know this kind</h2>
        <p>
          Its definition is not installed. Whoever administers the cluster can:{" "}
          <code>denrei crds | kubectl apply -f -</code>
        </p>
        <p class="detail">{message}</p>
      </div>
    );
  }
  return (
    <div role="alert" class="empty">
      <h2>You may not see this{namespace.value === "" ? " in all namespaces" : ` in ${namespace.value}`}</h2>
      <p>Name a namespace that you have a role in, or ask whoever administers the cluster for one.</p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          chooseNamespace(String(new FormData(event.currentTarget).get("other")).trim());
        }}
      >
        <label class="row">
          Another namespace
          <input name="other" required autocomplete="off" spellcheck={false} />
        </label>
        <button type="submit">Look there</button>
      </form>
      <p class="detail">{message}</p>
    </div>
  );
}

/** An object that is not there, or not any more. */
export function Gone({ kind, name, backTo }: { kind: string; name: string; backTo: string }) {
  return (
    <div class="empty">
      <h2>
        There is no {kind} {name}
      </h2>
      <p>It was deleted, or it was never in this namespace.</p>
      <a href={backTo}>Back to the list</a>
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

/** The first address leads to the first screen. */
export function Home() {
  const { route } = useLocation();
  useEffect(() => route("/applications", true), [route]);
  return null;
}
