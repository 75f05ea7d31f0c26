/** The history of an object or a trace, from the webhook to the writes. */

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { History } from "../../../../api/bus.ts";
import { slowPollMillis, useQuery } from "../../api/query.ts";
import { RequestError, request } from "../../api/session.ts";
import { Head } from "../../ui/head.tsx";
import { withLead } from "../../ui/lead.ts";
import { namespace } from "../../ui/namespace.tsx";
import { notify } from "../../ui/notices.tsx";
import { QueryResult } from "../../ui/queryresult.tsx";
import { objectAddress } from "../addresses.ts";
import { BusRefused } from "../forbidden.tsx";
import { BusTabs } from "../tabs.tsx";
import { kindAliases, resolveKind } from "./kindnames.ts";
import { mergeTraces } from "./mergetraces.ts";
import { type HistorySearch, Search } from "./search.tsx";
import { text } from "./text.ts";
import { Timeline } from "./timeline.tsx";

export function HistoryScreen() {
  const search: HistorySearch = useLocation().query;
  const query = queryOf(search);
  return (
    <>
      <Head title={titleOf(search)} />
      <BusTabs current="history" />
      <div class="stack">
        <Search search={search} />
        {query === undefined ? <Introduction /> : <Found key={String(query)} query={query} search={search} />}
      </div>
    </>
  );
}

function titleOf({ trace, kind, name }: HistorySearch): string {
  if (trace !== undefined) return text.titleOfTrace(trace.slice(0, 8));
  return kind !== undefined && name !== undefined ? text.titleOf(kind, name) : text.title;
}

/** The query for the server; undefined while the search is incomplete. */
function queryOf({
  trace,
  group,
  kind,
  namespace: inNamespace = "",
  name,
}: HistorySearch): URLSearchParams | undefined {
  if (trace !== undefined)
    return new URLSearchParams({ trace, ...(namespace.value && { namespace: namespace.value }) });
  if (kind === undefined || name === undefined) return undefined;
  // Links may omit the group of known kinds.
  const resolved = group === undefined ? resolveKind(kind, kindAliases([])) : { group, kind };
  return new URLSearchParams({ ...resolved, namespace: inNamespace, name });
}

const pathOf = (query: URLSearchParams, before?: string): string =>
  `/api/bus/history?${new URLSearchParams([...query, ...(before ? [["before", before]] : [])])}`;

function Found({ query, search }: { query: URLSearchParams; search: HistorySearch }) {
  const result = useQuery<History>(pathOf(query), slowPollMillis);
  const [earlier, setEarlier] = useState<readonly History[]>([]);
  const [first, setFirst] = useState<History>();
  const [isLoading, setLoading] = useState(false);
  // Keeps the page from which earlier entries continue while newer ones arrive.
  useEffect(() => setFirst((known) => known ?? result.value), [result.value]);

  async function loadEarlier(before: string): Promise<void> {
    setLoading(true);
    try {
      const part = await request<History>(pathOf(query, before));
      setEarlier((parts) => [...parts, part]);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      notify("bad", withLead(text.cannotLoad, error));
    } finally {
      setLoading(false);
    }
  }

  return (
    <QueryResult result={result} refused={(error) => <BusRefused what={text.what} error={error} />}>
      {(newest) => {
        const start = first ?? newest;
        const traces = mergeTraces([newest, start, ...earlier]);
        const before = (earlier.at(-1) ?? start).before;
        const screen = linkOf(search);
        return (
          <>
            {screen && (
              <p>
                <a href={screen}>{text.open(`${search.kind}`, `${search.name}`)}</a>
              </p>
            )}
            {traces.length === 0 ? <NoHistory search={search} /> : <Timeline traces={traces} />}
            {before !== null && (
              <div class="actions">
                <button type="button" disabled={isLoading} onClick={() => void loadEarlier(before)}>
                  {text.earlier}
                </button>
              </div>
            )}
          </>
        );
      }}
    </QueryResult>
  );
}

function linkOf({ group = "", kind, namespace: inNamespace = "", name }: HistorySearch): string | undefined {
  return kind && name ? objectAddress({ group, kind, namespace: inNamespace, name }) : undefined;
}

function NoHistory({ search: { trace, kind, name } }: { search: HistorySearch }) {
  return (
    <div class="empty">
      <h2>{text.none(trace === undefined ? `${kind} ${name}` : text.thisTrace)}</h2>
      <p>{text.noneWhy}</p>
      <Retention />
    </div>
  );
}

function Introduction() {
  return (
    <div class="empty">
      <h2>{text.introduction}</h2>
      <p>{text.introductionWhy}</p>
      <Retention />
    </div>
  );
}

function Retention() {
  return <p class="small">{text.retention}</p>;
}
