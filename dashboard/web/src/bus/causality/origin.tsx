/** The origin of a causal history. */
import type { ComponentChildren } from "preact";
import type { ReconcileEntry } from "../../../../api/bus.ts";
import type { CausalOrigin } from "../../../../api/causality.ts";
import { Age } from "../../ui/age.tsx";
import { namespace } from "../../ui/namespace.tsx";
import { causalityAddress } from "../addresses.ts";
import { ObjectLink } from "../objects.tsx";
import { dateOf, timeOf, zoneAt } from "../times.ts";
import { text } from "./text.ts";

export function Origin({
  of: origin,
  before,
  at,
  isHere,
}: {
  of: CausalOrigin;
  /** The run before the one that it triggered. */
  before: ReconcileEntry | null;
  /** Milliseconds since 1970. */
  at: number | undefined;
  /** Whether the user came from it. */
  isHere: boolean;
}) {
  return (
    <section class="card" aria-labelledby="origin" aria-current={isHere || undefined}>
      <header>
        <h2 id="origin">{text.origin.label}</h2>
        {at !== undefined && <When at={at} />}
      </header>
      <Body of={origin} />
      {before !== null && <Before of={before} />}
    </section>
  );
}

/** Leads to the causal history of an earlier run. */
function Before({ of: entry }: { of: ReconcileEntry }) {
  return (
    <p class="small">
      {text.origin.before} <a href={causalityAddress(entry, namespace.value)}>{entry.function}</a>{" "}
      <Age of={entry.at} />
    </p>
  );
}

function When({ at }: { at: number }) {
  const date = new Date(at);
  return (
    <span class="quiet small">
      {dateOf(date)} {timeOf(date, "milliseconds")} {zoneAt(date)}, <Age of={date.toISOString()} />
    </span>
  );
}

function Lines({ what, children }: { what: ComponentChildren; children: ComponentChildren }) {
  return (
    <>
      <p>
        <strong>{what}</strong>
      </p>
      {children}
    </>
  );
}

function Body({ of: origin }: { of: CausalOrigin }) {
  switch (origin.type) {
    case "webhook":
      return (
        <Lines what={text.origin.webhook(origin.provider, origin.event)}>
          <p>
            {origin.repository} {origin.subject}
          </p>
          <p class="quiet small">{text.origin.delivery(origin.delivery)}</p>
        </Lines>
      );
    case "delivery":
      return (
        <Lines what={text.origin.webhook(origin.provider, origin.event)}>
          <p class="quiet small">
            {text.origin.delivery(origin.delivery)}. {text.origin.expired}
          </p>
        </Lines>
      );
    case "change":
      return (
        <p>
          <strong>{text.origin.change}</strong> <ObjectLink of={origin.object} />{" "}
          <span class="quiet small">{text.origin.changedBy(origin.resourceVersion)}</span>
        </p>
      );
    case "timer":
      return <Lines what={text.origin.timer}>{text.origin.timerWhy}</Lines>;
    case "replay":
      return <Lines what={text.origin.replay}>{text.origin.replayWhy}</Lines>;
    case "unknown":
      return <Lines what={text.origin.unknown}>{text.origin.unknownWhy}</Lines>;
  }
}
