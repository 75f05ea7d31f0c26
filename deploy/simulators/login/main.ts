/**
 * The identity provider of `npm start` and `npm run demo -- dashboard`. Once it listens, it prints one line of JSON to
 * standard output: its URL, and the OAuth client of the dashboard.
 */
import { readFile } from "node:fs/promises";
import { Command, Option } from "commander";
import { startIssuer } from "./issuer.ts";
import type { Person } from "./loginpage.ts";

/** Options of the command. */
interface Options {
  readonly people: readonly Person[];
  readonly tlsCert: string;
  readonly tlsKey: string;
  readonly dashboardUrl: string;
}

const options = new Command("login")
  .description("simulate an OpenID Connect issuer with a fixed list of people")
  .addOption(
    new Option("--people <json>", "people who can log in: [{ name, password, groups }, …]")
      .env("SIMULATOR_PEOPLE")
      .argParser((text) => JSON.parse(text) as Person[])
      .makeOptionMandatory(),
  )
  .requiredOption("--tls-cert <path>", "certificate for 127.0.0.1")
  .requiredOption("--tls-key <path>", "private key of the certificate")
  .requiredOption("--dashboard-url <url>", "URL of the dashboard, to which login redirects")
  .parse()
  .opts<Options>();

const [cert, key] = await Promise.all(
  [options.tlsCert, options.tlsKey].map((path) => readFile(path, "utf8")),
);
const { url, clientId, clientSecret } = await startIssuer({
  people: options.people,
  tls: { cert: cert ?? "", key: key ?? "" },
  dashboardUrl: options.dashboardUrl,
});
// Runs until a signal stops it; no cleanup is needed.
process.stdout.write(`${JSON.stringify({ url, clientId, clientSecret })}\n`);
