/** The last build that failed, which is remembered when the build itself is gone. */
import type { RemoteSync } from "../../../../functions/paas/kinds.ts";
import { Age } from "../ui/age.tsx";
import { conditionsOf } from "../ui/status.tsx";

type Failure = NonNullable<NonNullable<RemoteSync["status"]>["lastFailure"]>;

/** The end of its log is there at once, or when somebody asks: for as long as the build's own log is shown elsewhere. */
type LogShown = "shown" | "folded";

/** Shown at once while it is the newest of builds, and else when somebody asks. */
export function LastFailure({ sync, log }: { sync: RemoteSync; log: LogShown }) {
  const failure = sync.status?.lastFailure;
  if (failure === undefined) return null;
  const isLast = conditionsOf(sync).some(({ type, status }) => type === "Built" && status === "False");
  return (
    <section class="card" aria-labelledby="failure">
      <header>
        <h2 id="failure">The last failure</h2>
      </header>
      {isLast ? (
        <About failure={failure} log={log} />
      ) : (
        <details>
          <summary>
            {failure.build}, <Age of={failure.time} />
          </summary>
          <About failure={failure} log={log} />
        </details>
      )}
    </section>
  );
}

function About({ failure, log: shown }: { failure: Failure; log: LogShown }) {
  const { build, revision, step, message, log, time } = failure;
  return (
    <div class="stack">
      <p>
        {build} of <code title={revision}>{revision.slice(0, 7)}</code> failed
        {step && (
          <>
            {" "}
            in the step <strong>{step}</strong>
          </>
        )}
        , <Age of={time} />: {message}
      </p>
      {log && (
        <details open={shown === "shown"}>
          <summary>The end of its log</summary>
          <section
            class="log"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached with a keyboard
            tabIndex={0}
            aria-label={`End of the log of ${step ?? build}`}
          >
            {log}
          </section>
        </details>
      )}
    </div>
  );
}
