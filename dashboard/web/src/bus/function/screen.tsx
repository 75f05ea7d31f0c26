/** The screen of a function: its figures over time. */
import { useRef } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { FunctionSeries } from "../../../../api/functionseries.ts";
import { type Query, useQuery } from "../../api/query.ts";
import { Head } from "../../ui/head.tsx";
import { QueryResult } from "../../ui/queryresult.tsx";
import { withQuery } from "../../ui/urlstate.ts";
import "../bus.css";
import { deadLettersAddress } from "../addresses.ts";
import { WorkersTable } from "../figures/workers.tsx";
import { BusRefused } from "../forbidden.tsx";
import { KindName } from "../kindname.tsx";
import { text } from "../text.ts";
import { Charts } from "./charts.tsx";
import { PeriodControls } from "./controls.tsx";
import { FigureTable } from "./figuretable.tsx";
import { type Period, periodIn, rangeOf, selected } from "./periods.ts";

const words = text.functionPage;

export function FunctionScreen() {
  const { name = "" } = useRoute().params;
  return <FunctionPage key={name} name={name} />;
}

function FunctionPage({ name }: { name: string }) {
  const { query, route } = useLocation();
  const range = rangeOf(query.range);
  const zoom = periodIn(query);
  const result = useSeries(name, zoom ?? range.seconds);
  const change = (changes: Readonly<Record<string, string | undefined>>) => route(withQuery(changes), true);
  const onZoom = (to: Period | undefined) => change({ from: to && String(to.from), to: to && String(to.to) });
  return (
    <>
      <Head title={name} trail={["/bus", text.notFound.back]} />
      <QueryResult
        result={result}
        refused={(error) =>
          error.status === 404 ? (
            <Missing name={name} />
          ) : (
            <BusRefused what={words.what} needs="denrei-bus-viewer" error={error} />
          )
        }
      >
        {(series) => {
          const period = zoom ?? { from: series.now - range.seconds, to: series.now };
          return (
            <>
              <Related series={series} />
              <PeriodControls
                {...{ series, range, period, onZoom }}
                isZoomed={zoom !== undefined}
                onRange={(id) => change({ range: id, from: undefined, to: undefined })}
              />
              <Charts
                {...{ series, range, period }}
                isZoomed={zoom !== undefined}
                onSelect={([from, to]) => onZoom(selected({ from, to }, series.now))}
              />
              <FigureTable series={series} />
              <WorkersTable fn={name} />
            </>
          );
        }}
      </QueryResult>
    </>
  );
}

/** The figures of a period, or of the last seconds. While another period loads, the previous figures stay. */
function useSeries(name: string, of: Period | number): Query<FunctionSeries> {
  const isLive = typeof of === "number";
  const parameters = isLive ? { seconds: String(of) } : { from: String(of.from), to: String(of.to) };
  const last = useRef<FunctionSeries>(undefined);
  const path = `/api/bus/functions/${encodeURIComponent(name)}?${new URLSearchParams(parameters)}`;
  const result = useQuery<FunctionSeries>(path, isLive ? refreshMillis : undefined);
  if (result.value !== undefined) last.current = result.value;
  return result.state === "refused" ? result : { ...result, value: last.current };
}

/** The shortest steps take ten seconds. */
const refreshMillis = 5000;

function Related({ series: { function: fn, for: kind } }: { series: FunctionSeries }) {
  return (
    <div class="row">
      <span>
        {words.reconciles} <KindName of={kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`} />
      </span>
      <nav class="row" aria-label={words.links}>
        <a href={deadLettersAddress(fn)}>{words.deadLetters}</a>
        <a href="#working">{words.inFlight}</a>
      </nav>
    </div>
  );
}

function Missing({ name }: { name: string }) {
  return (
    <div class="empty">
      <h2>{words.missing(name)}</h2>
      <p>{words.missingWhy}</p>
      <a href="/bus">{text.notFound.back}</a>
    </div>
  );
}
