/** The Build controller of the stand-in for kpack v0.17.2. Left out: attestations, and sidecars that are injected. */
import type { KubeClient } from "../../../bus/kube/client.ts";
import { ApiError } from "../../../bus/kube/errors.ts";
import { controllerOf, type Stored } from "../../../bus/kube/object.ts";
import { buildPod } from "./buildpod.ts";
import { isRunning } from "./builds.ts";
import { type LastLine, statusOfFailure, statusOfPod } from "./buildstatus.ts";
import { credentialsOf, PodGenerationError } from "./credentials.ts";
import { atKey, type Informer } from "./informer.ts";
import { Build, type BuildStatus, Pod } from "./kinds.ts";
import { podName } from "./names.ts";
import { fieldManager, writeStatus } from "./status.ts";

/** What the controller sees. */
export interface BuildOptions {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly builds: Informer<Build>;
  readonly pods: Informer<Pod>;
  readonly lastLine: LastLine;
  /** Resolves when the Image of a Build has said that there is the Build. */
  readonly imageIdle: (build: Build) => Promise<void>;
  /** Asked at the end of each Build. */
  readonly isImageFirst: () => boolean;
}

/** A Build whose end is not written yet: its Image may say so, and may do nothing else about it. */
const foreseen = new WeakSet<Build>();

/** Whether that is so. */
export const isForeseen = (build: Build): boolean => foreseen.has(build);

/** Reconciles one Build. */
export function buildController(options: BuildOptions): (key: string) => Promise<void> {
  const { client, signal, builds, pods } = options;

  /** The Build's own pod: that of a dead Build of the same name is in the way until it is gone. */
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

  /** The two are watched apart, so nobody can rely on the order: this is the rarer one. */
  async function writeAfterImage(build: Stored<Build>, status: BuildStatus): Promise<void> {
    const ended = { ...build, status };
    foreseen.add(ended);
    builds.foresee(ended);
    await options.imageIdle(build);
    try {
      builds.observe(await writeStatus(client, Build, build, status, signal));
    } catch (error) {
      builds.foresee(build);
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
