/** Kubernetes Events: what was said about objects, the newest first. */
import type { Stored } from "../../../../bus/kube/object.ts";
import type { EventObject } from "../api/others.ts";
import type { Watched } from "../api/watch.ts";
import { Age } from "./age.tsx";
import { Loaded } from "./states.tsx";
import { Status, spaced } from "./status.tsx";

const timeOf = ({
  series,
  eventTime,
  deprecatedLastTimestamp,
  metadata,
}: Stored<EventObject>): string | undefined =>
  series?.lastObservedTime ?? eventTime ?? deprecatedLastTimestamp ?? metadata.creationTimestamp;

/** The events among a namespace's that are about one of these objects, by uid. */
export function Events({ watched, about }: { watched: Watched<EventObject>; about: ReadonlySet<string> }) {
  const items = watched.items.filter(({ regarding }) => about.has(regarding?.uid ?? ""));
  const sorted = items.sort((a, b) => ((timeOf(a) ?? "") < (timeOf(b) ?? "") ? 1 : -1));
  return (
    <section class="card" aria-labelledby="events">
      <header>
        <h2 id="events">Events</h2>
      </header>
      <Loaded watched={{ ...watched, items: sorted }} empty={<p>Nothing was said in the last hour.</p>}>
        {(events) => (
          <ul class="plain">
            {events.slice(0, 50).map((event) => (
              <li key={event.metadata.uid}>
                <span class="row">
                  <Status tone={event.type === "Warning" ? "bad" : "off"}>
                    {spaced(event.reason ?? "")}
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
