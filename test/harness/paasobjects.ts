/** Objects of the PaaS that tests create, with defaults that work. */
import { githubApp } from "../../bus/github/app.ts";
import { parsePrivateKey } from "../../bus/github/key.ts";
import { rateLimits } from "../../bus/github/limits.ts";
import type { KubeClient } from "../../bus/kube/client.ts";
import { ConfigMap, Secret } from "../../bus/kube/kind.ts";
import { compareVersions, type Stored } from "../../bus/kube/object.ts";
import { objectStore } from "../../bus/objects/store.ts";
import { poll } from "../../deploy/local/run/poll.ts";
import type { SimulatedGitHub } from "../../deploy/simulators/github/github.ts";
import { Application, AppPipeline, RemoteSync } from "../../functions/paas/kinds.ts";
import { siteName } from "../../functions/paas/site/config.ts";
import { clusterVariable } from "./platforms.ts";
import { base64 } from "./secretvalues.ts";
import type { TestObjects } from "./testobjects.ts";

/** The namespace that workers take for the platform's own. */
export const platformNamespace = "denrei";
/** Names of Secrets: with a GitHub token, and with registry credentials. */
export const secrets = { git: "acme-web", registry: "regcred" } as const;

/** Whether the tests run in an existing cluster. */
export const isExisting = Boolean(process.env[clusterVariable]);
/** Where images are pushed. In an existing cluster the push is real. */
export const registry = isExisting
  ? process.env.DENREI_TEST_REGISTRY || "127.0.0.1:46500"
  : "registry.example.com";
/** The builder in an existing cluster. */
const existingBuilder = {
  kind: "ClusterBuilder",
  name: process.env.DENREI_TEST_BUILDER || "default",
} as const;

const source = { owner: "acme", repo: "web", secretName: secrets.git };
const image = { name: `${registry}/acme/web`, secretName: secrets.registry };

/** Creates objects of the PaaS. */
export interface PaasObjects {
  /** Creates the Secret {@link secrets}`.git`, as an Installation with the format basic-auth would. */
  tokenSecret(namespace?: string): Promise<void>;
  /** Creates the Secret {@link secrets}`.registry`. */
  registrySecret(namespace?: string): Promise<void>;
  /** Replaces settings and chart of the site. Objects that are created after it resolves use them. */
  site(data: Readonly<Record<string, string>>): Promise<void>;
  application(name: string, spec?: Partial<Application["spec"]>): Promise<Stored<Application>>;
  /** Creates a RemoteSync, by default of the branch `main` of acme/web, for the Application of the same name. */
  remoteSync(
    name: string,
    github?: Partial<RemoteSync["spec"]["base"]["github"]>,
    spec?: Partial<RemoteSync["spec"]>,
  ): Promise<Stored<RemoteSync>>;
  /** Creates a pipeline for acme/web. */
  pipeline(name: string, spec?: Partial<AppPipeline["spec"]>): Promise<Stored<AppPipeline>>;
}

/** Creates objects in a namespace, with tokens of this GitHub. */
export function paasObjects(
  client: KubeClient,
  { create, bus }: Pick<TestObjects, "create" | "bus">,
  namespace: string,
  github: SimulatedGitHub | undefined,
): PaasObjects {
  const mintToken = github && tokensOf(github);
  return {
    async tokenSecret(within = namespace) {
      if (github === undefined || mintToken === undefined) throw notStarted("GitHub");
      const token = await mintToken();
      await create(Secret, {
        metadata: { namespace: within, name: secrets.git, annotations: { "kpack.io/git": github.url } },
        type: "kubernetes.io/basic-auth",
        data: { username: base64("x-access-token"), password: base64(token) },
      });
    },
    async registrySecret(within = namespace) {
      const auths = { [registry]: { auth: base64("user:password") } };
      await create(Secret, {
        metadata: { namespace: within, name: secrets.registry },
        type: "kubernetes.io/dockerconfigjson",
        data: { ".dockerconfigjson": base64(JSON.stringify({ auths })) },
      });
    },
    site: (data) => applySite(client, bus, data),
    application: (name, spec = {}) =>
      create(Application, {
        metadata: { namespace, name },
        spec: { domains: [`${name}.example.com`], ...spec },
      }),
    remoteSync: (name, base = {}, spec = {}) =>
      create(RemoteSync, {
        metadata: { namespace, name },
        spec: {
          applicationRef: { name },
          base: { github: { ...source, ...base } },
          image,
          ...(isExisting && { builder: existingBuilder }),
          ...spec,
        },
      }),
    pipeline: (name, spec = {}) =>
      create(AppPipeline, {
        metadata: { namespace, name },
        spec: {
          domainBase: "*.preview.example.com",
          applicationTemplate: { spec: {} },
          base: { github: source },
          image,
          ...spec,
        },
      }),
  };
}

/** The error for a part that was not started for the chosen functions. */
export const notStarted = (name: string): Error => new Error(`${name} is not started for these functions`);

/** Mints tokens of the first App's first installation. */
function tokensOf({ url, apps: [app] }: SimulatedGitHub): () => Promise<string> {
  const installation = app?.installations[0];
  if (app === undefined || installation === undefined)
    throw new Error("the emulated GitHub has no installed App");
  const key = parsePrivateKey(app.privateKey);
  const asApp = githubApp({ url, allowed: [url], appId: app.id, key, limits: rateLimits() });
  return async () => (await asApp.mintToken(installation.id)).token;
}

/** Applies the ConfigMap of the site; resolves when it is on the bus. */
async function applySite(
  client: KubeClient,
  bus: TestObjects["bus"],
  data: Readonly<Record<string, string>>,
): Promise<void> {
  const at = { namespace: platformNamespace, name: siteName };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: at, data };
  const { metadata } = await client.apply(ConfigMap, object, {
    fieldManager: "test",
    force: "take-ownership",
  });
  // The bridge may publish an object that is created next before it publishes this one.
  const store = objectStore(bus, "default");
  const isOnBus = async () => {
    const { resourceVersion = "0" } = (await store.entry(ConfigMap, at)) ?? {};
    if (compareVersions(resourceVersion, metadata.resourceVersion) < 0)
      throw new Error(`the bus has version ${resourceVersion}`);
  };
  await poll("the bus to have the site", isOnBus, { timeoutMillis: 60_000 });
}
