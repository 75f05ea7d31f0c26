/** An object's conditions. */
import type { Condition, KubeObject } from "denrei/kinds";
import { Elapsed } from "./age.tsx";
import { conditionsOf, humanize, isInProgress, type Tone } from "./health.ts";
import { shortMessage } from "./images.ts";
import { conditionsText as text } from "./object/text.ts";
import { Status } from "./status.tsx";

const isBadWhenTrue = (type: string): boolean => ["Stalled", "Deleting", "HotLoop"].includes(type);

function toneOf({ type, status, reason }: Condition): Tone {
  if (status === "Unknown" || (status === "False" && isInProgress(reason))) return "busy";
  if (reason === "Paused") return "off";
  // Neither value is bad.
  if (type === "Progressing") return status === "True" ? "busy" : "off";
  return (status === "True") === isBadWhenTrue(type) ? "bad" : "good";
}

/** A card with all conditions of an object. */
export function Conditions({ of: object }: { of: KubeObject }) {
  const conditions = conditionsOf(object);
  return (
    <section class="card" aria-labelledby="conditions">
      <header>
        <h2 id="conditions">{text.title}</h2>
      </header>
      {conditions.length === 0 ? (
        <p class="quiet">{text.none}</p>
      ) : (
        <ul class="plain">
          {conditions.map((condition) => {
            const { type, status, reason, message, lastTransitionTime } = condition;
            // The type already says as much as an equal reason.
            const explanation = shortMessage(message) || (reason !== type && `${humanize(reason)}.`);
            return (
              <li key={type}>
                <span class="row">
                  <Status tone={toneOf(condition)}>{humanize(type)}</Status>
                  <span class="quiet small">
                    {status} {text.for} <Elapsed since={lastTransitionTime} />
                  </span>
                </span>
                {explanation && <p title={message}>{explanation}</p>}
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
