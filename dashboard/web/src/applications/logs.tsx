/** What an Application's pods and the builds of its image write. */
import { useState } from "preact/hooks";
import type { Stored } from "../../../../bus/kube/object.ts";
import type { RemoteSync } from "../../../../functions/paas/kinds.ts";
import type { PodObject } from "../api/others.ts";
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

const choicesOf = (pods: readonly Stored<PodObject>[]): readonly Choice[] =>
  pods.flatMap(({ metadata, spec, status }) =>
    (spec.containers ?? []).map(({ name }) => ({
      value: `${metadata.name} ${name}`,
      name: (spec.containers ?? []).length > 1 ? `${metadata.name}, ${name}` : metadata.name,
      pod: metadata.name,
      container: name,
      restarts: status?.containerStatuses?.find((container) => container.name === name)?.restartCount ?? 0,
    })),
  );

/** The second part of the screen. */
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
          <h2 id="runtime">What its pods write</h2>
        </header>
        <Loaded watched={pods} empty={<p>No pods, and so nothing is written.</p>}>
          {(items) => <PodLogs namespace={namespace} choices={choicesOf(items)} />}
        </Loaded>
      </section>
      {builds.length > 0 && (
        <section class="card" aria-labelledby="builds">
          <header>
            <h2 id="builds">What the builds of its image write</h2>
          </header>
          <NewestBuilds namespace={namespace} of={builds} />
        </section>
      )}
    </div>
  );
}

function PodLogs({ namespace, choices }: { namespace: string; choices: readonly Choice[] }) {
  const [chosen, setChosen] = useState("");
  const [run, setRun] = useState<"present" | "previous">("present");
  const shown = choices.find(({ value }) => value === chosen) ?? choices[0];
  if (shown === undefined) return null;
  return (
    <div class="stack">
      <label class="field">
        Pod
        <select value={shown.value} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
          {choices.map(({ value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {shown.restarts > 0 && (
        <label class="row">
          <input
            type="checkbox"
            checked={run === "previous"}
            onChange={({ currentTarget }) => setRun(currentTarget.checked ? "previous" : "present")}
          />
          What it wrote before it was started again
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
