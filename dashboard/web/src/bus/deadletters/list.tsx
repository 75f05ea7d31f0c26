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
import { BusTabs } from "../tabs.tsx";
import { Replay } from "./replay.tsx";
import { listText as text } from "./text.ts";

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
      <Head title={text.title}>
        {shown.length > 0 && (
          <Replay deadLetters={shown} label={text.replay(shown.length)} onDone={result.reload} />
        )}
      </Head>
      <BusTabs current="deadletters" />
      <QueryResult result={result} refused={(error) => <BusRefused what={text.what} error={error} />}>
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
              <Filtered filter={filter} what={text.what}>
                {(found) => (
                  <Table rows={found} keyOf={keyOf} columns={columns} caption={text.caption(found.length)} />
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
      <h2>{text.none(fn)}</h2>
      <p>{text.about}</p>
      {fn ? <a href={deadLettersAddress()}>{text.ofAllFunctions}</a> : <a href="/bus">{text.overview}</a>}
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
      {text.function}
      <select class="narrow" value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <option value="">{text.allFunctions}</option>
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
    text.columns.object,
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
  [text.columns.function, ({ function: fn }) => fn, "text", ({ function: fn }) => fn],
  [text.columns.reason, ({ reason }) => humanize(reason), "text", ({ reason }) => reason],
  [text.columns.attempts, ({ attempts }) => attempts, "number", ({ attempts }) => attempts],
  [text.columns.givenUp, ({ time }) => <Age of={time} />, "text", ({ time }) => timeValue(time)],
  [
    text.columns.message,
    ({ message }) => (
      <span class="cut" title={message}>
        {message}
      </span>
    ),
  ],
];
