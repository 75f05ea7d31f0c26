/** The simulated Build controller of kpack v0.17.2. Not simulated: attestations, and injected sidecars. */
import { controllerOf, type Stored } from "denrei/kinds";
import { ApiError, type KubeClient } from "denrei/kubernetes";
import { buildPod } from "./buildpod.ts";
import { isRunning } from "./builds.ts";
import { type LastLine, statusOfFailure, statusOfPod } from "./buildstatus.ts";
import { credentialsOf, PodGenerationError } from "./credentials.ts";
import { atKey, type Informer } from "./informer.ts";
import { Build, type BuildStatus, Pod } from "./kinds.ts";
import { podName } from "./names.ts";
import { fieldManager, writeStatus } from "./status.ts";

/** Dependencies of the controller. */
export interface BuildOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly builds: Informer<Build>;
  readonly pods: Informer<Pod>;
  readonly lastLine: LastLine;
  /** Resolves when the Image controller has recorded the Build in the Image's status. */
  readonly imageIdle: (build: Build) => Promise<void>;
  /** Whether the Image's status is written before the Build's. Called at the end of each Build. */
  readonly isImageFirst: () => boolean;
}

/** Builds whose final status is not written yet. Their Image may report it, but must not act on it. */
const unwritten = new WeakSet<Build>();

/** Whether the Build's final status is not written yet. */
export const isUnwritten = (build: Build): boolean => unwritten.has(build);

/** Reconciles one Build. */
export function buildController(options: BuildOptions): (key: string) => Promise<void> {
  const { client, signal, builds, pods } = options;

  /** The Build's pod. The pod of a deleted Build with the same name blocks creation until it is deleted. */
  async function podOf(build: Stored<Build>): Promise<Stored<Pod>> {
    const { namespace = "", name, uid } = build.metadata;
    const found = pods.get({ namespace, name: podName(name) });
    if (found && controllerOf(found)?.uid === uid) return found;
    const pod = buildPod(build, await credentialsOf(build, client, signal));
    try {
      const created = await client.create(Pod, pod, { fieldManager, signal });
      pods.observe(created);
      return created;
    } catch (error) {
      if (error instanceof ApiError && error.status === 422) throw new PodGenerationError(error.message);
      throw error;
    }
  }

  async function desired(build: Stored<Build>): Promise<BuildStatus> {
    try {
      return statusOfPod(build, await podOf(build), options.lastLine);
    } catch (error) {
      if (error instanceof PodGenerationError) return statusOfFailure(build, error.message);
      throw error;
    }
  }

  /** Watches of Build and Image are not ordered; this simulates the rarer order. */
  async function writeAfterImage(build: Stored<Build>, status: BuildStatus): Promise<void> {
    const ended = { ...build, status };
    unwritten.add(ended);
    builds.preview(ended);
    await options.imageIdle(build);
    try {
      builds.observe(await writeStatus(client, Build, build, status, signal));
    } catch (error) {
      builds.preview(build);
      throw error;
    }
  }

  return async (key) => {
    const first = builds.get(atKey(key));
    if (first === undefined || first.metadata.deletionTimestamp || !isRunning(first)) return;
    if (first.status === undefined) await options.imageIdle(first);
    const build = builds.get(atKey(key));
    if (build?.metadata.uid !== first.metadata.uid) return;
    const status = await desired(build);
    if (!isRunning({ ...build, status }) && options.isImageFirst()) await writeAfterImage(build, status);
    else builds.observe(await writeStatus(client, Build, build, status, signal));
  };
}
