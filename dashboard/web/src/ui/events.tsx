/** Kubernetes Events, newest first. */
import type { Stored } from "denrei/kinds";
import type { EventObject } from "../api/kubernetes.ts";
import type { Watched } from "../api/watch.ts";
import { Age } from "./age.tsx";
import { Loaded } from "./states.tsx";
import { humanize, Status } from "./status.tsx";

type Regarding = NonNullable<EventObject["regarding"]>;

const timeOf = ({
  series,
  eventTime,
  deprecatedLastTimestamp,
  metadata,
}: Stored<EventObject>): string | undefined =>
  series?.lastObservedTime ?? eventTime ?? deprecatedLastTimestamp ?? metadata.creationTimestamp;

/** The events of a namespace that are about certain objects. */
export function Events({
  watched,
  about,
  deployments = [],
}: {
  watched: Watched<EventObject>;
  /** UIDs of the objects. */
  about: ReadonlySet<string>;
  /** Names of Deployments; events about their ReplicaSets say why pods are missing. */
  deployments?: readonly string[];
}) {
  const isOfDeployment = ({ kind, name = "" }: Regarding) =>
    kind === "ReplicaSet" && deployments.includes(name.replace(/-[a-z0-9]+$/, ""));
  const items = watched.items.filter(
    ({ regarding }) => regarding && (about.has(regarding.uid ?? "") || isOfDeployment(regarding)),
  );
  const sorted = items.sort((a, b) => ((timeOf(a) ?? "") < (timeOf(b) ?? "") ? 1 : -1));
  return (
    <section class="card" aria-labelledby="events">
      <header>
        <h2 id="events">Events</h2>
      </header>
      <Loaded watched={{ ...watched, items: sorted }} empty={<p>No events in the last hour.</p>}>
        {(events) => (
          <ul class="plain">
            {events.slice(0, 50).map((event) => (
              <li key={event.metadata.uid}>
                <span class="row">
                  <Status tone={event.type === "Warning" ? "bad" : "off"}>
                    {humanize(event.reason ?? "")}
                  </Status>
                  <span class="quiet small">
                    {event.regarding?.kind} {event.regarding?.name}, <Age of={timeOf(event)} />
                  </span>
                </span>
                <p>{event.note}</p>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}
