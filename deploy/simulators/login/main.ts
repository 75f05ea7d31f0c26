/**
 * The identity provider of a company for `npm start` and `npm run demo -- dashboard`, played by that of the tests. Once it
 * answers, it says in a line of JSON on standard output where, and as which client the dashboard is known there.
 */
import { readFile } from "node:fs/promises";
import { Command, Option } from "commander";
import { startIssuer } from "./issuer.ts";
import type { Person } from "./loginpage.ts";

/** What a platform asks for. */
interface Options {
  readonly people: readonly Person[];
  readonly tlsCert: string;
  readonly tlsKey: string;
  readonly dashboardUrl: string;
}

const options = new Command("login")
  .description("play an OpenID Connect issuer at which some people can log in")
  .addOption(
    new Option("--people <json>", "who can log in: [{ name, password, groups }, …]")
      .env("SIMULATOR_PEOPLE")
      .argParser((text) => JSON.parse(text) as Person[])
      .makeOptionMandatory(),
  )
  .requiredOption("--tls-cert <path>", "a certificate for 127.0.0.1")
  .requiredOption("--tls-key <path>", "its private key")
  .requiredOption("--dashboard-url <url>", "where a login ends")
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
// Until a signal ends it: there is nothing to be put in order.
process.stdout.write(`${JSON.stringify({ url, clientId, clientSecret })}\n`);
