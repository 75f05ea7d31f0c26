/**
 * `@denrei/cli/commands`: the commands to develop and operate, for the command `denrei`. Each loads its code when it runs.
 *
 * @packageDocumentation
 */

import { Argument, type Command, Option } from "commander";
import { nodeCount, oneOf, portNumber, someOf, workerCount } from "./arguments.ts";
import { addDeployCommands } from "./deploy.ts";
import { simulated } from "./dev/simulated.ts";
import { providers } from "./new/providers.ts";
import { addOperatorCommands } from "./operate.ts";

const scopes = ["Namespaced", "Cluster"];

const demoNames = ["song", "github", "paas", "pipecd", "dashboard"];

const environmentHelp = `
If KUBECONFIG and NATS_URL are set, Denrei uses that cluster and that bus.
Otherwise it starts etcd, kube-apiserver, kube-controller-manager, and
nats-server on free ports. The first run downloads them, or builds them if the
download fails. The words of the song are random, and the demo draws at most 20.
Set DENREI_ZUNDOKO_WORDS to choose them, for example
DENREI_ZUNDOKO_WORDS=Doko,Zun,Zun,Zun,Zun,Doko.`;

const ownRights = [
  "--own-rights",
  "Run functions with the rights of the kubeconfig's user, not with their generated roles",
] as const;

/** Adds the commands to a program. */
export function addCommands(program: Command): void {
  program.commandsGroup("Develop:");
  addLocalCommands(program);
  addNewCommand(program);
  program.commandsGroup("Deploy:");
  addDeployCommands(program);
  program.commandsGroup("Operate:");
  addOperatorCommands(program);
}

function addLocalCommands(program: Command): void {
  program
    .command("demo")
    .description("Run a demo on a local platform, then stop the platform")
    .addArgument(
      new Argument(
        "[name]",
        "song: a Hikawa sings until Kiyoshi; github: tokens of a GitHub App in a Secret, and a webhook; paas: previews of pull requests; pipecd: PipeCD from creation to deletion; dashboard: everything in a browser",
      )
        .choices(demoNames)
        .argParser(oneOf(demoNames))
        .default("song"),
    )
    .option("--workers <count>", "Number of workers (default: 3; github: 2)", workerCount)
    .option(...ownRights)
    .addHelpText("after", environmentHelp)
    .action(async (name, options) =>
      (await import("./demo/demo.ts")).demo({ ...options, name, mode: "demo" }),
    );

  program
    .command("up")
    .description("Run everything on a local platform until Ctrl-C")
    .option("--workers <count>", "Number of workers", workerCount, 3)
    .option("--no-dashboard", "Do not start the dashboard")
    .option(...ownRights)
    .addHelpText(
      "after",
      `${environmentHelp}

The dashboard listens at http://127.0.0.1:8090, or at the next free port. With
your own cluster, set DENREI_OIDC_ISSUER and DENREI_OIDC_CLIENT_ID. For other
settings, see denrei dashboard --help.`,
    )
    .action(async (options) =>
      (await import("./demo/demo.ts")).demo({ ...options, name: "song", mode: "up" }),
    );

  program
    .command("dev")
    .description("Run functions locally and reload them when you save a file")
    .argument("[function...]", "Names of functions (default: all)")
    .option("--workers <count>", "Number of workers (default: 1)", workerCount)
    .option("--inspect", "Accept a debugger for the worker, at port 9229 or the next free one")
    .option("--inspect-port <port>", "Accept a debugger at this port", portNumber)
    .option("--gateway", "Receive webhooks, at port 8080 or the next free one")
    .option("--gateway-port <port>", "Receive webhooks at this port", portNumber)
    .option(
      "--simulate <services>",
      "Comma-separated services to simulate: github (with webhooks), kpack, pipecd",
      someOf(simulated),
    )
    .option(
      "--nodes <count>",
      "Number of simulated nodes, on which kwok reports pods as running (default: 1 for kpack and pipecd)",
      nodeCount,
    )
    .option("--dashboard", "Start the dashboard, at port 8090 or the next free one")
    .option(...ownRights)
    .addHelpText(
      "after",
      `
If KUBECONFIG and NATS_URL are set, Denrei uses that cluster and that bus. It
updates the CRDs there, but never removes a field or a version. The dashboard
needs the same settings as for denrei up. Otherwise, Denrei starts a local
platform, as denrei up does.`,
    )
    .action(async (names: string[], options) => (await import("./dev/dev.ts")).dev(names, options));
}

function addNewCommand(program: Command): void {
  program
    .command("new")
    .description("Create code in the project")
    .command("function")
    .description("Create and register a function, its first case, its test, and its kind if it is new")
    .argument("<name>", "Name of the function: lower-case letters, digits, and dashes")
    .option("--for <Kind>", "Kind to reconcile: one of Kubernetes or of the project, or a new one")
    .option("--external <kind>", "Kind of another project to reconcile: group/version/Kind")
    .option(
      "--group <group>",
      "API group of a new kind (default: the group of the system, or <system>.<domain of the project>)",
    )
    .option("--plural <name>", "Plural of a new or external kind (default: from its name)")
    .addOption(
      new Option("--scope <scope>", "Scope of a new or external kind (default: Namespaced)")
        .choices(scopes)
        .argParser(oneOf(scopes)),
    )
    .option("--system <folder>", "Folder in functions/ (default: the name)")
    .option("--owns <Kind...>", "Kinds of its children")
    .option("--watches <Kind...>", "Further kinds whose changes request a reconcile")
    .addOption(
      new Option("--webhook <provider>", "Reconcile on webhooks of a provider")
        .choices(providers)
        .argParser(oneOf(providers)),
    )
    .option("--dry-run", "Only print the names of the files")
    .action(async (name: string, options) =>
      (await import("./new/function.ts")).newFunction({ ...options, name }),
    );
}
