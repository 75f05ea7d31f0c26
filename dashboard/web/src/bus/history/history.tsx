/** The history of an object or a trace, from the webhook to the writes. */

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { History } from "../../../../api/bus.ts";
import { useAnswer } from "../../api/query.ts";
import { RequestError, request } from "../../api/session.ts";
import { Answered } from "../../ui/queryresult.tsx";
import { Head } from "../../ui/head.tsx";
import { namespace } from "../../ui/namespace.tsx";
import { notify, withLead } from "../../ui/notices.tsx";
import { objectAddress } from "../addresses.ts";
import { BusRefused } from "../forbidden.tsx";
import { BusTabs } from "../tabs.tsx";
import { kindCalled, namedKinds } from "./kindnames.ts";
import { merged } from "./mergetraces.ts";
import { Search, type Wanted } from "./search.tsx";
import { Timeline } from "./timeline.tsx";

const everyMillis = 5000;

export function HistoryScreen() {
  const { query } = useLocation();
  const wanted: Wanted = query;
  const asked = askedOf(wanted);
  return (
    <>
      <Head title={titleOf(wanted)} />
      <BusTabs current="history" />
      <div class="stack">
        <Search wanted={wanted} />
        {asked === undefined ? <Kept /> : <Found key={String(asked)} asked={asked} wanted={wanted} />}
      </div>
    </>
  );
}

function titleOf({ trace, kind, name }: Wanted): string {
  if (trace !== undefined) return `Trace ${trace.slice(0, 8)}`;
  return kind !== undefined && name !== undefined ? `History of ${kind} ${name}` : "History";
}

/** The query for the server; undefined while the search is incomplete. */
function askedOf({
  trace,
  group,
  kind,
  namespace: inNamespace = "",
  name,
}: Wanted): URLSearchParams | undefined {
  if (trace !== undefined)
    return new URLSearchParams({ trace, ...(namespace.value && { namespace: namespace.value }) });
  if (kind === undefined || name === undefined) return undefined;
  // Links may omit the group of known kinds.
  const called = group === undefined ? kindCalled(kind, namedKinds([])) : { group, kind };
  return new URLSearchParams({ ...called, namespace: inNamespace, name });
}

const pathOf = (asked: URLSearchParams, before?: string): string =>
  `/api/bus/history?${new URLSearchParams([...asked, ...(before ? [["before", before]] : [])])}`;

function Found({ asked, wanted }: { asked: URLSearchParams; wanted: Wanted }) {
  const answer = useAnswer<History>(pathOf(asked), everyMillis);
  const [earlier, setEarlier] = useState<readonly History[]>([]);
  const [first, setFirst] = useState<History>();
  const [isAsking, setAsking] = useState(false);
  // Keeps the page from which earlier entries continue while newer ones arrive.
  useEffect(() => setFirst((known) => known ?? answer.value), [answer.value]);

  async function more(before: string): Promise<void> {
    setAsking(true);
    try {
      const part = await request<History>(pathOf(asked, before));
      setEarlier((parts) => [...parts, part]);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      notify("bad", withLead("Cannot load earlier entries:", error.message));
    } finally {
      setAsking(false);
    }
  }

  return (
    <Answered answer={answer} refused={(trouble) => <BusRefused what="this history" trouble={trouble} />}>
      {(newest) => {
        const begun = first ?? newest;
        const traces = merged([newest, begun, ...earlier]);
        const before = (earlier.at(-1) ?? begun).before;
        const screen = linkOf(wanted);
        return (
          <>
            {screen && (
              <p>
                <a href={screen}>
                  Open the {wanted.kind} {wanted.name}
                </a>
              </p>
            )}
            {traces.length === 0 ? <Nothing wanted={wanted} /> : <Timeline traces={traces} />}
            {before !== null && (
              <div class="actions">
                <button type="button" disabled={isAsking} onClick={() => void more(before)}>
                  Show earlier entries
                </button>
              </div>
            )}
          </>
        );
      }}
    </Answered>
  );
}

function linkOf({ group = "", kind, namespace: inNamespace = "", name }: Wanted): string | undefined {
  return kind && name ? objectAddress({ group, kind, namespace: inNamespace, name }) : undefined;
}

function Nothing({ wanted: { trace, kind, name } }: { wanted: Wanted }) {
  return (
    <div class="empty">
      <h2>No history of {trace === undefined ? `${kind} ${name}` : "this trace"}</h2>
      <p>Nothing happened in the retention period, or the name is different.</p>
      <KeptWords />
    </div>
  );
}

function Kept() {
  return (
    <div class="empty">
      <h2>From the webhook to the API write</h2>
      <p>
        Enter an object or a trace to see what triggered a reconcile, which worker ran it, how it ended, and
        what it wrote.
      </p>
      <KeptWords />
    </div>
  );
}

function KeptWords() {
  return (
    <p class="small">
      Reconciles and their writes are kept for one day, webhooks for three days, dead letters until they are
      replayed, and Kubernetes Events for one hour by default.
    </p>
  );
}
