/** The live progress of deletions, step by step. */
import { useId, useRef } from "preact/hooks";
import type { Watched } from "../api/watch.ts";
import { Status, type Tone } from "../ui/status.tsx";
import { isDeleting, type State, type Step, stepsOf } from "./deletion.ts";
import { screenOf } from "./kinds.ts";
import { deletionText as text } from "./text.ts";
import "./deletion.css";
import type { Stored } from "denrei/kinds";

const tones: Readonly<Record<State, Tone>> = {
  gone: "good",
  going: "busy",
  waiting: "off",
  stalled: "bad",
  kept: "bad",
};

/**
 * The objects that were deleted since the user opened `address`. A recreated object does not count as deleted, and a list that is not
 * known shows no deletion.
 */
export function useDeleted({ items, state, asOf }: Watched, address: string): readonly Stored[] {
  const seen = useRef({ address, objects: new Map<string, Stored>() });
  if (seen.current.address !== address) seen.current = { address, objects: new Map() };
  const known = seen.current.objects;
  if (state === "live") for (const object of items) known.set(keyOf(object), object);
  if (asOf === undefined) return [];
  const present = new Set(items.map(keyOf));
  return [...known].flatMap(([key, object]) => (present.has(key) ? [] : [object]));
}

const keyOf = ({ kind, metadata }: Stored): string => `${kind}/${metadata.namespace}/${metadata.name}`;

/** A panel for each namespace with deleted objects. */
export function DeletionProgress({ present, gone }: { present: readonly Stored[]; gone: readonly Stored[] }) {
  const namespaces = Map.groupBy(
    [...gone, ...present.filter(isDeleting)],
    ({ metadata }) => metadata.namespace ?? "",
  );
  return (
    <>
      {[...namespaces.keys()].sort().map((namespace) => {
        const isHere = ({ metadata }: Stored) => metadata.namespace === namespace;
        return (
          <Panel
            key={namespace}
            namespace={namespace}
            steps={stepsOf(present.filter(isHere), gone.filter(isHere))}
          />
        );
      })}
    </>
  );
}

function Panel({ namespace, steps }: { namespace: string; steps: readonly Step[] }) {
  const id = useId();
  const done = steps.filter(({ state }) => state === "gone").length;
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{text.title(namespace)}</h2>
        <span role="status" class="quiet small">
          {done === steps.length ? text.complete : text.steps(done, steps.length)}
        </span>
      </header>
      <ol class="steps">
        {steps.map(({ name, does, state, objects }) => (
          <li key={name} data-state={state}>
            <span class="row">
              <strong>{name}</strong>
              <Status tone={tones[state]}>{text.states[state]}</Status>
              <span class="quiet small">{does}</span>
            </span>
            <ul class="plain">
              {objects.map(({ object, state: own, waitsFor }) => (
                <li key={object.metadata.uid} class="row small">
                  {own === "gone" ? (
                    <s>
                      {object.kind} {object.metadata.name}
                    </s>
                  ) : (
                    <a href={screenOf(object)}>
                      {object.kind} {object.metadata.name}
                    </a>
                  )}
                  <span>{own === "gone" ? text.deleted : text.states[own].toLowerCase()}</span>
                  <span class="quiet">{waitsFor}</span>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  );
}
