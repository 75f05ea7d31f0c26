/** The logs of an Application's pods and of the builds of its image. */
import type { RemoteSync } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import { useRef, useState } from "preact/hooks";
import { maxLogs } from "../../../api/log.ts";
import type { PodObject } from "../api/kubernetes.ts";
import type { Watched } from "../api/watch.ts";
import { NewestBuilds } from "../builds/newest.tsx";
import { Log, type LogRun, type LogTarget } from "../ui/log/log.tsx";
import { text } from "../ui/log/text.ts";
import { Loaded } from "../ui/states.tsx";
import { useUrlState } from "../ui/urlstate.ts";

/** A container of a pod. */
interface Choice extends Required<LogTarget> {
  /** `<pod>/<container>`, as in the address. */
  readonly value: string;
  readonly name: string;
}

const age = ({ metadata }: Stored<PodObject>): string => metadata.creationTimestamp ?? "";

/** Newest pod first: after a change, its log matters most. */
const choicesOf = (app: string, pods: readonly Stored<PodObject>[]): readonly Choice[] =>
  pods.toSorted((a, b) => age(b).localeCompare(age(a))).flatMap((pod) => containersOf(app, pod));

function containersOf(app: string, { metadata, spec, status }: Stored<PodObject>): Choice[] {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const pod = metadata.name;
  // All pods of an Application begin with its name.
  const short = pod.startsWith(`${app}-`) ? pod.slice(app.length + 1) : pod;
  return containers.map(({ name: container }) => ({
    value: `${pod}/${container}`,
    name: containers.length > 1 ? `${pod}, ${container}` : pod,
    label: containers.length > 1 ? `${short} ${container}` : short,
    pod,
    container,
    restarts: statuses.find(({ name }) => name === container)?.restartCount ?? 0,
  }));
}

/** The logs tab. */
export function Logs({
  namespace,
  app,
  pods,
  builds,
}: {
  namespace: string;
  /** Name of the Application. */
  app: string;
  pods: Watched<PodObject>;
  builds: readonly Stored<RemoteSync>[];
}) {
  return (
    <div class="stack">
      <section class="card" aria-labelledby="runtime">
        <header>
          <h2 id="runtime">{text.podLogs}</h2>
        </header>
        <PodLogs namespace={namespace} app={app} pods={pods} />
      </section>
      {builds.length > 0 && (
        <section class="card" aria-labelledby="builds">
          <header>
            <h2 id="builds">{text.buildLogs}</h2>
          </header>
          <NewestBuilds namespace={namespace} of={builds} />
        </section>
      )}
    </div>
  );
}

/** The log of all pods, or of one. Lines stay while pods come and go. */
function PodLogs({ namespace, app, pods }: { namespace: string; app: string; pods: Watched<PodObject> }) {
  const [chosen, choose] = useUrlState("pod");
  const [run, setRun] = useState<LogRun>("present");
  const hadPods = useRef(false);
  const choices = choicesOf(app, pods.items);
  hadPods.current ||= choices.length > 0;
  if (!hadPods.current && chosen === "")
    return (
      <Loaded watched={pods} empty={<p>{text.noPods}</p>}>
        {() => null}
      </Loaded>
    );
  const selected = chosen === "" ? choices : choices.filter(({ value }) => value === chosen);
  const isGone = selected.length === 0 && pods.state === "live";
  const hasRestarted = selected.some(({ restarts }) => restarts > 0);
  const shownRun = hasRestarted ? run : "present";
  return (
    <div class="stack">
      <PodChoice choices={choices} chosen={chosen} choose={choose} isGone={isGone} />
      {isGone && <Gone isChosen={chosen !== ""} showAll={() => choose(undefined)} />}
      {selected.length > maxLogs && (
        <p class="notice" role="status">
          {text.newestOnly(maxLogs, selected.length)}
        </p>
      )}
      {hasRestarted && (
        <label class="row">
          <input
            type="checkbox"
            checked={run === "previous"}
            onChange={({ currentTarget }) => setRun(currentTarget.checked ? "previous" : "present")}
          />
          {text.beforeRestart}
        </label>
      )}
      <Log
        key={`${chosen} ${shownRun}`}
        name={chosen === "" ? app : chosen}
        file={chosen === "" ? app : chosen.replace("/", "-")}
        namespace={namespace}
        targets={targetsOf(selected, chosen, shownRun)}
        run={shownRun}
      />
    </div>
  );
}

/** The logs to read. A chosen log is read as well if its pod is unknown, because its lines may still be there. */
function targetsOf(selected: readonly Choice[], chosen: string, run: LogRun): readonly LogTarget[] {
  const [pod, container] = chosen.split("/");
  if (selected.length === 0) return pod && container ? [{ pod, container }] : [];
  const readable = run === "previous" ? selected.filter(({ restarts }) => restarts > 0) : selected;
  return readable.slice(0, maxLogs);
}

function PodChoice({
  choices,
  chosen,
  choose,
  isGone,
}: {
  choices: readonly Choice[];
  chosen: string;
  choose: (value: string | undefined) => void;
  isGone: boolean;
}) {
  const isKnown = chosen === "" || choices.some(({ value }) => value === chosen);
  const name = chosen.replace("/", ", ");
  return (
    <label class="field">
      {text.pod}
      <select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="">{text.allPods(new Set(choices.map(({ pod }) => pod)).size)}</option>
        {!isKnown && <option value={chosen}>{isGone ? text.deletedPod(name) : name}</option>}
        {choices.map(({ value, name }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Gone({ isChosen, showAll }: { isChosen: boolean; showAll: () => void }) {
  return (
    <div class="notice row" role="status">
      <span>{isChosen ? text.podDeleted : text.noPodsNow}</span>
      {isChosen && (
        <button type="button" onClick={showAll}>
          {text.showAllPods}
        </button>
      )}
    </div>
  );
}
