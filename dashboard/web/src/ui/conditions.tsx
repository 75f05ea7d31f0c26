/** Conditions, as sentences. */
import type { Condition, KubeObject } from "../../../../bus/kube/object.ts";
import { Age } from "./age.tsx";
import { conditionsOf, isUnderWay, spaced, type Tone } from "./health.ts";
import { Status } from "./status.tsx";

/** Conditions that say that something is wrong when they are true. */
const isTrouble = (type: string): boolean => ["Stalled", "Deleting", "HotLoop"].includes(type);

function toneOf({ type, status, reason }: Condition): Tone {
  if (status === "Unknown" || (status === "False" && isUnderWay(reason))) return "busy";
  if (reason === "Paused") return "off";
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
          {conditions.map((condition) => {
            const { type, status, reason, message, lastTransitionTime } = condition;
            return (
              <li key={type}>
                <span class="row">
                  <Status tone={toneOf(condition)}>{spaced(type)}</Status>
                  <span class="quiet small">
                    {status === "True" ? "yes" : status === "False" ? "no" : "not known"}, since{" "}
                    <Age of={lastTransitionTime} />
                  </span>
                </span>
                <p>{message || `${spaced(reason)}.`}</p>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
