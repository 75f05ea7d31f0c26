/** The tree of a causal history: reconciles below the writes that caused them. */
import type { ReconcileEntry, ReconcileWrite } from "../../../../api/bus.ts";
import type { CausalThread, QuietRuns, ReconcileRun } from "../../../../api/causality.ts";
import { Status } from "../../ui/status.tsx";
import { functionAddress } from "../addresses.ts";
import { outcomeOf } from "../history/outcomes.ts";
import { WriteText } from "../history/write.tsx";
import { duration, ordinal } from "../numbers.ts";
import { Cause, ObjectLink } from "../objects.tsx";
import { dateTimeOf } from "../times.ts";
import { failuresIn, hasEntry, stepsIn, threadsOf } from "./steps.ts";
import { text } from "./text.ts";

/** The point of reference of all steps. */
interface Place {
  /** When the history began: milliseconds since 1970. */
  readonly began: number;
  /** The entry that the user came from. */
  readonly entry: string;
  /** Number of writes between the origin and the steps. */
  readonly level: number;
}

/** Levels that are open at first. Deeper ones are if they have the entry that the user came from. */
const openLevels = 3;

interface OfThreads {
  of: readonly CausalThread[];
  at: Place;
}

export function Threads({ of: threads, at }: OfThreads) {
  return (
    <ol class="causes">
      {threads.flatMap(({ link, runs }) =>
        runs.map((run, index) =>
          run.type === "quiet" ? (
            <Quiet key={run.ids[0]} of={run} at={at} />
          ) : (
            <Reconcile
              key={run.entry.id}
              of={run}
              at={at}
              isContinued={index > 0}
              outside={index === 0 && link?.type === "outside" ? link.resourceVersion : null}
            />
          ),
        ),
      )}
    </ol>
  );
}

/** How long after the origin a step began. */
function Offset({ of: time, at: { began } }: { of: string; at: Place }) {
  const millis = Math.max(0, Date.parse(time) - began);
  return (
    <time class="offset" dateTime={time} title={dateTimeOf(new Date(time))}>
      +{millis < 1 ? "0 ms" : duration(millis)}
    </time>
  );
}

function Reconcile({
  of: run,
  at,
  isContinued,
  outside,
}: {
  of: ReconcileRun;
  at: Place;
  isContinued: boolean;
  /** The version that another program made. */
  outside: string | null;
}) {
  const { entry } = run;
  const [tone, word] = outcomeOf(entry);
  const isHere = entry.id === at.entry;
  return (
    <li id={entry.id} aria-current={isHere || undefined}>
      {outside !== null && <Outside of={entry} version={outside} />}
      <div class="row">
        <Offset of={entry.at} at={at} />
        <a href={functionAddress(entry.function)}>{entry.function}</a>
        <ObjectLink of={entry.object} />
        <Status tone={tone}>{word}</Status>
        {isHere && <span class="here">{text.run.here}</span>}
      </div>
      <p class="quiet small">
        {isContinued && `${continuedBy(entry)}, `}
        {text.run.took(duration(entry.waitedMillis), duration(entry.tookMillis), entry.replica)}
      </p>
      {entry.error && (
        <p class="wrapped">
          {entry.error.name}: {entry.error.message}
        </p>
      )}
      <OtherCauses of={entry} />
      <Writes of={run} at={at} />
    </li>
  );
}

/** Why a run follows the one before it. */
function continuedBy({ causes: [cause], attempt }: ReconcileEntry): string {
  if (cause?.type === "timer" || cause?.type === "replay") return text.run.continued[cause.type];
  return attempt > 0 ? text.run.continued.retry(ordinal(attempt + 1)) : text.run.continued.again;
}

function Outside({ of: { causes, object }, version }: { of: ReconcileEntry; version: string }) {
  const changed = causes.find((cause) => cause.type === "object" && cause.resourceVersion === version);
  return (
    <p class="small">
      {text.thread.outside} <ObjectLink of={changed?.type === "object" ? changed.object : object} />{" "}
      <span class="quiet">{text.thread.outsideVersion(version)}</span>
    </p>
  );
}

/** The causes besides the one that triggered the reconcile. */
function OtherCauses({ of: { causes, moreCauses, object } }: { of: ReconcileEntry }) {
  const others = causes.slice(1);
  if (others.length + moreCauses === 0) return null;
  return (
    <p class="small">
      {text.run.alsoCaused}{" "}
      {others.map((cause, at) => (
        <span key={at}>
          {at > 0 && " · "}
          <Cause of={cause} about={object} />
        </span>
      ))}{" "}
      {moreCauses > 0 && text.run.moreCauses(moreCauses)}
    </p>
  );
}

function Writes({ of: run, at }: { of: ReconcileRun; at: Place }) {
  const { writes, moreWrites } = run.entry;
  const others = threadsOf(run, undefined);
  return (
    <>
      {writes.length > 0 && (
        <ul class="plain writes">
          {writes.map((write, index) => (
            <Write key={index} of={write} threads={threadsOf(run, index)} at={at} />
          ))}
          {moreWrites > 0 && <li class="quiet small">{text.run.moreWrites(moreWrites)}</li>}
        </ul>
      )}
      {others.length > 0 && <Threads of={others} at={at} />}
    </>
  );
}

function Write({
  of: write,
  threads,
  at,
}: {
  of: ReconcileWrite;
  threads: readonly CausalThread[];
  at: Place;
}) {
  const isOpen = at.level < openLevels || hasEntry(threads, at.entry);
  return (
    <li>
      <WriteText of={write} />
      {threads.length > 0 && (
        <details open={isOpen}>
          <summary class="small">{text.thread.followed(stepsIn(threads), failuresIn(threads))}</summary>
          <Threads of={threads} at={{ ...at, level: at.level + 1 }} />
        </details>
      )}
    </li>
  );
}

/** Timer runs that changed nothing, as one line. */
function Quiet({ of: { function: fn, object, ids, from, to }, at }: { of: QuietRuns; at: Place }) {
  const isHere = ids.includes(at.entry);
  return (
    <li aria-current={isHere || undefined}>
      <div class="row">
        <Offset of={from} at={at} />
        {from !== to && (
          <>
            {text.quiet.until} <Offset of={to} at={at} />
          </>
        )}
        <a href={functionAddress(fn)}>{fn}</a>
        <ObjectLink of={object} />
        <span class="quiet">{text.quiet.label(ids.length)}</span>
        {isHere && <span class="here">{text.run.here}</span>}
      </div>
    </li>
  );
}
