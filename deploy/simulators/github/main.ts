/**
 * GitHub for `npm run demo -- github`, played by that of the tests. Once it answers, it says in a line of JSON on standard
 * output what there is on it, with all that is needed to be its App and its user.
 */
import { Command, Option } from "commander";
import { startGitHub } from "./emulator.ts";
import { user } from "./seed.ts";

/** What `denrei demo` asks for. */
interface Options {
  readonly webhookSecret: string;
  readonly deliverTo: string[];
  readonly tokenSeconds: number;
  readonly repository: string;
  readonly dashboardUrl?: string;
}

const options = new Command("github")
  .description("play GitHub, with an App that is installed on a repository")
  .addOption(
    new Option("--webhook-secret <secret>", "what the App's webhooks are signed with")
      .env("SIMULATOR_WEBHOOK_SECRET")
      .makeOptionMandatory(),
  )
  .requiredOption("--deliver-to <urls>", "where they go, in turn, separated by commas", (text) =>
    text.split(","),
  )
  .requiredOption("--token-seconds <seconds>", "how long tokens of the App work", Number)
  .requiredOption("--repository <owner/name>", "the repository")
  .option("--dashboard-url <url>", "where the dashboard is whose users connect their accounts")
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
});
const [app] = apps;
const played = {
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
// Until a signal ends it: there is nothing to be put in order.
process.stdout.write(`${JSON.stringify(played)}\n`);
