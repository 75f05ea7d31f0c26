/** Replacements for content that is loading, stale, forbidden, or missing. */
import type { KubeObject, Stored } from "denrei/kinds";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Watched } from "../api/watch.ts";
import { chooseNamespace, namespace } from "./namespace.tsx";

/** Shows the objects of a list, or the reason for their absence. */
export function Loaded<T extends KubeObject>({
  watched,
  empty,
  children,
}: {
  watched: Watched<T>;
  /** Shown for an empty list. */
  empty: ComponentChildren;
  children: (items: readonly Stored<T>[]) => ComponentChildren;
}) {
  const { state, items, error } = watched;
  if (state === "refused") return <Forbidden status={error?.status ?? 403} message={error?.message ?? ""} />;
  if (state === "loading") return <Loading />;
  return (
    <div class="stack">
      {state === "away" && <StaleNotice message={error?.message} />}
      {items.length === 0 ? <div class="empty">{empty}</div> : children(items)}
    </div>
  );
}

export function Loading() {
  return (
    <p role="status" class="loading">
      Loading…
    </p>
  );
}

/** A notice that the content may be stale. */
export function StaleNotice({ message = "" }: { message?: string | undefined }) {
  return (
    <p role="status" class="notice busy">
      Live updates are interrupted. Showing the last known state. {message}
    </p>
  );
}

/** Shown if the API server refuses to list a kind. */
export function Forbidden({ status, message }: { status: number; message: string }) {
  if (status === 404) {
    return (
      <div role="alert" class="empty">
        <h2>This kind is not installed</h2>
        <p>
          A cluster administrator can install it: <code>denrei crds | kubectl apply -f -</code>
        </p>
        <p class="detail">{message}</p>
      </div>
    );
  }
  return (
    <div role="alert" class="empty">
      <h2>You cannot view this{namespace.value === "" ? " in all namespaces" : ` in ${namespace.value}`}</h2>
      <p>Choose a namespace in which you have a role, or ask a cluster administrator for access.</p>
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
        <button type="submit">Switch namespace</button>
      </form>
      <p class="detail">{message}</p>
    </div>
  );
}

/** Shown for an object that does not exist. */
export function ObjectNotFound({ kind, name, backTo }: { kind: string; name: string; backTo: string }) {
  return (
    <div class="empty">
      <h2>
        {kind} {name} not found
      </h2>
      <p>It was deleted, or never existed in this namespace.</p>
      <a href={backTo}>Back to the list</a>
    </div>
  );
}

/** Shown for an unknown address. */
export function NotFound() {
  return (
    <div class="empty">
      <h1>Page not found</h1>
      <a href="/applications">Applications</a>
    </div>
  );
}

/** Redirects `/` to the Applications. */
export function Home() {
  const { route } = useLocation();
  useEffect(() => route("/applications", true), [route]);
  return null;
}
