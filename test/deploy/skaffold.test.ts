/**
 * deploy/skaffold.yaml matches the schema of its version, and its references resolve. skaffold does not run here, because it
 * needs Docker and a cluster.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Ajv } from "ajv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type KubeConnection, loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { imageName } from "../../deploy/generate/workloads.ts";
import { type LocalPlatform, startLocalPlatform } from "../../deploy/local/index.ts";
import { platformPrograms, programs } from "../harness/programs.ts";
import { accepted, apply, dryRunPod } from "./apply.ts";
import {
  containerOf,
  find,
  isWorkload,
  type Manifest,
  root,
  type Service,
  type Workload,
} from "./manifests.ts";
import { rendered } from "./rendered.ts";
import { type Skaffold, schemaOf, skaffoldFile } from "./skaffold.ts";

await programs(...platformPrograms);

const commands = ["run", "dev", "debug"];

let skaffold: Skaffold;
let profiles: Map<string, Manifest[]>;
beforeAll(async () => {
  skaffold = await skaffoldFile();
  profiles = new Map();
  for (const { name, manifests } of skaffold.profiles) {
    const all = await Promise.all(manifests.kustomize.paths.map(rendered));
    profiles.set(name, all.flat());
  }
  // Without kubectl, kustomize may have to be built first.
}, 900_000);

const objectsOf = (name: string): Manifest[] => profiles.get(name) ?? [];
const deploymentsOf = (name: string): Workload[] =>
  objectsOf(name)
    .filter(isWorkload)
    .filter(({ kind }) => kind === "Deployment");

describe("deploy/skaffold.yaml", () => {
  test("matches the schema that skaffold publishes for its version", async () => {
    const validate = new Ajv({ strict: false }).compile(await schemaOf(skaffold.apiVersion));
    validate(skaffold);
    expect(validate.errors ?? []).toEqual([]);
    expect(validate({ ...skaffold, portForward: [{ resourceTyp: "service" }] })).toBe(false);
  });

  test("has a profile for every skaffold command in docs/development.md", async () => {
    const page = await readFile(join(root, "docs/development.md"), "utf8");
    const documented = [...page.matchAll(/`skaffold (\w+) -f deploy\/skaffold\.yaml([^`]*)`/g)].map(
      ([, command = "", flags = ""]) => [command, / -p (\S+)/.exec(flags)?.[1] ?? command],
    );
    expect(documented).toEqual([...commands.map((command) => [command, command]), ["delete", "run"]]);
    // The profile of `delete` covers the objects of all profiles.
    const names = (profile: string) =>
      objectsOf(profile).map(({ kind, metadata: { namespace, name } }) => `${kind} ${namespace} ${name}`);
    for (const command of commands) expect(names(command).toSorted()).toEqual(names("run").toSorted());
  });

  test("activates a profile for each command", () => {
    expect(skaffold.profiles.map(({ name, activation }) => [name, activation])).toEqual(
      commands.map((command) => [command, [{ command }]]),
    );
  });

  test("builds the image of the manifests from the Dockerfile, with the root as context", async () => {
    for (const { build } of [skaffold, ...skaffold.profiles]) {
      for (const { image, context, docker } of build?.artifacts ?? []) {
        expect(image).toBe(imageName);
        expect((await stat(join(root, context, ".dockerignore"))).isFile()).toBe(true);
        expect((await stat(join(root, docker.dockerfile))).isFile()).toBe(true);
      }
    }
    for (const name of commands) {
      expect(deploymentsOf(name).length).toBeGreaterThan(2);
      const containers = deploymentsOf(name).flatMap(({ spec }) => [
        ...spec.template.spec.containers,
        ...(spec.template.spec.initContainers ?? []),
      ]);
      expect(new Set(containers.map(({ image }) => image.split(":")[0]))).toEqual(new Set([imageName]));
    }
  });

  test("deploys only to the cluster of deploy/kind.yaml", async () => {
    const { name } = parse(await readFile(join(root, "deploy/kind.yaml"), "utf8"));
    expect(skaffold.deploy.kubeContext).toBe(`kind-${name}`);
  });

  test("forwards to the gateway, whose Service every profile has", () => {
    expect(skaffold.portForward).toHaveLength(1);
    for (const { resourceType, resourceName, namespace, port, localPort } of skaffold.portForward) {
      expect([resourceType, localPort]).toEqual(["service", 8080]);
      for (const name of commands) {
        const service = find<Service>(objectsOf(name), "Service", resourceName);
        expect(service.metadata.namespace).toBe(namespace);
        expect(service.spec.ports).toContainEqual(expect.objectContaining({ port, targetPort: "webhooks" }));
      }
    }
  });
});

describe("the pods of dev and debug", () => {
  let platform: LocalPlatform;
  let connection: KubeConnection;
  beforeAll(async () => {
    platform = await startLocalPlatform({ controllerManager: "omit" });
    connection = await openConnection(loadKubeconfig({ path: platform.kubeconfigPath }));
  });
  afterAll(async () => {
    await connection?.close();
    await platform?.stop();
  });

  test("meet the restricted Pod Security Standard, with a read-only root", async () => {
    const first = ["Namespace", "ServiceAccount"];
    for (const object of objectsOf("dev").filter(({ kind }) => first.includes(kind)))
      expect(await apply(connection, object, "for-real")).toEqual(accepted);
    for (const { metadata, spec } of [...deploymentsOf("dev"), ...deploymentsOf("debug")]) {
      const { name, namespace } = metadata;
      const pod = { apiVersion: "v1", kind: "Pod", ...spec.template };
      const named = {
        ...pod,
        metadata: { ...spec.template.metadata, name, ...(namespace && { namespace }) },
      };
      expect([name, await dryRunPod(connection, named)]).toEqual([name, accepted]);
      for (const { securityContext } of spec.template.spec.containers)
        expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true });
    }
  });
});

describe("debug", () => {
  test("runs Node's inspector in every process, only on the pod's loopback, and configures skaffold for it", () => {
    const [, , ...entry] = inspected(deploymentsOf("debug")[0]);
    expect(entry).toEqual(["bus/command/denrei.js"]);
    for (const workload of deploymentsOf("debug")) {
      const [node, inspector = ""] = inspected(workload);
      expect([node, inspector]).toEqual(["node", "--inspect=127.0.0.1:9229"]);
      const { name, ports, livenessProbe } = containerOf(workload);
      expect(ports).toContainEqual({ name: "devtools", containerPort: 9229 });
      const configuration = workload.spec.template.metadata.annotations?.["debug.cloud.google.com/config"];
      expect(JSON.parse(configuration ?? "{}")[name]).toMatchObject({
        artifact: imageName,
        runtime: "nodejs",
        ports: { devtools: 9229 },
      });
      expect(livenessProbe).toBeUndefined();
    }
  });
});

/** The command line of the single container. */
const inspected = (workload: Workload | undefined): readonly string[] =>
  (workload && containerOf(workload).command) ?? [];
