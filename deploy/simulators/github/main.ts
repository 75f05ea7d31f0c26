/**
 * The GitHub simulator. Once it listens, it prints one line of JSON to standard output: its URL, and the credentials of
 * its App and its user. It then prints a line for each webhook that was not accepted.
 */
import { Command, Option } from "commander";
import { startGitHub } from "./github.ts";
import { user } from "./seed.ts";

/** Options of the command. */
interface Options {
  readonly webhookSecret: string;
  readonly deliverTo: string[];
  readonly tokenSeconds: number;
  readonly repository: string;
  readonly dashboardUrl?: string;
}

const options = new Command("github")
  .description("simulate GitHub with an App that is installed on a repository")
  .addOption(
    new Option("--webhook-secret <secret>", "secret that signs the App's webhooks")
      .env("SIMULATOR_WEBHOOK_SECRET")
      .makeOptionMandatory(),
  )
  .requiredOption("--deliver-to <urls>", "comma-separated URLs that receive the webhooks in turn", (text) =>
    text.split(","),
  )
  .requiredOption(
    "--token-seconds <seconds>",
    "lifetime of the App's installation tokens, in seconds",
    Number,
  )
  .requiredOption("--repository <owner/name>", "repository with the App")
  .option("--dashboard-url <url>", "URL of the dashboard whose users connect their accounts")
  .parse()
  .opts<Options>();

const { repository, dashboardUrl } = options;
const { url, apps } = await startGitHub({
  repositories: [repository],
  people: [{ login: user.login, repositories: [repository] }],
  apps: [
    {
      webhookSecret: options.webhookSecret,
      callbackUrls: dashboardUrl === undefined ? [] : [`${dashboardUrl}/auth/github/callback`],
    },
  ],
  targets: options.deliverTo,
  tokenLifetimeMillis: options.tokenSeconds * 1000,
  onFailedDelivery({ event, guid, url, status }, error) {
    const why = error === undefined ? status : `${status} (${error.message})`;
    process.stdout.write(`GitHub: ${event} ${guid.slice(0, 8)} was not delivered to ${url}: ${why}\n`);
  },
});
const [app] = apps;
const details = {
  url,
  appId: app?.id,
  installationId: app?.installations[0]?.id,
  privateKey: app?.privateKey,
  clientId: app?.clientId,
  clientSecret: app?.clientSecret,
  login: user.login,
  userToken: user.tokens[0],
  repository,
};
// Runs until a signal stops it; no cleanup is needed.
process.stdout.write(`${JSON.stringify(details)}\n`);
