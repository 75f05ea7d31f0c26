import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Piped } from "../kinds.ts";
import type { Profile } from "../profile.ts";
import { objectsOf, type PipedBlueprint, roleName } from "./pipedobjects.ts";

const versions = { L0: "v0.9.0", C: "v0.57.0" } as const;
const profiles = ["L0", "C"] as const;

const config = { apiAddress: "pipecd:8080", webAddress: "http://pipecd:8080" } as Piped["spec"]["config"];
const blueprint = (profile: Profile, more: Partial<PipedBlueprint> = {}): PipedBlueprint => ({
  piped: {
    metadata: { name: "p", namespace: "ns" },
    spec: { version: versions[profile], name: "test-piped", description: "", projectID: "q", config },
  },
  profile,
  pipedID: "id-1",
  config: "of the piped",
  secrets: "of its key",
  ...more,
});

interface PodSpec {
  readonly serviceAccountName: string;
  readonly securityContext: object;
  readonly containers: readonly [
    {
      readonly name: string;
      readonly image: string;
      readonly args: readonly string[];
      readonly ports: readonly object[];
      readonly livenessProbe: object;
      readonly readinessProbe: object;
      readonly volumeMounts: readonly object[];
    },
  ];
  readonly volumes: readonly object[];
}
interface DeploymentSpec {
  readonly replicas: number;
  readonly strategy: object;
  readonly selector: object;
  readonly template: {
    readonly metadata: {
      readonly labels: object;
      readonly annotations: Readonly<Record<string, string>>;
    };
    readonly spec: PodSpec;
  };
}

const childOf = (kind: string, of: PipedBlueprint) => {
  const [found, ...others] = objectsOf(of).filter((child) => child.kind.kind === kind);
  if (found === undefined || others.length > 0) throw new Error(`expected one ${kind}`);
  return found;
};
const deploymentOf = (of: PipedBlueprint) => childOf("Deployment", of).content.spec as DeploymentSpec;
const podOf = (of: PipedBlueprint) => deploymentOf(of).template.spec;

const labels = {
  "app.kubernetes.io/name": "piped",
  "app.kubernetes.io/instance": "piped",
  "pipecd.kanatakita.com/piped": "p",
};

test.each(profiles)("lists the objects of a piped of %s in the order of their dependencies", (profile) => {
  expect(objectsOf(blueprint(profile)).map(({ kind, name }) => `${kind.kind} ${name}`)).toEqual([
    "ServiceAccount p",
    "ConfigMap p",
    "ClusterRole pipecd:ns:p",
    "ClusterRoleBinding pipecd:ns:p",
    "Service p",
    "Deployment p",
  ]);
});

describe("arguments", () => {
  const common = [
    "--config-file=/etc/piped-config/piped-config.yaml",
    "--metrics=true",
    "--enable-default-kubernetes-cloud-provider=true",
    "--insecure=true",
    "--log-encoding=humanize",
  ];
  const expected: Readonly<Record<Profile, readonly string[]>> = {
    L0: [...common, "--use-fake-api-client=false"],
    C: [...common, "--log-level=info", "--add-login-user-to-passwd=false", "--app-manifest-cache-count=150"],
  };

  test.each(profiles)("of %s are complete", (profile) => {
    const [command, ...flags] = podOf(blueprint(profile)).containers[0].args;
    expect(command).toBe("piped");
    expect(flags.toSorted()).toEqual(expected[profile].toSorted());
  });

  test.each([
    ["v0.48.4", false],
    ["v0.48.5", true],
  ])("include the size of the manifest cache in %s: %s", (version, expected) => {
    const { piped, ...rest } = blueprint("C");
    const older = { ...rest, piped: { ...piped, spec: { ...piped.spec, version } } };
    const has = podOf(older).containers[0].args.includes("--app-manifest-cache-count=150");
    expect(has).toBe(expected);
  });

  test("from v0.37.1 do not include the removed flag use-fake-api-client", () => {
    expect(podOf(blueprint("C")).containers[0].args.join(" ")).not.toContain("use-fake-api-client");
  });
});

test.each([
  ["L0", "gcr.io/pipecd/piped:v0.9.0"],
  ["C", "ghcr.io/pipe-cd/piped:v0.57.0"],
] as const)("the image of %s is %s", (profile, image) => {
  expect(podOf(blueprint(profile)).containers[0]).toMatchObject({ name: "piped", image });
});

test.each(profiles)("a piped of %s has at most one pod, and its own Service", (profile) => {
  const { replicas, strategy, selector, template } = deploymentOf(blueprint(profile));
  expect({ replicas, strategy, selector }).toEqual({
    replicas: 1,
    strategy: { type: "Recreate" },
    selector: { matchLabels: labels },
  });
  expect(template.metadata.labels).toEqual(labels);
  expect(childOf("Service", blueprint(profile)).content).toEqual({
    spec: {
      type: "ClusterIP",
      selector: labels,
      ports: [{ name: "admin", port: 9085, targetPort: "admin", protocol: "TCP" }],
    },
  });
});

describe("the pod", () => {
  const httpGet = { path: "/healthz", port: "admin" };

  test("runs as a user without a group up to v0.9.0", () => {
    const pod = podOf(blueprint("L0"));
    expect(pod.serviceAccountName).toBe("p");
    expect(pod.securityContext).toEqual({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
    expect(pod.containers[0]).toMatchObject({ livenessProbe: { httpGet }, readinessProbe: { httpGet } });
  });

  test("has a group and a slower liveness probe from v0.37.1", () => {
    const pod = podOf(blueprint("C"));
    expect(pod.serviceAccountName).toBe("p");
    expect(pod.securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      fsGroup: 1000,
    });
    expect(pod.containers[0].livenessProbe).toEqual({ httpGet, periodSeconds: 30, failureThreshold: 3 });
    expect(pod.containers[0].readinessProbe).toEqual({ httpGet });
    expect(deploymentOf(blueprint("C")).template.metadata.annotations).toMatchObject({
      "sidecar.istio.io/inject": "false",
    });
  });

  test.each([
    ["L0", {}],
    ["C", { defaultMode: 0o400 }],
  ] as const)("of %s mounts configuration and key read-only", (profile, mode) => {
    const pod = podOf(blueprint(profile));
    expect(pod.volumes).toEqual([
      { name: "piped-config", configMap: { name: "p" } },
      { name: "piped-secret", secret: { secretName: "p", ...mode } },
    ]);
    expect(pod.containers[0].volumeMounts).toEqual([
      { name: "piped-config", mountPath: "/etc/piped-config", readOnly: true },
      { name: "piped-secret", mountPath: "/etc/piped-secret", readOnly: true },
    ]);
    expect(childOf("ConfigMap", blueprint(profile)).content).toEqual({
      data: { "piped-config.yaml": "of the piped" },
    });
  });

  test("has the volumes of spec.volumeMounts", () => {
    const volume = { name: "ssh", secret: { secretName: "ssh-key" } };
    const { piped } = blueprint("C");
    const given = { volume, mountPath: "/etc/ssh-key", readOnly: true, subPath: "id" };
    const pod = podOf(
      blueprint("C", { piped: { ...piped, spec: { ...piped.spec, volumeMounts: [given] } } }),
    );
    expect(pod.volumes).toContainEqual(volume);
    expect(pod.containers[0].volumeMounts).toContainEqual({
      name: "ssh",
      mountPath: "/etc/ssh-key",
      readOnly: true,
      subPath: "id",
    });
  });

  test("rolls only after a change of content that it reads at startup", () => {
    const annotationsOf = (more: Partial<PipedBlueprint>) =>
      deploymentOf(blueprint("C", more)).template.metadata.annotations;
    const before = annotationsOf({});
    expect(before["piped-id"]).toBe("id-1");
    expect(annotationsOf({ config: "other" })).not.toEqual(before);
    expect(annotationsOf({ secrets: "other" })).not.toEqual(before);
    expect(annotationsOf({ pipedID: "id-2" })).toMatchObject({ "piped-id": "id-2" });
    const { piped } = blueprint("C");
    const spec = { ...piped.spec, description: "other" };
    expect(annotationsOf({ piped: { ...piped, spec } })).toEqual(before);
  });
});

describe("the cluster role", () => {
  test("grants all permissions, because a piped applies any manifest of its repositories", () => {
    expect(childOf("ClusterRole", blueprint("C")).content).toEqual({
      rules: [
        { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
        { nonResourceURLs: ["*"], verbs: ["*"] },
      ],
    });
    expect(childOf("ClusterRoleBinding", blueprint("C")).content).toEqual({
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "pipecd:ns:p" },
      subjects: [{ kind: "ServiceAccount", name: "p", namespace: "ns" }],
    });
  });

  const nameOf = (namespace: string, name: string) => roleName({ metadata: { namespace, name } });

  test("has a name that no other namespace and name can produce", () => {
    expect(nameOf("a-b", "c")).not.toBe(nameOf("a", "b-c"));
    const label = fc.stringMatching(/^[a-z]([-a-z0-9]{0,6}[a-z0-9])?$/);
    fc.assert(
      fc.property(label, label, label, label, (a, b, c, d) => {
        expect(nameOf(a, b) === nameOf(c, d)).toBe(a === c && b === d);
      }),
    );
  });
});
