/** The result of a replay. */
import type { DeadLetterDetail, History, ReconcileEntry } from "../../../../api/bus.ts";
import { fastPollMillis, useQuery } from "../../api/query.ts";
import { QueryResult } from "../../ui/queryresult.tsx";
import { historyAddress } from "../addresses.ts";
import { BusRefused } from "../forbidden.tsx";
import { Entries } from "../history/entries.tsx";
import { resultText as text } from "./text.ts";

/** Follows the reconciles of the object after the replay. */
export function ReplayResult({
  of: { function: fn, object, time },
  onAgain,
}: {
  of: DeadLetterDetail;
  /** Opens the dead letter that the replay led to. */
  onAgain: () => void;
}) {
  const result = useQuery<History>(`/api${historyAddress(object)}`, fastPollMillis);
  return (
    <section class="card replay-result" aria-labelledby="afterwards">
      <header>
        <h2 id="afterwards">{text.title}</h2>
        <a href={historyAddress(object)}>{text.history(object.name)}</a>
      </header>
      <QueryResult result={result} refused={(error) => <BusRefused what={text.what} error={error} />}>
        {(history) => {
          const since = reconcilesSince(history, fn, time);
          return since.length === 0 ? (
            <p role="status" class="quiet">
              {text.waiting}
            </p>
          ) : (
            <>
              <Entries of={since} />
              {since.at(-1)?.outcome === "dead_lettered" && (
                <div class="actions">
                  <button type="button" onClick={onAgain}>
                    {text.open}
                  </button>
                </div>
              )}
            </>
          );
        }}
      </QueryResult>
    </section>
  );
}

/** The reconciles of a function that started after a time, oldest first. */
export const reconcilesSince = ({ traces }: History, fn: string, time: string): readonly ReconcileEntry[] =>
  traces
    .flatMap(({ entries }) => entries)
    .filter((entry) => entry.type === "reconcile")
    .filter((entry) => entry.function === fn && Date.parse(entry.at) > Date.parse(time))
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
