/** The entries of a history. */
import type { ComponentChildren } from "preact";
import type {
  DeadLetterEntry,
  EventEntry,
  HistoryEntry,
  ReconcileEntry,
  ReconcileWrite,
  WebhookEntry,
} from "../../../../api/bus.ts";
import { humanize, Status, type Tone } from "../../ui/status.tsx";
import { deadLetterPath } from "../addresses.ts";
import { count, duration, ordinal, plural } from "../numbers.ts";
import { Cause, ObjectLink } from "../objects.tsx";
import { dateOf, timeOf } from "../times.ts";
import { nextOf, outcomeOf } from "./outcomes.ts";

/** A list of entries in the given order. */
export function Entries({ of: entries }: { of: readonly HistoryEntry[] }) {
  return (
    <ol class="timeline">
      {entries.map((entry) => (
        <li key={entry.id}>
          <Clock of={entry.at} />
          <Entry of={entry} />
        </li>
      ))}
    </ol>
  );
}

/** The date and time of an entry (RFC 3339). */
function Clock({ of: time }: { of: string }) {
  const date = new Date(time);
  return (
    <time class="clock" dateTime={time}>
      {dateOf(date)} <span>{timeOf(date, "milliseconds")}</span>
    </time>
  );
}

function Entry({ of: entry }: { of: HistoryEntry }) {
  switch (entry.type) {
    case "webhook":
      return <Webhook of={entry} />;
    case "reconcile":
      return <Reconcile of={entry} />;
    case "deadletter":
      return <Letter of={entry} />;
    case "event":
      return <EventLine of={entry} />;
  }
}

/** The layout that all entries share. */
function EntryBody({
  what,
  tone,
  word,
  children,
}: {
  what: ComponentChildren;
  tone: Tone;
  word: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="entry">
      <p class="row">
        <strong>{what}</strong>
        <Status tone={tone}>{word}</Status>
      </p>
      {children}
    </div>
  );
}

function Webhook({ of: { eventType, repository, subject, delivery } }: { of: WebhookEntry }) {
  return (
    <EntryBody what="Webhook" tone="off" word={eventType}>
      <p>
        {repository} {subject}
      </p>
      <p class="quiet small">Delivery {delivery}</p>
    </EntryBody>
  );
}

function Reconcile({ of: entry }: { of: ReconcileEntry }) {
  const {
    object,
    replica,
    causes,
    moreCauses,
    attempt,
    waitedMillis,
    tookMillis,
    error,
    writes,
    moreWrites,
  } = entry;
  const [tone, word] = outcomeOf(entry);
  const next = nextOf(entry);
  return (
    <EntryBody what={`Reconcile by ${entry.function}`} tone={tone} word={word}>
      <p>
        <ObjectLink of={object} />
        {causes.map((cause, at) => (
          <span key={at}>
            {" · "}
            <Cause of={cause} about={object} />
          </span>
        ))}
        {moreCauses > 0 && <span class="quiet small"> and {plural(moreCauses, "more cause")}</span>}
      </p>
      <p class="quiet small">
        {ordinal(attempt + 1)} attempt, by {replica}: waited {duration(waitedMillis)}, took{" "}
        {duration(tookMillis)}
      </p>
      {error && (
        <p class="wrapped">
          {error.name}: {error.message}
        </p>
      )}
      {writes.length > 0 && (
        <ol class="plain writes" aria-label="Writes">
          {writes.map((write, at) => (
            <Write key={at} of={write} />
          ))}
          {moreWrites > 0 && <li class="quiet small">and {plural(moreWrites, "more write")}</li>}
        </ol>
      )}
      {next && <p>{next}</p>}
    </EntryBody>
  );
}

const verbs: Readonly<Record<ReconcileWrite["verb"], string>> = {
  create: "Created",
  patch: "Patched",
  apply: "Applied",
  delete: "Deleted",
  status: "Wrote the status of",
};

function Write({ of: { verb, object, resourceVersion } }: { of: ReconcileWrite }) {
  return (
    <li>
      {verbs[verb]} <ObjectLink of={object} />{" "}
      <span class="quiet small">resource version {resourceVersion}</span>
    </li>
  );
}

function Letter({ of: { function: fn, object, reason, message, attempts } }: { of: DeadLetterEntry }) {
  return (
    <EntryBody what={`Dead letter of ${fn}`} tone="bad" word={humanize(reason)}>
      <p class="wrapped">{message}</p>
      <p>
        After {plural(attempts, "failed attempt")}.{" "}
        <a href={`/bus${deadLetterPath(fn, object)}`}>Inspect it</a>
      </p>
    </EntryBody>
  );
}

function EventLine({ of: { severity, reason, note, count: times, reporter } }: { of: EventEntry }) {
  return (
    <EntryBody what="Event" tone={severity === "Warning" ? "bad" : "off"} word={humanize(reason)}>
      <p>{note}</p>
      <p class="quiet small">
        Reported by {reporter}
        {times > 1 && `, ${count(times)} times`}
      </p>
    </EntryBody>
  );
}
