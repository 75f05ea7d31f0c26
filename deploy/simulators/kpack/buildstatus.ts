/** The status of a Build, derived from its pod, with the messages of kpack v0.17.2. */
import type { Build, BuildStatus, Condition, ContainerState, ContainerStatus, Pod } from "./kinds.ts";
import { decodeMetadata } from "./metadata.ts";
import { condition } from "./status.ts";

/** Returns the last line that a container logged. */
export type LastLine = (pod: Pod, container: string) => string;

const maxLogMessage = 800;

/** Derives a Build's status from its pod. Throws when a succeeded pod has no metadata of the built image. */
export function statusOfPod(build: Build, pod: Pod, lastLine: LastLine): BuildStatus {
  const containers = containersOf(pod);
  const { phase } = pod.status ?? {};
  const built = phase === "Succeeded" ? decodeMetadata(completionMessage(containers)) : undefined;
  const { stack = {}, lifecycleVersion = "" } = build.status ?? {};
  const stepStates = containers.map(stepState);
  const stepsCompleted = containers
    .filter(({ state }) => state.terminated?.exitCode === 0)
    .map(({ name }) => name);
  return {
    ...build.status,
    stack,
    lifecycleVersion,
    ...built,
    podName: pod.metadata.name,
    ...(stepStates.length > 0 && { stepStates }),
    ...(stepsCompleted.length > 0 && { stepsCompleted }),
    conditions: [succeeded(pod, containers, lastLine)],
    observedGeneration: build.metadata.generation ?? 0,
  };
}

/** Status of a Build whose pod cannot be created: without a reason and without a pod. */
export const statusOfFailure = (build: Build, message: string): BuildStatus => ({
  stack: {},
  lifecycleVersion: "",
  ...build.status,
  conditions: [condition("Succeeded", "False", undefined, message)],
  observedGeneration: build.metadata.generation ?? 0,
});

/** All containers of a pod, in execution order. */
export const containersOf = ({ status }: Pod): ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

function succeeded(pod: Pod, containers: readonly ContainerStatus[], lastLine: LastLine): Condition {
  const { phase, message = "" } = pod.status ?? {};
  if (phase === "Succeeded") return condition("Succeeded", "True", "Completed");
  if (phase === "Failed") {
    const failed = pod.status?.initContainerStatuses?.find(({ state }) => state.terminated?.exitCode);
    return condition(
      "Succeeded",
      "False",
      "Failed",
      failed ? `Error: ${message}${terminationMessage(pod, failed, lastLine)}` : message,
    );
  }
  const waiting = containers
    .slice(0, -1)
    .map(stepState)
    .find((state) => state.waiting)?.waiting;
  return phase === "Pending" && waiting
    ? condition("Succeeded", "Unknown", waiting.reason, waiting.message)
    : condition("Succeeded", "Unknown");
}

function terminationMessage(pod: Pod, container: ContainerStatus, lastLine: LastLine): string {
  const { namespace, name } = pod.metadata;
  const lastLogLine = lastLine(pod, container.name).slice(0, maxLogMessage);
  const more = `For more info use \`kubectl logs -n ${namespace} ${name} -c ${container.name}\``;
  return ` ${stepState(container).terminated?.message} ${lastLogLine}: ${more}`;
}

/** Adds kpack's default message to a state without one. */
function stepState({ name, state }: ContainerStatus): ContainerState {
  if (state.terminated) {
    const how = state.terminated.exitCode === 0 ? "successfully" : "with error";
    const message = state.terminated.message || `Container ${name} terminated ${how}`;
    return { terminated: { ...state.terminated, message } };
  }
  if (state.waiting)
    return { waiting: { ...state.waiting, message: state.waiting.message || `Container ${name} waiting` } };
  return state;
}

const completionMessage = (containers: readonly ContainerStatus[]): string =>
  containers.find(({ name }) => name === "completion")?.state.terminated?.message ?? "";
