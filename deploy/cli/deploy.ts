/** The commands to deploy: manifests, charts, rights, and certificates. Each loads its code when it runs. */

import { type Command, Option } from "commander";
import { dashboardSettings, readSettings, withSettings } from "denrei/runtime";
import { profiles } from "../generate/layout.ts";
import { namespaceName, namespaceNames } from "./arguments.ts";

const chartSettings = ["kubeconfig", "context"] as const;

const profileHelp = `
Profile small: one pod each of NATS, bridge, gateway, and workers, with small
requests. All functions share the workers, except those in groups of
denrei.config.ts, which share their own.

Profile standard: one NATS server, two pods of each process, and workers for
each function or group.

Profile production: the same with three NATS servers and network policies.

There is a gateway only if a function has webhooks. DENREI_COMPONENTS selects
components of the project, separated by commas (default: all). Standard error
says what else the cluster needs. Certificates contain private keys.`;

/** Adds the options that say which processes an installation has. */
const withLayout = (command: Command): Command =>
  command
    .addOption(
      new Option("--profile <name>", "Profile of the installation, as for denrei manifests")
        .choices(profiles)
        .default("standard"),
    )
    .option("--one-process", "The installation runs everything in one process, as for denrei manifests");

const roleSuffix = [
  "--role-suffix <word>",
  "Last word in the names of roles, for a further project in the cluster",
] as const;

const includes = [
  "--include <file...>",
  "Add the users of other projects on the bus, from files that denrei users --json has printed there",
  (path: string, before: readonly string[] = []) => [...before, path],
] as const;

/** Adds the commands to a program. */
export function addDeployCommands(program: Command): void {
  addBuildCommand(program);
  addManifestCommands(program);
  addAccessCommands(program);
  addChartCommands(program);
  addDashboardCommand(program);
}

function addBuildCommand(program: Command): void {
  program
    .command("build")
    .description("Bundle the project for its image: processes need less memory and start faster")
    .option("--out <folder>", "Folder of the bundle, whose earlier one is replaced", "dist")
    .option("--external <package...>", "Packages to copy instead, such as those with native modules")
    .addHelpText(
      "after",
      `
Run a process with node <folder>/denrei.js, such as node dist/denrei.js worker
all. It needs neither the sources nor node_modules. Optional packages are in the
bundle if they are installed when it is built.`,
    )
    .action(async (options) => (await import("./build.ts")).build(options));
}

function addDashboardCommand(program: Command): void {
  withSettings(
    program
      .command("dashboard")
      .description("Serve the dashboard, which acts with the permissions of the logged-in user"),
    dashboardSettings,
  )
    .addHelpText(
      "after",
      `
The dashboard forwards requests to the API server with the token of the
logged-in user, and RBAC decides what the user may see and do. The API server
must accept the issuer's tokens (--authentication-config, or --oidc-*). The
dashboard uses only the server address and the CA of the kubeconfig.`,
    )
    .action(async (flags) => {
      const settings = readSettings(dashboardSettings, flags, process.env);
      await (await import("./dashboard.ts")).dashboard(settings);
    });
}

function addManifestCommands(program: Command): void {
  program
    .command("manifests")
    .description("Print everything that the project needs in a cluster, for kubectl apply -f -")
    .addOption(
      new Option("--profile <name>", "Number and size of pods").choices(profiles).default("standard"),
    )
    .option("--namespace <name>", "Namespace of the platform", namespaceName, "denrei")
    .option("--image <name:tag>", "Image (default: name and version in the project's package.json)")
    .option("--cluster <name>", "Name of the cluster, DENREI_CLUSTER", namespaceName, "default")
    .option("--one-account", "Put all users of the bus in one account, as for denrei users")
    .option("--nats-url <url>", "Use the bus of another project at this URL, without one of its own")
    .option(...includes)
    .option(...roleSuffix)
    .option("--one-process", "With --profile small: run bridge, gateway, and functions in one process")
    .option(
      "--certificates",
      "Include new certificates (default with --profile small); with --nats-url, only that of webhooks",
    )
    .option("--no-certificates", "Do not include certificates")
    .option("--out <folder>", "Write a folder for kustomize instead, as a base of your own site")
    .option("--json", "Print a JSON list")
    .addHelpText("after", profileHelp)
    .action(async (options) => (await import("./projectmanifests.ts")).manifests(options));

  program
    .command("helm")
    .description("Write the Helm chart of the project")
    .requiredOption("--out <folder>", "Folder to write to, whose earlier chart is replaced")
    .option("--cluster <name>", "Name of the cluster, DENREI_CLUSTER", namespaceName, "default")
    .option("--one-account", "Put all users of the bus in one account, as for denrei users")
    .action(async (options) => (await import("./helm.ts")).helm(options));

  program
    .command("crds")
    .description("Print the CustomResourceDefinitions, for kubectl apply -f -")
    .option(
      "--namespace <name>",
      "Namespace of the webhook, for kinds with several versions",
      namespaceName,
      "denrei",
    )
    .option("--webhook-ca <path>", "CA certificate that signs the certificate of the webhook")
    .option("--json", "Print a JSON list")
    .action(async (options) => (await import("./manifests.ts")).crds(options));

  program
    .command("webhook-configurations")
    .description("Print the configurations of admission hooks, for kubectl apply -f -")
    .option("--namespace <name>", "Namespace of the webhook", namespaceName, "denrei")
    .option("--webhook-ca <path>", "CA certificate that signs the certificate of the webhook")
    .option("--json", "Print a JSON list")
    .addHelpText(
      "after",
      `
Apply them after denrei admission runs with these functions. Until then, the API
server rejects writes to the kinds. Before you remove the hooks of a kind from
the code, delete its configurations.`,
    )
    .action(async (options) => (await import("./manifests.ts")).webhookConfigurations(options));

  withLayout(
    program
      .command("rbac")
      .description("Print the service accounts and roles of functions, bridge, and gateway")
      .argument("[name...]", "Functions, groups, 'all', 'bridge', or 'gateway' (default: everything)"),
  )
    .option("--namespace <name>", "Namespace of the service accounts", namespaceName, "denrei")
    .option(...roleSuffix)
    .option("--json", "Print a JSON list")
    .action(async (names: string[], options) => (await import("./manifests.ts")).rbac(names, options));
}

function addAccessCommands(program: Command): void {
  withLayout(
    program
      .command("opt-in")
      .description("Print the RoleBindings that give access to Secrets in namespaces, for kubectl apply -f -")
      .argument("<namespace...>", "Namespaces of the Secrets", namespaceNames),
  )
    .option("--platform-namespace <name>", "Namespace of the service accounts", namespaceName, "denrei")
    .option(...roleSuffix)
    .option("--json", "Print a JSON list")
    .addHelpText(
      "after",
      `
The output has a RoleBinding for the bridge and for each function that uses
Secrets. The bridge finds the namespaces by their label. Set it with
kubectl label namespace <namespace> denrei.dev/secrets=true`,
    )
    .action(async (names: string[], options) => (await import("./manifests.ts")).optIn(names, options));

  withLayout(
    program
      .command("certificates")
      .description(
        "Print Secrets with new certificates for the bus, its users, and webhooks, for kubectl apply -f -",
      ),
  )
    .option("--namespace <name>", "Namespace of the bus and its users", namespaceName, "denrei")
    .option(...includes)
    .option("--json", "Print a JSON list")
    .addHelpText(
      "after",
      `
The certificates are valid for a year. The CA key is not kept: to add a
certificate, create all of them again. Then restart the NATS servers, which read
their certificates only at the start. Other processes read theirs for each
connection. Certificates for the users of an included project are for the
namespace in its file.`,
    )
    .action(async (options) => (await import("./manifests.ts")).certificates(options));

  withLayout(
    program.command("users").description("Print the NATS users and their permissions, as authorization.conf"),
  )
    .option("--cluster <name>", "Name of the cluster", namespaceName, "default")
    .option(
      "--one-account",
      "Put all users in one account: faster, but does not isolate a compromised function",
    )
    .option(...includes)
    .option("--json", "Print the roles as JSON, for --include in another project")
    .option(
      "--namespace <name>",
      "With --json: namespace of the processes, if the project of the bus runs in another one",
      namespaceName,
    )
    .action(async (options) => (await import("./manifests.ts")).users(options));
}

function addChartCommands(program: Command): void {
  const chart = program
    .command("chart")
    .description("Work with charts, which render the objects of Applications");
  chart
    .command("print")
    .description("Print the built-in chart, as a starting point for your own")
    .action(async () => (await import("./chart.ts")).print());
  chart
    .command("render")
    .description("Print the objects that a chart renders for the Applications in a file; needs no cluster")
    .argument("<file>", "YAML file with Applications")
    .option("--chart <path>", "Chart, .ts or .js (default: the built-in chart)")
    .option("--config <path>", "config.yaml of the site")
    .option("--modules <folder>", "Folder with the node_modules and imports that the chart uses")
    .action(async (file: string, options) => (await import("./chart.ts")).render(file, options));

  withSettings(
    withLayout(
      chart
        .command("rbac")
        .description("Print the roles for the kinds that the site lists, for kubectl apply -f -"),
    )
      .option(
        "--config <path>",
        "config.yaml of the site, or - for standard input (default: the one in the cluster)",
      )
      .option(
        "--namespace <name>",
        "Namespace of the service accounts and the site's ConfigMap",
        namespaceName,
        "denrei",
      )
      .option("--json", "Print a JSON list"),
    chartSettings,
  ).action(async (flags) => {
    const settings = readSettings(chartSettings, flags, process.env);
    await (await import("./chart.ts")).rbac(flags, settings);
  });
}
