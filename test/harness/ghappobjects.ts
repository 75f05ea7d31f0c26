/** Objects of GitHub Apps that tests create and read, and their tokens at GitHub. */
import type { KubeClient } from "../../bus/kube/client.ts";
import type { Stored } from "../../bus/kube/object.ts";
import type { SimulatedGitHub } from "../../deploy/simulators/github/github.ts";
import type { ApiRequest } from "../../deploy/simulators/github/server.ts";
import { ClusterGitHubApp, GitHubApp, Installation } from "../../functions/ghapp/kinds.ts";
import { type SecretObject, TokenSecret } from "../../functions/ghapp/secret.ts";
import { base64, texts } from "./secretvalues.ts";
import type { TestObjects } from "./testobjects.ts";

/** The key of private keys in their Secrets. */
export const pemKey = "private-key.pem";

/** Creates and reads objects of GitHub Apps. The namespace defaults to `default`. */
export interface GitHubAppObjects {
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
}

/** Creates and reads objects; Apps and Installations are by default those of the first App of this GitHub. */
export function gitHubAppObjects(
  client: KubeClient,
  { create }: Pick<TestObjects, "create">,
  github: SimulatedGitHub,
): GitHubAppObjects {
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

  return {
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
    use: (token, request, body) => answerOf(github, token, request, body),
  };
}

async function answerOf(
  github: SimulatedGitHub,
  token: string | undefined,
  request: string,
  body: object | undefined,
): Promise<number> {
  const [method = "", path] = request.split(" ");
  const answer = await fetch(`${github.url}/api/v3${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  await answer.body?.cancel();
  return answer.status;
}
