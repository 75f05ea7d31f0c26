/** Replacements for content that is loading, stale, forbidden, or missing. */
import type { KubeObject, Stored } from "denrei/kinds";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { Message } from "../api/message.ts";
import { session } from "../api/session.ts";
import type { Watched } from "../api/watch.ts";
import { Age, now } from "./age.tsx";
import { Details } from "./details.tsx";
import { Head } from "./head.tsx";
import { withLead } from "./lead.ts";
import { namespace, useChooseNamespace, visibleNamespaces } from "./namespace.tsx";
import { statesText as text } from "./text.ts";

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
  const { state, items, asOf, error } = watched;
  if (state === "refused") return <Forbidden status={error?.status ?? 403} message={error?.message ?? ""} />;
  if (asOf === undefined) return state === "away" ? <NoAnswer error={error} /> : <Loading />;
  return (
    <div class="stack">
      <Staleness of={watched} />
      {items.length === 0 ? <div class="empty">{empty}</div> : children(items)}
    </div>
  );
}

/** How long a request may take before the page says that it waits. Milliseconds. */
const slowMillis = 3000;

/** Whether the component has been mounted for long. */
function useIsSlow(): boolean {
  const [since] = useState(() => Date.now());
  return now.value - since > slowMillis;
}

export function Loading() {
  const isSlow = useIsSlow();
  return (
    <p role="status" class="loading">
      {isSlow ? text.slow : text.loading}
    </p>
  );
}

/** Says how old a list is, unless it is current or about to be. */
export function Staleness({ of: { state, asOf, error } }: { of: Watched }) {
  if (state === "away") return <StaleNotice asOf={asOf} error={error} />;
  return state === "loading" ? <SlowNotice asOf={asOf} /> : null;
}

const slow: Message = { message: text.slow, isSentence: true };

function SlowNotice({ asOf }: { asOf: number | undefined }) {
  return useIsSlow() ? <StaleNotice asOf={asOf} error={slow} /> : null;
}

/** Why content is stale or missing, as a sentence. */
const reasonOf = (error: Message | undefined): string =>
  session.value === "ended" ? text.sessionEnded : error ? withLead(text.kubernetesError, error) : "";

/** A notice that the content may be stale. */
export function StaleNotice({ asOf, error }: { asOf?: number | undefined; error?: Message | undefined }) {
  return (
    <p role="status" class="notice busy">
      {text.interrupted} {reasonOf(error)}{" "}
      {asOf !== undefined && (
        <>
          {text.lastKnown} <Age of={new Date(asOf).toISOString()} />.
        </>
      )}
    </p>
  );
}

/** Shown in place of content that was never loaded, because nothing answers. */
export function NoAnswer({ error, retry }: { error?: Message | undefined; retry?: () => void }) {
  return (
    <div role="alert" class="empty">
      <h2>{text.notLoaded}</h2>
      <p>{reasonOf(error)}</p>
      {session.value === "ended" ? null : retry === undefined ? (
        <p>{text.retrying}</p>
      ) : (
        <button type="button" onClick={retry}>
          {text.retry}
        </button>
      )}
    </div>
  );
}

/** Shown if the API server refuses to list a kind. */
export function Forbidden({ status, message }: { status: number; message: string }) {
  if (status === 404) {
    return (
      <div role="alert" class="empty">
        <h2>{text.notInstalled}</h2>
        <p>
          {text.install} <code>denrei crds | kubectl apply -f -</code>
        </p>
        <Details message={message} />
      </div>
    );
  }
  return (
    <div role="alert" class="empty">
      <h2>{text.forbidden(namespace.value)}</h2>
      <OtherNamespaces />
      <Details message={message} />
    </div>
  );
}

/** More namespaces than a user reads. The picker suggests all of them. */
const maxOffered = 12;

/** Leads to the namespaces in which the user has a role. */
function OtherNamespaces() {
  const choose = useChooseNamespace();
  const known = visibleNamespaces.value;
  const others = (known?.namespaces ?? []).filter((name) => name !== namespace.value);
  return (
    <>
      <p>{others.length > 0 ? text.yourNamespaces : text.askForRole}</p>
      {others.length > 0 && (
        <div class="actions">
          {others.slice(0, maxOffered).map((name) => (
            <button key={name} type="button" onClick={() => choose(name)}>
              {text.switchTo(name)}
            </button>
          ))}
        </div>
      )}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          choose(String(new FormData(event.currentTarget).get("other")).trim());
        }}
      >
        <label class="row">
          {text.otherNamespace}
          <input name="other" required autocomplete="off" spellcheck={false} />
        </label>
        <button type="submit">{text.switchNamespace}</button>
      </form>
    </>
  );
}

/** Shown for an object that does not exist. `seen` is when the page showed it last. */
export function ObjectNotFound({
  kind,
  name,
  backTo,
  seen,
}: {
  kind: string;
  name: string;
  backTo: string;
  seen?: number | undefined;
}) {
  return (
    <div class="empty">
      <h2>{seen === undefined ? text.notFound(kind, name) : text.deleted(kind, name)}</h2>
      <p>
        {seen === undefined ? (
          text.neverSeen
        ) : (
          <>
            {text.lastSeen} <Age of={new Date(seen).toISOString()} />.
          </>
        )}
      </p>
      <a href={backTo}>{text.backToList}</a>
    </div>
  );
}

/** When the page last showed the object of its address as existing. */
export function useLastSeen({ items, state }: Watched): number | undefined {
  const { namespace, name } = useRoute().params;
  const key = `${namespace}/${name}`;
  const seen = useRef({ key: "", at: 0 });
  if (state === "live" && items.some(({ metadata }) => metadata.name === name))
    seen.current = { key, at: Date.now() };
  return seen.current.key === key ? seen.current.at : undefined;
}

/** Shown for an unknown address. */
export function NotFound() {
  return (
    <>
      <Head title={text.pageNotFound} />
      <div class="empty">
        <p>{text.noSuchPage}</p>
        <a href="/applications">{text.applications}</a>
      </div>
    </>
  );
}

/** Redirects `/` to the Applications. */
export function Home() {
  const { route } = useLocation();
  useEffect(() => route("/applications", true), [route]);
  return null;
}
