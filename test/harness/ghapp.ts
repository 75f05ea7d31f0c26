/** GitHub Apps and Installations on a real control plane: replicas, the emulated GitHub, and helpers for users' objects. */
import { allowedUrlsVariable } from "../../bus/github/allowed.ts";
import { Namespace } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import {
  type GitHubOptions,
  type SimulatedGitHub,
  startGitHub,
} from "../../deploy/simulators/github/github.ts";
import type { ApiRequest } from "../../deploy/simulators/github/server.ts";
import { ClusterGitHubApp, GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { type SecretObject, TokenSecret } from "../../functions/ghapp/secret.ts";
import { functions } from "../../functions/index.ts";
import { type Accounts, openAccounts } from "./accounts.ts";
import { type Replica, startTestEnvironment, type TestEnvironment } from "./environment.ts";
import { createNamespace, optIn } from "./namespaces.ts";
import { openTestObjects, type TestObjects } from "./testobjects.ts";

/** The namespace that workers take for the platform's own. */
export const platformNamespace = "denrei";
/** The key of private keys in their Secrets. */
export const pemKey = "private-key.pem";

const names = ["githubapp", "clustergithubapp", "installation"];
const ours = functions.filter(({ name }) => names.includes(name));

/** Decodes the values of a Secret. */
export const texts = (secret: SecretObject | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
  );

/** The parts to start. */
export interface GhAppsOptions extends GitHubOptions {
  /** The number of workers that run all functions, two by default; or one worker per function with only its rights. */
  readonly workers?: number | "one each";
  /** Additional environment of the bridge and the workers. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The environment, with helpers that write and read the functions' objects. The namespace defaults to `default`. */
export interface GhApps extends Omit<TestObjects, "close"> {
  readonly kit: TestEnvironment;
  readonly github: SimulatedGitHub;
  readonly workers: readonly Replica[];
  readonly bridge: Replica;
  readonly accounts: Accounts;
  /** Creates an opted-in namespace with more labels. */
  namespace(name: string, labels?: Readonly<Record<string, string>>): Promise<void>;
  /** Creates a Secret with a private key, by default that of the first App. */
  keySecret(namespace: string, name?: string, pem?: string): Promise<void>;
  app(name: string, spec?: Partial<GitHubApp["spec"]>, namespace?: string): Promise<void>;
  clusterApp(name: string, spec?: Partial<ClusterGitHubApp["spec"]>): Promise<void>;
  /** Creates an Installation, by default of the first App's first installation with the GitHubApp `app` and the token under `token`. */
  installation(
    name: string,
    spec?: Partial<Installation["spec"]>,
    namespace?: string,
  ): Promise<Stored<Installation>>;
  secret(name: string, namespace?: string): Promise<Stored<SecretObject> | undefined>;
  /** The token under `token` of a Secret; undefined without one. */
  token(name: string, namespace?: string): Promise<string | undefined>;
  /** Token requests that reached GitHub, of one installation if given. */
  mints(installationID?: number): readonly ApiRequest[];
  /** The status of GitHub's answer to a request with the token, such as `GET /repos/acme/web`. */
  use(token: string | undefined, request: string, body?: object): Promise<number>;
  stop(): Promise<void>;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Starts everything. The namespaces `default` and {@link platformNamespace} are opted in. */
export async function startGhApps({
  workers: wanted = 2,
  env = {},
  ...options
}: GhAppsOptions = {}): Promise<GhApps> {
  const [kit, github] = await Promise.all([
    startTestEnvironment(),
    startGitHub({ repositories: ["acme/web", "acme/api"], ...options }),
  ]);
  const { client } = kit;
  const workers: Replica[] = [];
  const world = await openTestObjects(kit, ours, workers);
  const { create } = world;
  const [first] = github.apps;
  if (first === undefined) throw new Error("the emulated GitHub has no App");

  const appSpec = (spec: Partial<GitHubApp["spec"]>): GitHubApp["spec"] => ({
    url: github.url,
    appID: first.id,
    privateKeySecretRef: { name: "gh-app-key", key: pemKey },
    ...spec,
  });

  async function secret(name: string, namespace = "default"): Promise<Stored<SecretObject> | undefined> {
    const query = { fieldSelector: `metadata.name=${name}` };
    return (await client.list(TokenSecret, namespace, query)).items[0];
  }

  const namespace = async (name: string, labels = {}): Promise<void> => {
    await create(Namespace, { metadata: { name, labels } });
    await accounts.optIn(name);
  };

  await createNamespace(client, platformNamespace);
  const accounts = await openAccounts(kit, ours, platformNamespace);
  // The roles brought its rights.
  await optIn(client, platformNamespace);
  await accounts.optIn("default");
  const bridge = await kit.bridge("bridge-1", {
    program: "functions",
    args: names,
    env: { ...(await accounts.env("bridge")), ...env },
  });
  const groups =
    wanted === "one each" ? names.map((name) => [name]) : Array.from({ length: wanted }, () => names);
  workers.push(
    ...(await Promise.all(
      groups.map(async (group, at) => {
        const own = {
          CONTROLLER_NAMESPACE: platformNamespace,
          [allowedUrlsVariable]: github.url,
          ...(await accounts.env(group)),
        };
        return kit.worker(`worker-${at + 1}`, group, { env: { ...own, ...env } });
      }),
    )),
  );

  return {
    ...world,
    kit,
    github,
    workers,
    bridge,
    accounts,
    namespace,
    secret,
    async keySecret(namespace, name = "gh-app-key", pem = first.privateKey) {
      await create(TokenSecret, { metadata: { namespace, name }, data: { [pemKey]: base64(pem) } });
    },
    async app(name, spec = {}, namespace = "default") {
      await create(GitHubApp, { metadata: { name, namespace }, spec: appSpec(spec) });
    },
    async clusterApp(name, spec = {}) {
      await create(ClusterGitHubApp, { metadata: { name }, spec: appSpec(spec) });
    },
    installation: (name, spec = {}, namespace = "default") =>
      create(Installation, {
        metadata: { name, namespace },
        spec: {
          appRef: { kind: "GitHubApp", name: "app" },
          installationID: first.installations[0]?.id,
          key: "token",
          template: {},
          ...spec,
        },
      }),
    token: async (name, namespace) => texts(await secret(name, namespace)).token,
    mints: (installationID) =>
      github
        .requests()
        .filter(
          ({ path }) => path === `/app/installations/${installationID ?? path.split("/")[3]}/access_tokens`,
        ),
    async use(token, request, body) {
      const [method = "", path] = request.split(" ");
      const answer = await fetch(`${github.url}/api/v3${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body && { body: JSON.stringify(body) }),
      });
      await answer.body?.cancel();
      return answer.status;
    },
    async stop() {
      await world.close();
      try {
        await accounts.assertEnough();
      } finally {
        await kit.stop();
        await github.stop();
      }
    },
  };
}
