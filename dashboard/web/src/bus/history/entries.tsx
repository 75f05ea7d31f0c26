/** The entries of a history. */
import type { ComponentChildren } from "preact";
import type {
  DeadLetterEntry,
  EventEntry,
  HistoryEntry,
  ReconcileEntry,
  WebhookEntry,
} from "../../../../api/bus.ts";
import { humanize, Status, type Tone } from "../../ui/status.tsx";
import { deadLetterPath } from "../addresses.ts";
import { duration, ordinal } from "../numbers.ts";
import { Cause, ObjectLink } from "../objects.tsx";
import { dateOf, timeOf } from "../times.ts";
import { nextOf, outcomeOf } from "./outcomes.ts";
import { text } from "./text.ts";
import { WriteText } from "./write.tsx";

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
    <EntryBody what={text.webhook} tone="off" word={eventType}>
      <p>
        {repository} {subject}
      </p>
      <p class="quiet small">{text.delivery(delivery)}</p>
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
    <EntryBody what={text.reconcile(entry.function)} tone={tone} word={word}>
      <p>
        <ObjectLink of={object} />
        {causes.map((cause, at) => (
          <span key={at}>
            {" · "}
            <Cause of={cause} about={object} />
          </span>
        ))}
        {moreCauses > 0 && <span class="quiet small">{text.moreCauses(moreCauses)}</span>}
      </p>
      <p class="quiet small">
        {text.attempt(ordinal(attempt + 1), replica, duration(waitedMillis), duration(tookMillis))}
      </p>
      {error && (
        <p class="wrapped">
          {error.name}: {error.message}
        </p>
      )}
      {writes.length > 0 && (
        <ol class="plain writes" aria-label={text.writes}>
          {writes.map((write, at) => (
            <li key={at}>
              <WriteText of={write} />
            </li>
          ))}
          {moreWrites > 0 && <li class="quiet small">{text.moreWrites(moreWrites)}</li>}
        </ol>
      )}
      {next && <p>{next}</p>}
    </EntryBody>
  );
}

function Letter({ of: { function: fn, object, reason, message, attempts } }: { of: DeadLetterEntry }) {
  return (
    <EntryBody what={text.deadLetter(fn)} tone="bad" word={humanize(reason)}>
      <p class="wrapped">{message}</p>
      <p>
        {text.failed(attempts)} <a href={`/bus${deadLetterPath(fn, object)}`}>{text.inspect}</a>
      </p>
    </EntryBody>
  );
}

function EventLine({ of: { severity, reason, note, count: times, reporter } }: { of: EventEntry }) {
  return (
    <EntryBody what={text.event} tone={severity === "Warning" ? "bad" : "off"} word={humanize(reason)}>
      <p>{note}</p>
      <p class="quiet small">{text.reportedBy(reporter, times)}</p>
    </EntryBody>
  );
}
