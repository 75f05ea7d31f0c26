/** Traces with their entries. */
import type { HistoryEntry, HistoryTrace } from "../../../../api/bus.ts";
import { Age } from "../../ui/age.tsx";
import { traceAddress } from "../addresses.ts";
import { duration, plural } from "../numbers.ts";
import { text } from "../text.ts";
import { zoneAt } from "../times.ts";
import { Entries } from "./entries.tsx";

/** A section per trace. */
export function Timeline({ traces }: { traces: readonly HistoryTrace[] }) {
  return (
    <div class="stack">
      <p class="quiet small">{text.history.zone(zoneOf(traces))}</p>
      {traces.map(({ trace, entries }) => (
        <section key={trace ?? ""} class="card" aria-label={trace === null ? "No trace" : `Trace ${trace}`}>
          <header>
            <h2 class="trace">
              {trace === null ? (
                "No trace"
              ) : (
                <>
                  Trace{" "}
                  <a class="mono" href={traceAddress(trace)}>
                    {trace}
                  </a>
                </>
              )}
            </h2>
            <Extent of={entries} />
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
      {plural(entries.length, "step")}
      {millis > 0 && ` in ${duration(millis)}`}, <Age of={first.at} />
    </span>
  );
}

const endOf = (entry: HistoryEntry): number =>
  Date.parse(entry.at) + (entry.type === "reconcile" ? entry.tookMillis : 0);
