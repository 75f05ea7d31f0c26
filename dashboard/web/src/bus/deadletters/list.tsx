/** The list of dead letters. */
import { useMemo } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { DeadLetterItem, DeadLetterList } from "../../../../api/bus.ts";
import { slowPollMillis, useQuery } from "../../api/query.ts";
import { Age } from "../../ui/age.tsx";
import { Head } from "../../ui/head.tsx";
import { namespace, useNamespaceInAddress } from "../../ui/namespace.tsx";
import { QueryResult } from "../../ui/queryresult.tsx";
import { Filtered, useFilter } from "../../ui/searchable.tsx";
import { timeValue } from "../../ui/sort.ts";
import { humanize } from "../../ui/status.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { withQuery } from "../../ui/urlstate.ts";
import { deadLetterPath, deadLettersAddress } from "../addresses.ts";
import { BusRefused } from "../forbidden.tsx";
import { plural } from "../numbers.ts";
import { BusTabs } from "../tabs.tsx";
import { Replay } from "./replay.tsx";

export function DeadLetters() {
  useNamespaceInAddress();
  const { query, route } = useLocation();
  const fn = query.function ?? "";
  const selection = new URLSearchParams(namespace.value ? { namespace: namespace.value } : {});
  const result = useQuery<DeadLetterList>(`/api/bus/deadletters?${selection}`, slowPollMillis);
  const all = result.value?.items ?? none;
  const ofFunction = useMemo(
    () => (fn === "" ? all : all.filter((letter) => letter.function === fn)),
    [all, fn],
  );
  const filter = useFilter(ofFunction, textOf);
  const shown = filter.found;
  return (
    <>
      <Head title="Dead letters">
        {shown.length > 0 && (
          <Replay
            deadLetters={shown}
            label={shown.length === 1 ? "Replay the one shown" : `Replay all ${shown.length} shown`}
            onDone={result.reload}
          />
        )}
      </Head>
      <BusTabs current="deadletters" />
      <QueryResult result={result} refused={(error) => <BusRefused what="dead letters" error={error} />}>
        {() => (
          <>
            {(all.length > 0 || fn !== "") && (
              <FunctionFilter
                names={[...new Set([...all.map((letter) => letter.function), ...(fn ? [fn] : [])])].sort()}
                chosen={fn}
                onChoose={(name) => route(withQuery({ function: name }), true)}
              />
            )}
            {ofFunction.length === 0 ? (
              <Empty fn={fn} />
            ) : (
              <Filtered filter={filter} what="dead letters">
                {(found) => (
                  <Table
                    rows={found}
                    keyOf={keyOf}
                    columns={columns}
                    caption={plural(found.length, "dead letter")}
                  />
                )}
              </Filtered>
            )}
          </>
        )}
      </QueryResult>
    </>
  );
}

function Empty({ fn }: { fn: string }) {
  return (
    <div class="empty">
      <h2>No dead letters{fn && ` of ${fn}`}</h2>
      <p>
        A request becomes a dead letter when retrying would not help. It stays until you replay it, or until
        its object is reconciled after a change.
      </p>
      {fn ? (
        <a href={deadLettersAddress()}>Dead letters of all functions</a>
      ) : (
        <a href="/bus">Bus overview</a>
      )}
    </div>
  );
}

function FunctionFilter({
  names,
  chosen,
  onChoose,
}: {
  names: readonly string[];
  chosen: string;
  onChoose: (name: string) => void;
}) {
  return (
    <label class="row">
      Function
      <select class="narrow" value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <option value="">All functions</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

const none: readonly DeadLetterItem[] = [];

const keyOf = ({ function: of, object }: DeadLetterItem): string =>
  `${of} ${object.namespace}/${object.name}`;

const textOf = ({ function: fn, object, reason, message }: DeadLetterItem): string =>
  [object.kind, object.namespace, object.name, fn, humanize(reason), message].join(" ");

const columns: readonly Column<DeadLetterItem>[] = [
  [
    "Object",
    ({ function: fn, object }) => (
      <>
        <span class="quiet">{object.kind}</span>{" "}
        <a href={`/bus${deadLetterPath(fn, object)}`}>{object.name}</a>
        <span class="quiet small"> {object.namespace}</span>
      </>
    ),
    "text",
    ({ object }) => object.name,
  ],
  ["Function", ({ function: fn }) => fn, "text", ({ function: fn }) => fn],
  ["Reason", ({ reason }) => humanize(reason), "text", ({ reason }) => reason],
  ["Attempts", ({ attempts }) => attempts, "number", ({ attempts }) => attempts],
  ["Given up", ({ time }) => <Age of={time} />, "text", ({ time }) => timeValue(time)],
  [
    "Message",
    ({ message }) => (
      <span class="cut" title={message}>
        {message}
      </span>
    ),
  ],
];
