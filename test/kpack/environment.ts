/** Environment of the kpack simulator's tests: a control plane, the simulator, and namespaces with a ServiceAccount. */
import type { ObjectName } from "../../bus/kube/client.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { buildNumber } from "../../deploy/simulators/kpack/builds.ts";
import { Build, Image, type ImageSpec, ServiceAccount } from "../../deploy/simulators/kpack/kinds.ts";
import { type Kpack, type KpackOptions, startKpack } from "../../deploy/simulators/kpack/kpack.ts";
import { labels } from "../../deploy/simulators/kpack/newbuild.ts";
import { stepMillisAnnotation } from "../../deploy/simulators/kpack/podannotations.ts";
import { conditionOf } from "../../deploy/simulators/kpack/status.ts";
import {
  type LocalTestEnvironment,
  type OwnTestEnvironment,
  startLocalTestEnvironment,
  startOwnTestEnvironment,
} from "../harness/environment.ts";
import { createNamespace } from "../harness/namespaces.ts";
import { Lines } from "../ket/lines.ts";

/** Field manager of the tests. */
export const manager = { fieldManager: "test" };
/** ServiceAccount of the builds. */
export const account = "app-builder";
/** Duration of a build step, in milliseconds. Image and Build report every step, however short. */
export const stepMillis = 5;
/** Registry of the tags. */
export const registry = "127.0.0.1:46500";

/** Revisions: full SHAs. */
export const [r1, r2, r3, r4] = ["1", "2", "3", "4"].map((digit) => digit.repeat(40)) as [
  string,
  string,
  string,
  string,
];

/** A namespace for one test. */
export interface TestNamespace {
  readonly namespace: string;
  /** Creates an Image with the required fields and the given options. */
  image(name: string, more?: ImageOptions): Promise<Stored<Image>>;
  patch(name: string, patch: object): Promise<Stored<Image>>;
  /** Resolves when the Image's Ready condition has that status and reason. */
  untilReady(name: string, ready: string): Promise<Stored<Image>>;
  /** Resolves when the Build with that number has succeeded or failed. */
  untilBuilt(image: string, number: number): Promise<Stored<Build>>;
  /** All Builds of an Image, by number. */
  builds(image: string): Promise<Stored<Build>[]>;
}

/** Overrides of an Image. */
export interface ImageOptions {
  readonly spec?: Partial<ImageSpec>;
  readonly revision?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
}

/** The environment. */
export interface Environment extends LocalTestEnvironment {
  readonly kpack: Kpack;
  /** The simulator's log of failed reconciles. */
  readonly failures: Lines;
  createNamespace(namespace: string): Promise<TestNamespace>;
  stop(): Promise<void>;
}

/** Annotations of an Image that make the kubelet write each step, whatever the environment's options. */
export const eachStep = { [stepMillisAnnotation]: String(stepMillis) };

/** Options of an environment. */
export type EnvironmentOptions = Pick<KpackOptions, "steps">;

/** Starts an environment with the ClusterBuilder `default` in the local cluster. */
export const startEnvironment = async (options: EnvironmentOptions = {}): Promise<Environment> =>
  environmentOn(await startLocalTestEnvironment(), options);

/** An environment with its own control plane, which a test can stop. */
export interface OwnEnvironment extends Environment {
  readonly platform: OwnTestEnvironment["platform"];
}

/** Starts an environment with its own control plane. */
export async function startOwnEnvironment(): Promise<OwnEnvironment> {
  const environment = await startOwnTestEnvironment({ crds: [] });
  return { ...(await environmentOn(environment)), platform: environment.platform };
}

async function environmentOn(
  environment: LocalTestEnvironment,
  { steps = "each" }: EnvironmentOptions = {},
): Promise<Environment> {
  const { client } = environment;
  const failures = new Lines();
  const kpack = await startKpack({ client, stepMillis, steps, log: (line) => failures.push(line) });
  await kpack.builder("default", "ready");
  return {
    ...environment,
    kpack,
    failures,
    async createNamespace(namespace) {
      await createNamespace(client, namespace);
      await client.create(ServiceAccount, accountIn(namespace, account), manager);
      return namespaceIn(environment, namespace);
    },
    async stop() {
      await kpack.stop();
      await environment.stop();
    },
  };
}

/** A ServiceAccount; `more` adds fields such as its Secrets. */
export const accountIn = (namespace: string, name: string, more: object = {}): ServiceAccount => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { namespace, name },
  ...more,
  spec: undefined,
});

/** An Image as in the recording. */
export const imageIn = (
  namespace: string,
  name: string,
  { spec, revision = r1, ...metadata }: ImageOptions = {},
): Image => ({
  apiVersion: "kpack.io/v1alpha2",
  kind: "Image",
  metadata: { namespace, name, ...metadata },
  spec: {
    tag: `${registry}/apps/${name}`,
    serviceAccountName: account,
    builder: { kind: "ClusterBuilder", name: "default" },
    source: { git: { url: "https://git.example/acme/web", revision } },
    ...spec,
  },
});

/** A merge patch that sets the revision. */
export const revised = (revision: string): object => ({ spec: { source: { git: { revision } } } });

function namespaceIn(environment: LocalTestEnvironment, namespace: string): TestNamespace {
  const { client } = environment;
  const at = (name: string): ObjectName => ({ namespace, name });

  async function builds(image: string): Promise<Stored<Build>[]> {
    const labelSelector = `${labels.image}=${image}`;
    const { items } = await client.list(Build, namespace, { labelSelector });
    return items.sort((a, b) => buildNumber(a) - buildNumber(b));
  }

  return {
    namespace,
    image: (name, more) => client.create(Image, imageIn(namespace, name, more), manager),
    patch: (name, patch) => client.mergePatch(Image, at(name), patch, manager),
    untilReady: (name, ready) =>
      environment.until(Image, at(name), (image) => {
        const { status, reason } = conditionOf(image, "Ready") ?? {};
        return (
          `${status}/${reason}` === ready && image.status?.observedGeneration === image.metadata.generation
        );
      }),
    untilBuilt: (image, number) =>
      environment.until(Build, at(`${image}-build-${number}`), (build) =>
        ["True", "False"].includes(conditionOf(build, "Succeeded")?.status ?? ""),
      ),
    builds,
  };
}
