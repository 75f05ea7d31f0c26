/** The last failed build. The RemoteSync remembers it after the Build is deleted. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import { Age } from "../ui/age.tsx";
import { LogText } from "../ui/log/lines.tsx";
import { conditionsOf } from "../ui/status.tsx";
import { failureText as text } from "./text.ts";

type Failure = NonNullable<NonNullable<RemoteSync["status"]>["lastFailure"]>;

/** Whether the end of the log is unfolded. It stays folded while the build's own log is available. */
type LogShown = "shown" | "folded";

/** Unfolded if the newest build is the failed one. */
export function LastFailure({ sync, log }: { sync: RemoteSync; log: LogShown }) {
  const failure = sync.status?.lastFailure;
  if (failure === undefined) return null;
  const isLast = conditionsOf(sync).some(({ type, status }) => type === "Built" && status === "False");
  return (
    <section class="card" aria-labelledby="failure">
      <header>
        <h2 id="failure">{text.title}</h2>
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
        {build} {text.of} <code title={revision}>{revision.slice(0, 7)}</code> {text.failed}
        {step && (
          <>
            {" "}
            {text.inStep} <strong>{step}</strong>
          </>
        )}
        , <Age of={time} />: {message}
      </p>
      {log && (
        <details open={shown === "shown"}>
          <summary>{text.log}</summary>
          <section
            class="log"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
            tabIndex={0}
            aria-label={text.logOf(step ?? build)}
          >
            <LogText text={log} />
          </section>
        </details>
      )}
    </div>
  );
}
