/** The child objects of a Piped. Pure. */
import { ClusterRole, ClusterRoleBinding, ConfigMap, Service, ServiceAccount } from "denrei";
import { Deployment } from "denrei/kinds";
import type { Piped } from "../kinds.ts";
import type { Child } from "../kubernetes/children.ts";
import { contentDigest } from "../kubernetes/secrets.ts";
import { type Mount, volumeMountsOf, volumesOf } from "../kubernetes/volumes.ts";
import { annotations, configKeys, labels } from "../names.ts";
import { hasReached, imagesOf, isV1, type Profile } from "../profile.ts";

/** The input of the child objects. */
export interface PipedBlueprint {
  readonly piped: Pick<Piped, "metadata" | "spec">;
  readonly profile: Profile;
  readonly pipedID: string;
  /** PipeCD's configuration. */
  readonly config: string;
  /** Digest of the key and the content of volumes. */
  readonly secrets: string;
}

const folders = { config: "/etc/piped-config", secret: "/etc/piped-secret" };

const labelsOf = ({ metadata: { name } }: Pick<Piped, "metadata">) => ({
  "app.kubernetes.io/name": "piped",
  "app.kubernetes.io/instance": "piped",
  [labels.piped]: name,
});

/** Name of the cluster role and its binding, unique for each Piped of a cluster. */
export const roleName = ({ metadata: { name, namespace } }: Pick<Piped, "metadata">): string =>
  `pipecd:${namespace}:${name}`;

/** All child objects except the Secret, in the order of creation. */
export function objectsOf(blueprint: PipedBlueprint): readonly Child[] {
  const { piped, config } = blueprint;
  const { name, namespace } = piped.metadata;
  const of = { name, labels: labelsOf(piped) };
  return [
    { ...of, kind: ServiceAccount, content: {} },
    { ...of, kind: ConfigMap, content: { data: { [configKeys.piped]: config } } },
    {
      kind: ClusterRole,
      name: roleName(piped),
      content: {
        // A piped applies any manifest of its repositories.
        rules: [
          { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
          { nonResourceURLs: ["*"], verbs: ["*"] },
        ],
      },
    },
    {
      kind: ClusterRoleBinding,
      name: roleName(piped),
      content: {
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: roleName(piped) },
        subjects: [{ kind: "ServiceAccount", name, namespace }],
      },
    },
    {
      ...of,
      kind: Service,
      content: {
        spec: {
          type: "ClusterIP",
          selector: labelsOf(piped),
          ports: [{ name: "admin", port: 9085, targetPort: "admin", protocol: "TCP" }],
        },
      },
    },
    deploymentOf(blueprint),
  ];
}

const common = [
  `--config-file=${folders.config}/${configKeys.piped}`,
  "--metrics=true",
  // The gateway of a ControlPlane speaks plain text.
  "--insecure=true",
  "--log-encoding=humanize",
];

function argsOf(profile: Profile, version: string): readonly string[] {
  const later = ["--log-level=info", "--add-login-user-to-passwd=false"];
  if (isV1(version)) return ["run", ...common, ...later];
  const defaultProvider = "--enable-default-kubernetes-cloud-provider=true";
  if (profile === "L0") return ["piped", ...common, "--use-fake-api-client=false", defaultProvider];
  return [
    "piped",
    ...common,
    defaultProvider,
    ...later,
    ...(hasReached(version, "v0.48.5") ? ["--app-manifest-cache-count=150"] : []),
  ];
}

function deploymentOf({ piped, profile, pipedID, config, secrets }: PipedBlueprint): Child {
  const { name } = piped.metadata;
  const selector = labelsOf(piped);
  const probe = { httpGet: { path: "/healthz", port: "admin" } };
  const key = { secretName: name, ...(profile === "C" && { defaultMode: 0o400 }) };
  const mounts: readonly Mount[] = [
    {
      volume: { name: "piped-config", configMap: { name } },
      mountPath: folders.config,
      readOnly: true,
    },
    { volume: { name: "piped-secret", secret: key }, mountPath: folders.secret, readOnly: true },
    ...(piped.spec.volumeMounts ?? []),
  ];
  return {
    kind: Deployment,
    name,
    labels: selector,
    content: {
      spec: {
        replicas: 1,
        selector: { matchLabels: selector },
        // Two pods would run the same deployments at the same time.
        strategy: { type: "Recreate" },
        template: {
          metadata: {
            labels: selector,
            annotations: {
              "piped-id": pipedID,
              [annotations.contentDigest]: contentDigest(config, secrets),
              ...(profile === "C" && { "sidecar.istio.io/inject": "false" }),
            },
          },
          spec: {
            serviceAccountName: name,
            securityContext: {
              runAsNonRoot: true,
              runAsUser: 1000,
              fsGroup: 1000,
              ...(profile === "C" && { runAsGroup: 1000 }),
            },
            containers: [
              {
                name: "piped",
                image: imagesOf(profile, piped.spec.version).piped,
                imagePullPolicy: "IfNotPresent",
                args: argsOf(profile, piped.spec.version),
                ports: [{ name: "admin", containerPort: 9085, protocol: "TCP" }],
                readinessProbe: probe,
                livenessProbe: {
                  ...probe,
                  ...(profile === "C" && { periodSeconds: 30, failureThreshold: 3 }),
                },
                ...volumeMountsOf(mounts),
              },
            ],
            ...volumesOf(mounts),
          },
        },
      },
    },
  };
}
