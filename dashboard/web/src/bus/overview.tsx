/** The overview of the bus: events, functions, workers, and the bridge. */
import type { BusFigures, BusRights } from "../../../api/bus.ts";
import { useAnswer } from "../api/query.ts";
import { Answered } from "../ui/queryresult.tsx";
import { Head } from "../ui/head.tsx";
import { namespace } from "../ui/namespace.tsx";
import { Away, Loading } from "../ui/states.tsx";
import { Functions } from "./figures/functions.tsx";
import { Kinds } from "./figures/kinds.tsx";
import { WorkingTable } from "./figures/workers.tsx";
import { BusRefused, NeedsRole } from "./forbidden.tsx";
import { EventsChart } from "./live/events.tsx";
import { useLive } from "./live/live.ts";
import { BusTabs } from "./tabs.tsx";

export function BusOverview() {
  const query = new URLSearchParams(namespace.value ? { namespace: namespace.value } : {});
  const rights = useAnswer<BusRights>(`/api/bus/rights?${query}`);
  return (
    <>
      <Head title="The bus" />
      <BusTabs current="" />
      <Answered answer={rights} refused={(trouble) => <BusRefused what="the bus" trouble={trouble} />}>
        {({ functions }) => (functions ? <Everything /> : <Part />)}
      </Answered>
    </>
  );
}

const everyMillis = 2000;

function Everything() {
  const live = useLive();
  const figures = useAnswer<BusFigures>("/api/bus/figures", everyMillis);
  return (
    <Answered
      answer={figures}
      refused={(trouble) => <BusRefused what="the figures" needs="denrei-bus-viewer" trouble={trouble} />}
    >
      {({ functions, kinds }) => (
        <>
          {live.state === "away" && <Away />}
          {live.state === "loading" ? <Loading /> : <EventsChart live={live} />}
          <Functions functions={functions} live={live} />
          <WorkingTable />
          <Kinds kinds={kinds} />
        </>
      )}
    </Answered>
  );
}

/** The part that namespace roles allow. */
function Part() {
  return (
    <div class="stack">
      <p class="notice">
        You see only {namespace.value === "" ? "your namespaces" : `the namespace ${namespace.value}`}, not
        the figures of the whole bus. <NeedsRole of="denrei-bus-viewer" />
      </p>
      <WorkingTable />
    </div>
  );
}
