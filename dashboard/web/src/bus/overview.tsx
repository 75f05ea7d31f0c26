/** The overview of the bus: events, functions, workers, and the bridge. */
import type { BusFigures, BusRights } from "../../../api/bus.ts";
import { fastPollMillis, useQuery } from "../api/query.ts";
import { Head } from "../ui/head.tsx";
import { namespace, useNamespaceInAddress } from "../ui/namespace.tsx";
import { QueryResult } from "../ui/queryresult.tsx";
import { Loading, StaleNotice } from "../ui/states.tsx";
import { Functions } from "./figures/functions.tsx";
import { Kinds } from "./figures/kinds.tsx";
import { WorkersTable } from "./figures/workers.tsx";
import { BusRefused, NeedsRole } from "./forbidden.tsx";
import { EventsChart } from "./live/events.tsx";
import { useLive } from "./live/live.ts";
import { BusTabs } from "./tabs.tsx";
import { text } from "./text.ts";

export function BusOverview() {
  useNamespaceInAddress();
  const query = new URLSearchParams(namespace.value ? { namespace: namespace.value } : {});
  const rights = useQuery<BusRights>(`/api/bus/rights?${query}`);
  return (
    <>
      <Head title={text.title} />
      <BusTabs current="" />
      <QueryResult
        result={rights}
        refused={(error) => <BusRefused what={text.overview.what} error={error} />}
      >
        {({ functions }) => (functions ? <WholeBus /> : <NamespacePart />)}
      </QueryResult>
    </>
  );
}

function WholeBus() {
  const live = useLive();
  const figures = useQuery<BusFigures>("/api/bus/figures", fastPollMillis);
  return (
    <QueryResult
      result={figures}
      refused={(error) => <BusRefused what={text.overview.figures} needs="denrei-bus-viewer" error={error} />}
    >
      {({ functions, kinds }) => (
        <>
          {live.state === "away" && <StaleNotice />}
          {live.state === "loading" ? <Loading /> : <EventsChart live={live} />}
          <Functions functions={functions} live={live} />
          <WorkersTable />
          <Kinds kinds={kinds} />
        </>
      )}
    </QueryResult>
  );
}

/** The part that namespace roles allow. */
function NamespacePart() {
  return (
    <div class="stack">
      <p class="notice">
        {text.overview.part(namespace.value)} <NeedsRole of="denrei-bus-viewer" />
      </p>
      <WorkersTable />
    </div>
  );
}
