/** The steps of a build: the containers of its pod with their logs. */
import type { Build } from "@denrei/functions/paas/kinds/kpack";
import type { Stored } from "denrei/kinds";
import { useId, useState } from "preact/hooks";
import type { ContainerStatus, PodObject } from "../api/kubernetes.ts";
import type { Watched } from "../api/watch.ts";
import { Duration } from "../ui/age.tsx";
import { Details } from "../ui/details.tsx";
import { Log } from "../ui/log/log.tsx";
import { Status, type Tone } from "../ui/status.tsx";
import { failureOf, numberOf } from "./build.ts";
import { stepsText as text } from "./text.ts";
import { withoutPod } from "./withoutpod.ts";

export function Steps({ build, pods }: { build: Stored<Build>; pods: Watched<PodObject> }) {
  const id = useId();
  const pod = pods.items.find(({ metadata }) => metadata.name === build.status?.podName);
  const containers = [
    ...(pod?.status?.initContainerStatuses ?? []),
    ...(pod?.status?.containerStatuses ?? []),
  ];
  const isOver = ["Failed", "Succeeded"].includes(pod?.status?.phase ?? "");
  const failure = failureOf(build);
  return (
    <section class="stack" aria-labelledby={id}>
      <h2 id={id}>{text.title(numberOf(build))}</h2>
      {failure && !containers.some(hasFailed) && (
        <div class="notice bad">
          <p>{text.failed}</p>
          <Details message={failure} />
        </div>
      )}
      {containers.length === 0 ? (
        <p class="quiet">{withoutPod(build, pods)}</p>
      ) : (
        <ol class="steps">
          {containers.map((container) => (
            <Step
              key={container.name}
              container={container}
              namespace={build.metadata.namespace ?? ""}
              pod={pod?.metadata.name ?? ""}
              state={stateOf(container, isOver)}
            />
          ))}
        </ol>
      )}
    </section>
  );
}

interface StepState {
  readonly tone: Tone;
  readonly word: string;
  /** When its log is shown. */
  readonly opens: "automatically" | "when asked" | "never";
}

const hasFailed = ({ state }: ContainerStatus): boolean => (state?.terminated?.exitCode ?? 0) !== 0;

function stateOf({ state }: ContainerStatus, isOver: boolean): StepState {
  if (state?.terminated) {
    const { exitCode } = state.terminated;
    return exitCode === 0
      ? { tone: "good", word: text.done, opens: "when asked" }
      : { tone: "bad", word: text.failedWith(exitCode), opens: "automatically" };
  }
  if (state?.running) return { tone: "busy", word: text.running, opens: "automatically" };
  return { tone: "off", word: isOver ? text.notRun : text.waiting, opens: "never" };
}

function Step({
  container: { name, state },
  namespace,
  pod,
  state: { tone, word, opens },
}: {
  container: ContainerStatus;
  namespace: string;
  pod: string;
  state: StepState;
}) {
  const id = useId();
  const [chosen, setChosen] = useState<"open" | "closed">();
  const isOpen = opens !== "never" && (chosen ?? (opens === "automatically" ? "open" : "closed")) === "open";
  const { startedAt, finishedAt } = state?.terminated ?? { startedAt: state?.running?.startedAt };
  return (
    <li>
      <h3>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          disabled={opens === "never"}
          onClick={() => setChosen(isOpen ? "closed" : "open")}
        >
          {name} <Status tone={tone}>{word}</Status>{" "}
          <span class="took quiet small">
            <Duration from={startedAt} to={finishedAt} />
          </span>
        </button>
      </h3>
      {isOpen && (
        <div id={id} class="opened">
          <Log
            name={text.log(name, pod)}
            file={`${pod}-${name}`}
            namespace={namespace}
            targets={[{ pod, container: name }]}
          />
        </div>
      )}
    </li>
  );
}
