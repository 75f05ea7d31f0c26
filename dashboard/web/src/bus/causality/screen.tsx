/** The causal history of an entry: its origin, and everything that followed. */
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { CausalHistory } from "../../../../api/causality.ts";
import { type Query, slowPollMillis, useQuery } from "../../api/query.ts";
import { Details } from "../../ui/details.tsx";
import { Head } from "../../ui/head.tsx";
import { namespace, useNamespaceInAddress } from "../../ui/namespace.tsx";
import { QueryResult } from "../../ui/queryresult.tsx";
import { BusRefused } from "../forbidden.tsx";
import { BusTabs } from "../tabs.tsx";
import { dateTimeOf } from "../times.ts";
import { Origin } from "./origin.tsx";
import { beganAt } from "./steps.ts";
import { text } from "./text.ts";
import { Threads } from "./threads.tsx";
import "./causality.css";

export function CausalityScreen() {
  useNamespaceInAddress();
  const { entry = "" } = useLocation().query;
  return (
    <>
      <Head title={text.title} />
      <BusTabs current="history" />
      <Found key={`${namespace.value} ${entry}`} entry={entry} />
    </>
  );
}

/** A history this young may still grow. Milliseconds. */
const growingMillis = 10 * 60_000;

function Found({ entry }: { entry: string }) {
  const [isGrowing, setGrowing] = useState(true);
  const query = new URLSearchParams({ entry, ...(namespace.value && { namespace: namespace.value }) });
  const result = useQuery<CausalHistory>(
    `/api/bus/causality?${query}`,
    isGrowing ? slowPollMillis : undefined,
  );
  const { value } = result;
  useEffect(() => {
    if (value === undefined) return;
    const began = beganAt(value);
    setGrowing(value.until === null && began !== undefined && Date.now() - began < growingMillis);
  }, [value]);
  return (
    <QueryResult
      result={result}
      refused={(error) =>
        error.status === 404 ? (
          <Missing message={error.message} />
        ) : (
          <BusRefused what={text.what} error={error} />
        )
      }
    >
      {(history) => <History of={history} entry={entry} reload={result.reload} />}
    </QueryResult>
  );
}

function Missing({ message }: { message: string }) {
  return (
    <div role="alert" class="empty">
      <h2>{text.missing}</h2>
      <p>{text.missingWhy}</p>
      <p>
        <a href="/bus/history">{text.back}</a>
      </p>
      <Details message={message} />
    </div>
  );
}

function History({
  of: history,
  entry,
  reload,
}: {
  of: CausalHistory;
  entry: string;
  reload: Query<CausalHistory>["reload"];
}) {
  const { origin, threads, before, omitted, isOriginOpen, until } = history;
  const began = beganAt(history);
  return (
    <div class="stack">
      <p class="quiet">{text.about}</p>
      <Origin
        of={origin}
        before={before}
        at={began}
        isHere={origin.type === "webhook" && origin.id === entry}
      />
      {isOriginOpen && <p class="notice">{text.origin.isOpen}</p>}
      <section class="card" aria-labelledby="followed">
        <header>
          <h2 id="followed">{text.steps.label}</h2>
          <button type="button" onClick={reload}>
            {text.steps.refresh}
          </button>
        </header>
        {threads.length === 0 ? (
          <p>{text.steps.none}</p>
        ) : (
          <Threads of={threads} at={{ began: began ?? 0, entry, level: 1 }} />
        )}
        {omitted > 0 && <p class="notice">{text.steps.omitted(omitted)}</p>}
        {until !== null && <p class="notice">{text.steps.until(dateTimeOf(new Date(until)))}</p>}
      </section>
    </div>
  );
}
