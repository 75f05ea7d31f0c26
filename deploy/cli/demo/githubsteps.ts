/**
 * What becomes of a GitHub App, step by step, with the replica that did each: its key is tried, a token of it is kept in
 * a Secret and refreshed in time, and the webhook of a pull request comes to the bus.
 */

import { busSettings, readSettings } from "../../../bus/config/config.ts";
import { kubectlTable } from "../../../bus/kube/table.ts";
import { GitHubApp, Installation } from "../../../functions/ghapp/kinds.ts";
import { TokenSecret } from "../../../functions/ghapp/secret.ts";
import { AbsentError } from "../../environment/errors.ts";
import type { SimulatedGitHub } from "../../environment/simulators/github.ts";
import { say } from "../output.ts";
import { list as listWebhooks } from "../webhooks.ts";
import { githubUser } from "./githubuser.ts";
import type { LogRecord } from "./records.ts";
import { isReady } from "./settled.ts";
import { actorOf, create, type Steps, settledIn, stepPrinter } from "./story.ts";

/** What the steps are made with. */
export interface GitHubPlay extends Steps {
  readonly github: SimulatedGitHub;
}

const refreshes = 2;
const [appName, keyName, installationName] = ["app", "app-key", "acme"] as const;
const [pemKey, tokenKey] = ["private-key.pem", "token"] as const;
/** How long a webhook may be on its way, in milliseconds. */
const webhookMillis = 30_000;

/** Does each step, and prints who has done what; then what there is in the end. */
export async function printGitHubSteps(play: GitHubPlay): Promise<void> {
  const { environment: stage, github, signal } = play;
  const step = stepPrinter(stage);

  const pem = Buffer.from(github.privateKey).toString("base64");
  await create(play, TokenSecret, keyName, { data: { [pemKey]: pem } });
  const privateKeySecretRef = { name: keyName, key: pemKey };
  const appSpec = { url: github.url, appID: github.appId, privateKeySecretRef };
  await create(play, GitHubApp, appName, { spec: appSpec });
  step("demo", `created the Secret ${keyName} and the GitHubApp ${appName}`);
  const { by, slug } = await readyApp(play);
  step(by, `tried the key: the App is Ready, known as ${slug}`);

  const appRef = { kind: GitHubApp.kind, name: appName };
  const spec = { appRef, installationID: github.installationId, key: tokenKey, template: {} };
  await create(play, Installation, installationName, { spec });
  step("demo", `created the Installation ${installationName}`);
  let token = await tokenAfter(play, undefined);
  step(token.by, `got a token: it is in the Secret ${token.secret} until ${clock(token.expiresAt)}`);

  const pull = await githubUser(github, signal).openPullRequest({ branch: "demo", title: "Say hello" });
  step("demo", `opened the pull request #${pull} through the API`);
  const webhook = await webhookOfPull(play);
  step(webhook.by, `took its webhook ${webhook.delivery}: stored on the bus, answered ${webhook.status}`);

  for (let refresh = 0; refresh < refreshes; refresh++) {
    const before = token.expiresAt;
    token = await tokenAfter(play, before);
    step(token.by, `refreshed the token: ends ${clock(token.expiresAt)}, the old one ${clock(before)}`);
  }
  await showEnd(play);
}

/** `12:00:40Z` of a time in RFC 3339. */
const clock = (time: string): string => time.slice(time.indexOf("T") + 1);

async function readyApp(play: Steps): Promise<{ readonly by: string; readonly slug: string | undefined }> {
  const { status } = await settledIn(play, GitHubApp, appName, isReady);
  const by = await actorOf(
    play,
    ({ msg, key }) => msg === "authenticated with a new key" && key === `${play.namespace}/${appName}`,
  );
  return { by, slug: status?.slug };
}

/** The token that comes after the one that ends at `before`: who got it, where it is, and when it ends. */
async function tokenAfter(
  play: Steps,
  before: string | undefined,
): Promise<{ readonly by: string; readonly secret: string; readonly expiresAt: string }> {
  const { environment: stage, namespace, signal } = play;
  const { status } = await settledIn(play, Installation, installationName, (found) => {
    const { expiresAt } = found.status ?? {};
    return isReady(found) && expiresAt !== undefined && expiresAt !== before;
  });
  const { secret = "", expiresAt = "" } = status ?? {};
  const { data } = await stage.client.get(TokenSecret, { namespace, name: secret }, signal);
  if (!data?.[tokenKey])
    throw new AbsentError(`expected a token in the Secret ${namespace}/${secret}, found none`);
  const by = await actorOf(
    play,
    (record) =>
      record.msg === "token issued" &&
      record.key === `${namespace}/${installationName}` &&
      String(record.expiresAt).replace(/\.\d+Z$/, "Z") === expiresAt,
  );
  return { by, secret, expiresAt };
}

/** Who took the webhook of the pull request, and the beginning of its id. Throws an `AbsentError` when none comes. */
async function webhookOfPull({ records, signal }: Steps): Promise<{
  readonly by: string;
  readonly delivery: string;
  readonly status: number;
}> {
  const late = AbortSignal.timeout(webhookMillis);
  const isStored = ({ msg, event, outcome }: LogRecord) =>
    msg === "webhook" && event === "pull_request" && outcome === "stored";
  try {
    const { replica, delivery, status } = await records.first(isStored, AbortSignal.any([signal, late]));
    return { by: replica, delivery: String(delivery).slice(0, 8), status: Number(status) };
  } catch {
    signal.throwIfAborted();
    throw new AbsentError(
      `expected the webhook of the pull request at a gateway within ${webhookMillis / 1000} s, found none`,
    );
  }
}

/** What there is in the end, as anybody may look at it. */
async function showEnd({ environment: stage, namespace, github }: GitHubPlay): Promise<void> {
  const { client, origin, natsUrl } = stage;
  say(`\n$ kubectl get installations -n ${namespace}`);
  say(await kubectlTable(client, Installation, namespace));
  say(`\n$ npx denrei webhooks list --repository ${github.repository}`);
  const [owner = "", repository = ""] = github.repository.split("/");
  const settings = readSettings(busSettings, { natsUrl }, origin === "local" ? {} : process.env);
  await listWebhooks(settings, { repository: { owner, repository } });
}
