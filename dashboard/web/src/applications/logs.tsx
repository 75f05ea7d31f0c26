/** The logs of an Application's pods and of the builds of its image. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { useEffect, useState } from "preact/hooks";
import type { PodObject } from "../api/kubernetes.ts";
import type { Watched } from "../api/watch.ts";
import { NewestBuilds } from "../builds/newest.tsx";
import { Log } from "../ui/log.tsx";
import { Loaded } from "../ui/states.tsx";

interface Choice {
  readonly value: string;
  readonly name: string;
  readonly pod: string;
  readonly container: string;
  readonly restarts: number;
}

const age = ({ metadata }: Stored<PodObject>): string => metadata.creationTimestamp ?? "";

/** Newest pod first: after a change, its log matters most. */
const choicesOf = (pods: readonly Stored<PodObject>[]): readonly Choice[] =>
  pods
    .toSorted((a, b) => age(b).localeCompare(age(a)))
    .flatMap(({ metadata, spec, status }) =>
      (spec.containers ?? []).map(({ name }) => ({
        value: `${metadata.name} ${name}`,
        name: (spec.containers ?? []).length > 1 ? `${metadata.name}, ${name}` : metadata.name,
        pod: metadata.name,
        container: name,
        restarts: status?.containerStatuses?.find((container) => container.name === name)?.restartCount ?? 0,
      })),
    );

/** The logs tab. */
export function Logs({
  namespace,
  pods,
  builds,
}: {
  namespace: string;
  pods: Watched<PodObject>;
  builds: readonly Stored<RemoteSync>[];
}) {
  return (
    <div class="stack">
      <section class="card" aria-labelledby="runtime">
        <header>
          <h2 id="runtime">Pod logs</h2>
        </header>
        <PodLogs namespace={namespace} pods={pods} />
      </section>
      {builds.length > 0 && (
        <section class="card" aria-labelledby="builds">
          <header>
            <h2 id="builds">Build logs</h2>
          </header>
          <NewestBuilds namespace={namespace} of={builds} />
        </section>
      )}
    </div>
  );
}

/** Keeps showing the selected log while pods come and go, even after its pod is deleted. */
function PodLogs({ namespace, pods }: { namespace: string; pods: Watched<PodObject> }) {
  const [read, setRead] = useState<Choice>();
  const [run, setRun] = useState<"present" | "previous">("present");
  const choices = choicesOf(pods.items);
  const there = choices.find(({ value }) => value === (read ?? choices[0])?.value);
  const shown = there ?? read;
  useEffect(() => setRead(shown), [shown?.value]);
  if (shown === undefined)
    return (
      <Loaded watched={pods} empty={<p>No pods, so there are no logs.</p>}>
        {() => null}
      </Loaded>
    );
  const isGone = there === undefined && pods.state === "live";
  const [newest] = choices;
  return (
    <div class="stack">
      <label class="field">
        Pod
        <select
          value={shown.value}
          onChange={({ currentTarget }) =>
            setRead(choices.find(({ value }) => value === currentTarget.value))
          }
        >
          {there === undefined && (
            <option value={shown.value}>{`${shown.name}${isGone ? " (deleted)" : ""}`}</option>
          )}
          {choices.map(({ value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {isGone && (
        <div class="notice row" role="status">
          <span>This pod no longer exists. Its log stays here until you choose another pod.</span>
          {newest && (
            <button type="button" onClick={() => setRead(newest)}>
              Show the newest pod
            </button>
          )}
        </div>
      )}
      {shown.restarts > 0 && (
        <label class="row">
          <input
            type="checkbox"
            checked={run === "previous"}
            onChange={({ currentTarget }) => setRun(currentTarget.checked ? "previous" : "present")}
          />
          Show the log from before the last restart
        </label>
      )}
      <Log
        key={`${shown.value} ${run}`}
        namespace={namespace}
        pod={shown.pod}
        container={shown.container}
        run={shown.restarts > 0 ? run : "present"}
      />
    </div>
  );
}
