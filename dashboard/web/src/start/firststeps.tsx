/** The way from an empty namespace to the first preview. */
import { useState } from "preact/hooks";
import { creating } from "../api/access.ts";
import { applications, appPipelines, type Resource } from "../api/resource.ts";
import type { Watched } from "../api/watch.ts";
import { gitHubApps } from "../github/resources.ts";
import { ActionLink } from "../ui/actionbutton.tsx";
import { namespace } from "../ui/namespace.tsx";
import { Status, type Tone } from "../ui/status.tsx";
import { text } from "./text.ts";

type StepName = keyof typeof text.steps;

const links: readonly (readonly [step: StepName, to: string, creates: Resource])[] = [
  ["github", "/github/new-app", gitHubApps],
  ["application", "/applications/new", applications],
  ["preview", "/previews/new", appPipelines],
];

const storedAs = "denrei.firststeps";

/** The steps, with the objects that each of them creates. Shown until all are done, or until the user hides them. Not shown while it is unknown which steps are done. */
export function FirstSteps({ lists }: { lists: Readonly<Record<StepName, Watched>> }) {
  const [isHidden, setHidden] = useState(() => localStorage.getItem(storedAs) === "hidden");
  const known = links.map(([step]) => lists[step]);
  const isDone = known.map(({ items }) => items.length > 0);
  if (isHidden || isDone.every(Boolean) || known.some(({ asOf }) => asOf === undefined)) return null;
  const hide = () => {
    localStorage.setItem(storedAs, "hidden");
    setHidden(true);
  };
  return (
    <section class="card" aria-labelledby="first-steps">
      <header>
        <h2 id="first-steps">{text.title}</h2>
        <button type="button" onClick={hide}>
          {text.hide}
        </button>
      </header>
      <ol class="first-steps">
        {links.map(([step, to, creates], at) => (
          <Step key={step} step={step} to={to} creates={creates} state={stateOf(isDone, at)} />
        ))}
      </ol>
    </section>
  );
}

type State = "done" | "next" | "later";

const stateOf = (isDone: readonly boolean[], at: number): State =>
  isDone[at] ? "done" : isDone.indexOf(false) === at ? "next" : "later";

const tones: Readonly<Record<State, Tone>> = { done: "good", next: "busy", later: "off" };

function Step({ step, to, creates, state }: { step: StepName; to: string; creates: Resource; state: State }) {
  const { name, about, action } = text.steps[step];
  return (
    <li>
      <span class="row">
        <strong>{name}</strong>
        <Status tone={tones[state]}>{text[state]}</Status>
      </span>
      {state !== "done" && (
        <>
          <p class="quiet">{about}</p>
          <ActionLink
            needs={creating(creates, namespace.value)}
            to={to}
            class={state === "next" ? "button primary" : "button"}
          >
            {action}
          </ActionLink>
          {step === "github" && (
            <p class="quiet">
              {text.steps.github.otherwise} <a href="/github/new">{text.steps.github.alternative}</a>
            </p>
          )}
        </>
      )}
    </li>
  );
}
