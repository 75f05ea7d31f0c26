/**
 * The status of a simulated build pod, step by step, in the order in which a kubelet writes it. Not simulated: pod conditions,
 * and ids of containers and images.
 */
import { createHash } from "node:crypto";
import { controllerOf } from "denrei/kinds";
import { stackId } from "./buildpod.ts";
import { containersOf } from "./buildstatus.ts";
import type { Build, Builder, ContainerState, ContainerStatus, Pod, PodStatus } from "./kinds.ts";
import { type BuildMetadata, encodeMetadata } from "./metadata.ts";
import { labels } from "./newbuild.ts";
import { annotationOf, badMetadata, evict, evictionMessage, failStep } from "./podannotations.ts";
import { repositoryOf } from "./reference.ts";

/** The next status write of a pod. */
export interface NextStep {
  readonly status: PodStatus;
  /** The container that ends with this step, after its duration. */
  readonly ends?: string;
  /** The container that starts with this step. */
  readonly starts?: string;
}

const failureExitCode = 1;

/** The next status write; undefined for a finished pod. `built` returns the metadata for the completion container. */
export function nextStep(pod: Pod, built: () => BuildMetadata): NextStep | undefined {
  const { status = {}, spec } = pod;
  if (status.phase === "Succeeded" || status.phase === "Failed") return undefined;
  if (!status.containerStatuses) {
    const waiting = ({ name, image }: { name: string; image: string }): ContainerStatus => ({
      name,
      image,
      imageID: "",
      ready: false,
      restartCount: 0,
      state: { waiting: { reason: "PodInitializing" } },
    });
    return {
      status: {
        phase: "Pending",
        hostIP: "127.0.0.1",
        startTime: now(),
        initContainerStatuses: (spec.initContainers ?? []).map(waiting),
        containerStatuses: spec.containers.map(waiting),
      },
    };
  }
  const containers = containersOf(pod);
  const current = containers.find(({ state }) => !state.terminated);
  if (current === undefined) return { status: { ...status, phase: "Succeeded" } };
  const last = current === containers.at(-1);
  if (current.state.running === undefined) {
    const reason = annotationOf(pod, evict);
    if (reason && current === containers[1])
      return { status: { phase: "Failed", reason, message: evictionMessage(reason) } };
    const state = { running: { startedAt: now() } };
    return {
      status: { ...withState(status, current, state), ...(last && { phase: "Running" }) },
      starts: current.name,
    };
  }
  const exitCode = annotationOf(pod, failStep) === current.name ? failureExitCode : 0;
  const message = last && exitCode === 0 ? completionMessage(pod, built) : undefined;
  const state = {
    terminated: {
      exitCode,
      reason: exitCode === 0 ? "Completed" : "Error",
      startedAt: current.state.running.startedAt,
      finishedAt: now(),
      ...(message && { message }),
    },
  };
  const phase = exitCode !== 0 ? { phase: "Failed" } : last ? { phase: "Succeeded" } : {};
  return { status: { ...withState(status, current, state), ...phase }, ends: current.name };
}

const completionMessage = (pod: Pod, built: () => BuildMetadata): string =>
  annotationOf(pod, badMetadata) ? "not metadata" : encodeMetadata(built());

const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, "Z");

function withState(status: PodStatus, of: ContainerStatus, state: ContainerState): PodStatus {
  const change = (all: ContainerStatus[] = []) => all.map((one) => (one === of ? { ...one, state } : one));
  return {
    initContainerStatuses: change(status.initContainerStatuses),
    containerStatuses: change(status.containerStatuses),
  };
}

/** Metadata of a Build's image. The digest is computed from the Image, the revision, the run image, and the Build's number. */
export function builtBy(build: Build, builder: Builder | undefined): BuildMetadata {
  const { spec, metadata } = build;
  const runImage = spec.runImage.image;
  const parts = [
    controllerOf(build)?.uid,
    spec.source.git?.revision,
    runImage,
    metadata.labels?.[labels.buildNumber],
  ];
  const digest = createHash("sha256").update(parts.join("\n")).digest("hex");
  return {
    latestImage: `${repositoryOf(spec.tags[0] ?? "")}@sha256:${digest}`,
    stack: { id: stackId, runImage },
    lifecycleVersion: builder?.status?.lifecycle?.version ?? lifecycleVersion,
    buildMetadata: builder?.status?.builderMetadata ?? [],
  };
}

/** Lifecycle version of all simulated builders. */
export const lifecycleVersion = "0.20.12";
