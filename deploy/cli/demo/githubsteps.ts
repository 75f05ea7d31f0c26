/**
 * The steps of the demo `github`, each with the replica that did it: a worker verifies the App's key, stores a token in a Secret, and
 * refreshes it in time; a gateway stores the webhook of a pull request on the bus.
 */
import { GitHubApp, Installation } from "@denrei/functions/ghapp/kinds";
import { TokenSecret } from "@denrei/functions/ghapp/secret";
import { kubectlTable } from "denrei/kubernetes";
import { AbsentError, busSettings, readSettings, say } from "denrei/runtime";
import type { SimulatedGitHub } from "../../environment/simulators/github.ts";
import { list as listWebhooks } from "../webhooks.ts";
import { githubUser } from "./githubuser.ts";
import type { LogRecord } from "./records.ts";
import { isReady } from "./settled.ts";
import { actorOf, create, type Steps, settledIn, stepPrinter } from "./steps.ts";

/** What the steps need. */
export interface GitHubSteps extends Steps {
  readonly github: SimulatedGitHub;
}

const refreshes = 2;
const [appName, keyName, installationName] = ["app", "app-key", "acme"] as const;
const [pemKey, tokenKey] = ["private-key.pem", "token"] as const;
/** Time limit for the arrival of a webhook. Milliseconds. */
const webhookMillis = 30_000;

/** Performs and prints the steps, and the objects at the end. */
export async function printGitHubSteps(steps: GitHubSteps): Promise<void> {
  const { environment, github, signal } = steps;
  const print = stepPrinter(environment);

  const pem = Buffer.from(github.privateKey).toString("base64");
  await create(steps, TokenSecret, keyName, { data: { [pemKey]: pem } });
  const privateKeySecretRef = { name: keyName, key: pemKey };
  const appSpec = { url: github.url, appID: github.appId, privateKeySecretRef };
  await create(steps, GitHubApp, appName, { spec: appSpec });
  print("demo", `created the Secret ${keyName} and the GitHubApp ${appName}`);
  const { actor, slug } = await readyApp(steps);
  print(actor, `verified the key: the App ${slug} is Ready`);

  const appRef = { kind: GitHubApp.kind, name: appName };
  const spec = { appRef, installationID: github.installationId, key: tokenKey, template: {} };
  await create(steps, Installation, installationName, { spec });
  print("demo", `created the Installation ${installationName}`);
  let token = await tokenAfter(steps, undefined);
  print(
    token.actor,
    `got a token: stored in the Secret ${token.secret}, expires at ${clock(token.expiresAt)}`,
  );

  const pull = await githubUser(github, signal).openPullRequest({ branch: "demo", title: "Say hello" });
  print("demo", `opened the pull request #${pull} through the API`);
  const webhook = await webhookOfPull(steps);
  print(
    webhook.actor,
    `received its webhook ${webhook.delivery}: stored on the bus, answered ${webhook.status}`,
  );

  for (let refresh = 0; refresh < refreshes; refresh++) {
    const before = token.expiresAt;
    token = await tokenAfter(steps, before);
    print(
      token.actor,
      `refreshed the token: expires at ${clock(token.expiresAt)}, the old one at ${clock(before)}`,
    );
  }
  await showEnd(steps);
}

/** `12:00:40Z` of a time in RFC 3339. */
const clock = (time: string): string => time.slice(time.indexOf("T") + 1);

async function readyApp(
  steps: Steps,
): Promise<{ readonly actor: string; readonly slug: string | undefined }> {
  const { status } = await settledIn(steps, GitHubApp, appName, isReady);
  const actor = await actorOf(
    steps,
    ({ msg, key }) => msg === "authenticated with a new key" && key === `${steps.namespace}/${appName}`,
  );
  return { actor, slug: status?.slug };
}

/** The token after the one that expires at `before`: the worker that got it, its Secret, and its expiry. */
async function tokenAfter(
  steps: Steps,
  before: string | undefined,
): Promise<{ readonly actor: string; readonly secret: string; readonly expiresAt: string }> {
  const { environment, namespace, signal } = steps;
  const { status } = await settledIn(steps, Installation, installationName, (found) => {
    const { expiresAt } = found.status ?? {};
    return isReady(found) && expiresAt !== undefined && expiresAt !== before;
  });
  const { secret = "", expiresAt = "" } = status ?? {};
  const { data } = await environment.client.get(TokenSecret, { namespace, name: secret }, signal);
  if (!data?.[tokenKey]) throw new AbsentError(`the Secret ${namespace}/${secret} has no token`);
  const actor = await actorOf(
    steps,
    (record) =>
      record.msg === "token issued" &&
      record.key === `${namespace}/${installationName}` &&
      String(record.expiresAt).replace(/\.\d+Z$/, "Z") === expiresAt,
  );
  return { actor, secret, expiresAt };
}

/** The gateway that received the webhook of the pull request, and the start of its ID. Throws an `AbsentError` if none arrives. */
async function webhookOfPull({ records, signal }: Steps): Promise<{
  readonly actor: string;
  readonly delivery: string;
  readonly status: number;
}> {
  const timeout = AbortSignal.timeout(webhookMillis);
  const isStored = ({ msg, event, outcome }: LogRecord) =>
    msg === "webhook" && event === "pull_request" && outcome === "stored";
  try {
    const { replica, delivery, status } = await records.first(isStored, AbortSignal.any([signal, timeout]));
    return { actor: replica, delivery: String(delivery).slice(0, 8), status: Number(status) };
  } catch {
    signal.throwIfAborted();
    throw new AbsentError(
      `no gateway received the webhook of the pull request within ${webhookMillis / 1000} s`,
    );
  }
}

/** Prints the objects at the end, with the commands that show them. */
async function showEnd({ environment, namespace, github }: GitHubSteps): Promise<void> {
  const { client, origin, natsUrl } = environment;
  say(`\n$ kubectl get installations -n ${namespace}`);
  say(await kubectlTable(client, Installation, namespace));
  say(`\n$ npx denrei webhooks list --repository ${github.repository}`);
  const [owner = "", repository = ""] = github.repository.split("/");
  const settings = readSettings(busSettings, { natsUrl }, origin === "local" ? {} : process.env);
  await listWebhooks(settings, { repository: { owner, repository } });
}
