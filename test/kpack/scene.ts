/** What tests of the stand-in for kpack begin with: a control plane, the stand-in, and a namespace with an account. */
import type { KubeClient, ObjectName } from "../../bus/kube/client.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { buildNumber } from "../../deploy/simulators/kpack/builds.ts";
import { Build, Image, type ImageSpec, ServiceAccount } from "../../deploy/simulators/kpack/kinds.ts";
import { type Kpack, type KpackOptions, startKpack } from "../../deploy/simulators/kpack/kpack.ts";
import { labels } from "../../deploy/simulators/kpack/newbuild.ts";
import { conditionOf } from "../../deploy/simulators/kpack/status.ts";
import { stepMillisAnnotation } from "../../deploy/simulators/kpack/steering.ts";
import { type LocalKit, type OwnKit, startLocalKit, startOwnKit } from "../harness/kit.ts";
import { Lines } from "../harness/lines.ts";
import { createNamespace } from "../harness/namespaces.ts";

/** Who writes as a test. */
export const manager = { fieldManager: "test" };
/** The account that builds. */
export const account = "app-builder";
/** How long each step of a build takes, in milliseconds. Image and Build report every step, however short. */
export const stepMillis = 5;
/** Where tags are of. */
export const registry = "127.0.0.1:46500";

/** Revisions: full SHAs. */
export const [r1, r2, r3, r4] = ["1", "2", "3", "4"].map((digit) => digit.repeat(40)) as [
  string,
  string,
  string,
  string,
];

/** A namespace of a test's own. */
export interface Place {
  readonly namespace: string;
  /** Creates an Image with what has to be in one, and the given. */
  image(name: string, more?: ImageOptions): Promise<Stored<Image>>;
  patch(name: string, patch: object): Promise<Stored<Image>>;
  /** Resolves when the Image's condition Ready has that status and reason. */
  untilReady(name: string, ready: string): Promise<Stored<Image>>;
  /** Resolves when the Build with that number has ended, well or not. */
  untilBuilt(image: string, number: number): Promise<Stored<Build>>;
  /** All of them, by number. */
  builds(image: string): Promise<Stored<Build>[]>;
}

/** What of an Image is not as always. */
export interface ImageOptions {
  readonly spec?: Partial<ImageSpec>;
  readonly revision?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
}

/** Everything a test needs. */
export interface Scene {
  readonly kit: LocalKit;
  readonly client: KubeClient;
  readonly kpack: Kpack;
  /** What the stand-in has failed to do, and will try again. */
  readonly failures: Lines;
  place(namespace: string): Promise<Place>;
  stop(): Promise<void>;
}

/** Annotations of an Image: the kubelet writes each step of its builds, whatever the scene sets. */
export const eachStep = { [stepMillisAnnotation]: String(stepMillis) };

/** How to start a scene. */
export type SceneOptions = Pick<KpackOptions, "steps">;

/** Starts it, with the ClusterBuilder `default`, in the local cluster. */
export const startScene = async (options: SceneOptions = {}): Promise<Scene> =>
  sceneOn(await startLocalKit(), options);

/** A scene with a control plane of its own, which a test can stop. */
export interface OwnScene extends Scene {
  readonly kit: OwnKit;
}

/** Starts such a scene. */
export async function startOwnScene(): Promise<OwnScene> {
  const kit = await startOwnKit({ crds: [] });
  return { ...(await sceneOn(kit)), kit };
}

async function sceneOn(kit: LocalKit, { steps = "each" }: SceneOptions = {}): Promise<Scene> {
  const { client } = kit;
  const failures = new Lines();
  const kpack = await startKpack({ client, stepMillis, steps, log: (line) => failures.push(line) });
  await kpack.builder("default", "ready");
  return {
    kit,
    client,
    kpack,
    failures,
    async place(namespace) {
      await createNamespace(client, namespace);
      await client.create(ServiceAccount, accountIn(namespace, account), manager);
      return placeIn(kit, namespace);
    },
    async stop() {
      await kpack.stop();
      await kit.stop();
    },
  };
}

/** An account; `more` are its Secrets. */
export const accountIn = (namespace: string, name: string, more: object = {}): ServiceAccount => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { namespace, name },
  ...more,
  spec: undefined,
});

/** An Image as the recording has it. */
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

/** A merge patch of the revision. */
export const revised = (revision: string): object => ({ spec: { source: { git: { revision } } } });

function placeIn(kit: LocalKit, namespace: string): Place {
  const { client } = kit;
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
      kit.until(Image, at(name), (image) => {
        const { status, reason } = conditionOf(image, "Ready") ?? {};
        return (
          `${status}/${reason}` === ready && image.status?.observedGeneration === image.metadata.generation
        );
      }),
    untilBuilt: (image, number) =>
      kit.until(Build, at(`${image}-build-${number}`), (build) =>
        ["True", "False"].includes(conditionOf(build, "Succeeded")?.status ?? ""),
      ),
    builds,
  };
}
