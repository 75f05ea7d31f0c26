/** Pods, and what they are doing. */
import type { Stored } from "../../../../bus/kube/object.ts";
import type { PodObject } from "../api/others.ts";
import type { Watched } from "../api/watch.ts";
import { Age } from "./age.tsx";
import { Loaded } from "./states.tsx";
import { Status, spaced, type Tone } from "./status.tsx";

/** What a pod is doing: the trouble of its containers comes before its phase. */
export function podState({ metadata, status }: PodObject): readonly [Tone, string] {
  if (metadata.deletionTimestamp !== undefined) return ["busy", "Going"];
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const waiting = containers.find(
    ({ state }) => state?.waiting?.reason && !/Initializing|Creating/.test(state.waiting.reason),
  );
  if (waiting) return ["bad", spaced(waiting.state?.waiting?.reason ?? "")];
  const failed = containers.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  if (failed) return ["bad", spaced(failed.state?.terminated?.reason ?? "Failed")];
  const phase = status?.phase ?? "Pending";
  if (phase === "Failed") return ["bad", spaced(status?.reason ?? phase)];
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
      <Loaded watched={watched} empty={<p>No pods: nothing is to run, or nothing could be started yet.</p>}>
        {(pods) => (
          <div class="table">
            <table>
              <thead>
                <tr>
                  <th>Name</th>
                  <th>State</th>
                  <th>Image</th>
                  <th class="number">Restarts</th>
                  <th>Age</th>
                </tr>
              </thead>
              <tbody>
                {pods.map((pod) => (
                  <PodRow key={pod.metadata.uid} pod={pod} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
    </section>
  );
}

function PodRow({ pod }: { pod: Stored<PodObject> }) {
  const [tone, word] = podState(pod);
  const restarts = (pod.status?.containerStatuses ?? []).reduce(
    (sum, { restartCount = 0 }) => sum + restartCount,
    0,
  );
  return (
    <tr>
      <th scope="row" data-label="Name">
        <span>{pod.metadata.name}</span>
      </th>
      <td data-label="State">
        <Status tone={tone}>{word}</Status>
      </td>
      <td data-label="Image">
        <code class="cut">{pod.spec.containers?.[0]?.image ?? ""}</code>
      </td>
      <td class="number" data-label="Restarts">
        {restarts}
      </td>
      <td data-label="Age">
        <Age of={pod.metadata.creationTimestamp} />
      </td>
    </tr>
  );
}
