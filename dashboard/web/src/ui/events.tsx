/** Kubernetes Events, newest first. */
import type { EventObject } from "../api/kubernetes.ts";
import type { Watched } from "../api/watch.ts";
import { Age } from "./age.tsx";
import { countOf, newestEvents, timeOf } from "./eventorder.ts";
import { shortMessage } from "./images.ts";
import { eventText as text } from "./object/text.ts";
import { Loaded } from "./states.tsx";
import { humanize, Status } from "./status.tsx";

type Regarding = NonNullable<EventObject["regarding"]>;

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
  return (
    <section class="card" aria-labelledby="events">
      <header>
        <h2 id="events">{text.title}</h2>
      </header>
      <Loaded watched={{ ...watched, items: newestEvents(items) }} empty={<p>{text.none}</p>}>
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
                    {countOf(event) > 1 && `, ${text.times(countOf(event))}`}
                  </span>
                </span>
                <p title={event.note}>{shortMessage(event.note ?? "")}</p>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}
