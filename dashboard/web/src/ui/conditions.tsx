/** Conditions, as sentences. */
import type { KubeObject } from "../../../../bus/kube/object.ts";
import { Age } from "./age.tsx";
import { conditionsOf, Status, spaced, type Tone } from "./status.tsx";

/** Conditions that say that something is wrong when they are true. */
const isTrouble = (type: string): boolean => ["Stalled", "Deleting", "HotLoop"].includes(type);

function toneOf(type: string, status: string): Tone {
  if (status === "Unknown") return "busy";
  // Neither is better than the other.
  if (type === "Progressing") return status === "True" ? "busy" : "off";
  return (status === "True") === isTrouble(type) ? "bad" : "good";
}

/** What an object says of itself. */
export function Conditions({ of: object }: { of: KubeObject }) {
  const conditions = conditionsOf(object);
  return (
    <section class="card" aria-labelledby="conditions">
      <header>
        <h2 id="conditions">Conditions</h2>
      </header>
      {conditions.length === 0 ? (
        <p class="quiet">Nobody has looked at it yet.</p>
      ) : (
        <ul class="plain">
          {conditions.map(({ type, status, reason, message, lastTransitionTime }) => (
            <li key={type}>
              <span class="row">
                <Status tone={toneOf(type, status)}>{spaced(type)}</Status>
                <span class="quiet small">
                  {status === "True" ? "yes" : status === "False" ? "no" : "not known"}, since{" "}
                  <Age of={lastTransitionTime} />
                </span>
              </span>
              <p>{message || `${spaced(reason)}.`}</p>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
