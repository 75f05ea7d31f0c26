/**
 * The build pod of kpack v0.17.2. Not simulated: settings that only a running pod needs (security contexts, most volumes,
 * mounts and arguments), injected sidecars, cosign, and service bindings.
 */
import { controllerReference, type Stored } from "denrei/kinds";
import type { Credentials } from "./credentials.ts";
import type { Build, Pod } from "./kinds.ts";
import { podName } from "./names.ts";
import { annotations } from "./newbuild.ts";
import { parseTag } from "./reference.ts";

/** Containers of a build, in execution order; the last one is the pod's main container. */
export const steps = ["prepare", "analyze", "detect", "restore", "build", "export", "completion"] as const;

/** Label with the name of the pod's Build. */
export const buildLabel = "kpack.io/build";

/** The stack of all simulated builders. */
export const stackId = "kpk.stack";

/** An existing image that only needs another run image is rebased, not built. */
const isRebase = ({ metadata, spec }: Build): boolean =>
  metadata.annotations?.[annotations.reason] === "STACK" && spec.lastBuild?.stackId === stackId;

/** The pod of a Build. */
export function buildPod(build: Stored<Build>, { arguments: secrets, pullSecrets }: Credentials): Pod {
  const { namespace = "", name } = build.metadata;
  const { spec } = build;
  const container = (step: string, args: readonly string[]) => ({
    name: step,
    image: spec.builder.image,
    command: [`/cnb/${step}`],
    args,
    imagePullPolicy: "IfNotPresent",
    ...(Object.keys(spec.resources).length > 0 && { resources: spec.resources }),
  });
  const pulls = pullSecrets.map((secret) => `-imagepull=${secret}`);
  const prepare = {
    ...container("prepare", [...secrets, ...pulls]),
    env: [
      { name: "GIT_URL", value: spec.source.git?.url ?? "" },
      { name: "GIT_REVISION", value: spec.source.git?.revision ?? "" },
      ...(spec.env ?? []).map((one) => ({ ...one, name: `PLATFORM_ENV_${one.name}` })),
      { name: "SOURCE_SUB_PATH", value: spec.source.subPath ?? "" },
      { name: "IMAGE_TAG", value: spec.tags[0] ?? "" },
      { name: "DNS_PROBE_HOSTNAME", value: parseTag(spec.tags[0] ?? "")?.registry ?? "" },
      { name: "BUILD_CHANGES", value: build.metadata.annotations?.[annotations.changes] ?? "" },
    ],
  };
  const claim = spec.cache.volume?.persistentVolumeClaimName;
  const between = steps.slice(1, -1).map((step) => container(step, step === "export" ? spec.tags : []));
  const { tolerations, nodeSelector, affinity, runtimeClassName, schedulerName, activeDeadlineSeconds } =
    spec;
  const scheduling = {
    tolerations,
    nodeSelector,
    affinity,
    runtimeClassName,
    // The simulator binds its pods itself, so a real scheduler must ignore them.
    schedulerName: schedulerName ?? "kpack-builds",
    activeDeadlineSeconds,
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      namespace,
      name: podName(name),
      labels: { ...build.metadata.labels, [buildLabel]: name },
      annotations: { ...build.metadata.annotations, "sidecar.istio.io/inject": "false" },
      ownerReferences: [controllerReference(build)],
    },
    spec: {
      restartPolicy: "Never",
      serviceAccountName: spec.serviceAccountName,
      ...scheduling,
      initContainers: isRebase(build)
        ? [container("rebase", ["--run-image", spec.runImage.image, ...secrets, ...pulls, ...spec.tags])]
        : [prepare, ...between],
      containers: [container("completion", secrets)],
      volumes: [
        { name: "layers-dir", emptyDir: {} },
        { name: "home-dir", emptyDir: {} },
        { name: "workspace-dir", emptyDir: {} },
        ...(claim ? [{ name: "cache-dir", persistentVolumeClaim: { claimName: claim } }] : []),
      ],
    },
  };
}
