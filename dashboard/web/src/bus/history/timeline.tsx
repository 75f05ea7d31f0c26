/** Traces with their entries. */
import type { HistoryEntry, HistoryTrace } from "../../../../api/bus.ts";
import { Age } from "../../ui/age.tsx";
import { namespace } from "../../ui/namespace.tsx";
import { causalityAddress, traceAddress } from "../addresses.ts";
import { duration } from "../numbers.ts";
import { zoneAt } from "../times.ts";
import { Entries } from "./entries.tsx";
import { text } from "./text.ts";

/** A section per trace. */
export function Timeline({ traces }: { traces: readonly HistoryTrace[] }) {
  return (
    <div class="stack">
      <p class="quiet small">{text.zone(zoneOf(traces))}</p>
      {traces.map(({ trace, entries }) => (
        <section
          key={trace ?? ""}
          class="card"
          aria-label={trace === null ? text.noTrace : `${text.trace} ${trace}`}
        >
          <header>
            <h2 class="trace">
              {trace === null ? (
                text.noTrace
              ) : (
                <>
                  {text.trace}{" "}
                  <a class="mono" href={traceAddress(trace)}>
                    {trace}
                  </a>
                </>
              )}
            </h2>
            <Extent of={entries} />
            <CausalityLink of={entries} />
          </header>
          <Entries of={entries} />
        </section>
      ))}
    </div>
  );
}

/** The time zone of the newest entry. */
const zoneOf = ([newest]: readonly HistoryTrace[]): string => {
  const last = newest?.entries.at(-1);
  return zoneAt(last === undefined ? new Date() : new Date(last.at));
};

function Extent({ of: entries }: { of: readonly HistoryEntry[] }) {
  const [first] = entries;
  if (first === undefined) return null;
  const millis = Math.max(...entries.map(endOf)) - Date.parse(first.at);
  return (
    <span class="quiet small">
      {text.steps(entries.length)}
      {millis > 0 && text.lasting(duration(millis))}, <Age of={first.at} />
    </span>
  );
}

/** Leads to what followed from the first entry, and what led to it. */
function CausalityLink({ of: entries }: { of: readonly HistoryEntry[] }) {
  const entry = entries.find((entry) => entry.type === "webhook" || entry.type === "reconcile");
  return entry === undefined ? null : <a href={causalityAddress(entry, namespace.value)}>{text.causality}</a>;
}

const endOf = (entry: HistoryEntry): number =>
  Date.parse(entry.at) + (entry.type === "reconcile" ? entry.tookMillis : 0);
