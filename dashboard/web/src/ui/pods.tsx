/** A table of pods with their states. */
import type { Stored } from "denrei/kinds";
import type { PodObject } from "../api/kubernetes.ts";
import type { Watched } from "../api/watch.ts";
import { Age } from "./age.tsx";
import { ImageName } from "./imagename.tsx";
import { statusValue, timeValue } from "./sort.ts";
import { Loaded } from "./states.tsx";
import { humanize, Status, type Tone } from "./status.tsx";
import { type Column, Table } from "./table.tsx";

/** The state of a pod. Container errors take precedence over the phase. */
export function podState({ metadata, status }: PodObject): readonly [Tone, string] {
  if (metadata.deletionTimestamp !== undefined) return ["busy", "Deleting"];
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const waiting = containers.find(
    ({ state }) => state?.waiting?.reason && !/Initializing|Creating/.test(state.waiting.reason),
  );
  if (waiting) return ["bad", humanize(waiting.state?.waiting?.reason ?? "")];
  const failed = containers.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  if (failed) return ["bad", humanize(failed.state?.terminated?.reason ?? "Failed")];
  const phase = status?.phase ?? "Pending";
  if (phase === "Failed") return ["bad", humanize(status?.reason ?? phase)];
  if (phase === "Succeeded") return ["off", "Succeeded"];
  if (phase !== "Running") return ["busy", phase];
  return status?.containerStatuses?.every(({ ready }) => ready) ? ["good", "Running"] : ["busy", "Not ready"];
}

/** A table of pods. */
export function Pods({ watched }: { watched: Watched<PodObject> }) {
  return (
    <section class="card" aria-labelledby="pods">
      <header>
        <h2 id="pods">Pods</h2>
      </header>
      <Loaded watched={watched} empty={<p>No pods. Either 0 are requested, or none could be created yet.</p>}>
        {(pods) => <Table rows={pods} keyOf={uidOf} columns={columns} />}
      </Loaded>
    </section>
  );
}

const restartsOf = ({ status }: PodObject): number =>
  (status?.containerStatuses ?? []).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);

const uidOf = ({ metadata }: PodObject): string => metadata.uid ?? "";

const columns: readonly Column<Stored<PodObject>>[] = [
  ["Name", ({ metadata }) => metadata.name, "text", ({ metadata }) => metadata.name],
  [
    "State",
    (pod) => {
      const [tone, word] = podState(pod);
      return <Status tone={tone}>{word}</Status>;
    },
    "text",
    (pod) => statusValue(podState(pod)),
  ],
  ["Image", ({ spec }) => <ImageName of={spec.containers?.[0]?.image} />],
  ["Restarts", restartsOf, "number", restartsOf],
  [
    "Age",
    ({ metadata }) => <Age of={metadata.creationTimestamp} />,
    "text",
    ({ metadata }) => timeValue(metadata.creationTimestamp),
  ],
];
