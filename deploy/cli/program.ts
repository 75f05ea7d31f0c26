/** The command line. Each command loads its code when it runs, so that workers start quickly. */
import { Argument, Command, CommanderError } from "commander";
import {
  admissionSettings,
  busProcessSettings,
  dashboardSettings,
  processSettings,
  readSettings,
} from "../../bus/config/config.ts";
import { usageExitCode } from "../environment/errors.ts";
import { namespaceName, namespaceNames, nodeCount, portNumber, someOf, workerCount } from "./arguments.ts";
import { simulated } from "./dev/simulated.ts";
import { report } from "./explain.ts";
import { withSettings } from "./flags.ts";
import { addOperatorCommands } from "./operate.ts";

const gatewaySettings = [...busProcessSettings, "webhookAddress", "webhookPath", "webhookSecrets"] as const;
const bridgeSettings = [...processSettings, "namespaces", "watchSeconds"] as const;

const program = new Command("denrei")
  .description("Kubernetes reconcilers as stateless functions on a NATS bus")
  .version("0.1.0", "-V, --version", "Print the version")
  .helpOption("-h, --help", "Show help")
  .helpCommand("help [command]", "Show help for a command")
  .showHelpAfterError("(For help, run denrei --help or denrei <command> --help)")
  .configureHelp({ sortSubcommands: false })
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "denrei: ")) })
  .exitOverride()
  .addHelpText("after", "\nExit codes: 0 success, 1 failure, 2 invalid command line or setting, 130 Ctrl-C.");

const environmentHelp = `
If KUBECONFIG and NATS_URL are set, Denrei uses that cluster and that bus.
Otherwise it starts etcd, kube-apiserver, kube-controller-manager, and
nats-server on free ports. The first run downloads them, or builds them if the
download fails. The words of the song are random; set DENREI_ZUNDOKO_WORDS to
choose them, for example DENREI_ZUNDOKO_WORDS=Doko,Zun,Zun,Zun,Zun,Doko.`;

program
  .command("demo")
  .description("Run a demo on a local platform, then stop the platform")
  .addArgument(
    new Argument(
      "[name]",
      "song: a Hikawa sings until Kiyoshi; github: tokens of a GitHub App in a Secret, and a webhook; paas: previews of pull requests; pipecd: PipeCD from creation to deletion; dashboard: everything in a browser",
    )
      .choices(["song", "github", "paas", "pipecd", "dashboard"])
      .default("song"),
  )
  .option("--workers <count>", "Number of workers (default: 3; github: 2)", workerCount)
  .addHelpText("after", environmentHelp)
  .action(async (name, options) => (await import("./demo/demo.ts")).demo({ ...options, name, mode: "demo" }));

program
  .command("up")
  .description("Run everything on a local platform until Ctrl-C")
  .option("--workers <count>", "Number of workers", workerCount, 3)
  .option("--no-dashboard", "Do not start the dashboard")
  .addHelpText(
    "after",
    `${environmentHelp}

The dashboard listens at http://127.0.0.1:8090, or at the next free port. With
your own cluster, set DENREI_OIDC_ISSUER and DENREI_OIDC_CLIENT_ID. For other
settings, see denrei dashboard --help.`,
  )
  .action(async (options) => (await import("./demo/demo.ts")).demo({ ...options, name: "song", mode: "up" }));

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
  .addHelpText(
    "after",
    `
If KUBECONFIG and NATS_URL are set, Denrei uses that cluster and that bus. It
updates the CRDs there, but never removes a field or a version. The dashboard
needs the same settings as for denrei up. Otherwise, Denrei starts a local
platform, as denrei up does.`,
  )
  .action(async (names: string[], options) => (await import("./dev/dev.ts")).dev(names, options));

const tracingHelp = `
Set OTEL_EXPORTER_OTLP_ENDPOINT to the URL of a collector to export traces.
Also read: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES,
OTEL_TRACES_SAMPLER(_ARG), OTEL_EXPORTER_OTLP_(TRACES_)*, OTEL_BSP_*, and
OTEL_SDK_DISABLED. See docs/tracing.md.`;

withSettings(
  program.command("bridge").description("Watch the kinds of all functions and publish changes on the bus"),
  bridgeSettings,
)
  .addHelpText("after", tracingHelp)
  .action(async (flags) => {
    const settings = readSettings(bridgeSettings, flags, process.env);
    await (await import("./bridge.ts")).bridge(settings);
  });

withSettings(
  program
    .command("worker")
    .description("Run functions")
    .argument("<function...>", "Names of functions, or 'all'"),
  processSettings,
)
  .addHelpText("after", tracingHelp)
  .action(async (names: string[], flags) => {
    const settings = readSettings(processSettings, flags, process.env);
    await (await import("./worker.ts")).worker(names, settings);
  });

withSettings(
  program.command("gateway").description("Receive GitHub webhooks and publish them on the bus"),
  gatewaySettings,
)
  .addHelpText(
    "after",
    `
The gateway accepts POST <path>/<hook> with the content type application/json or
application/x-www-form-urlencoded. It answers with 202 when the bus has stored
the webhook. To rotate a secret, add the new one on its own line, change it on
GitHub, then remove the old line.
${tracingHelp}`,
  )
  .action(async (flags) => {
    const settings = readSettings(gatewaySettings, flags, process.env);
    await (await import("./gateway.ts")).gateway(settings);
  });

withSettings(
  program
    .command("admission")
    .description("Convert objects between the versions of their kinds, for the API server"),
  admissionSettings,
)
  .addHelpText(
    "after",
    `
The API server calls POST /convert over TLS. The process keeps no state, and
needs neither the bus nor the API server.`,
  )
  .action(async (flags) => {
    const settings = readSettings(admissionSettings, flags, process.env);
    const { functions } = await import("../../functions/index.ts");
    await (await import("./admission.ts")).admission(settings, functions);
  });

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
    const { functions } = await import("../../functions/index.ts");
    await (await import("./dashboard.ts")).dashboard(settings, functions);
  });

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
  .command("rbac")
  .description("Print the service accounts and roles of functions, bridge, and gateway")
  .argument("[name...]", "Functions, 'all', 'bridge', or 'gateway' (default: everything)")
  .option("--namespace <name>", "Namespace of the service accounts", namespaceName, "denrei")
  .option("--json", "Print a JSON list")
  .action(async (names: string[], options) => (await import("./manifests.ts")).rbac(names, options));

program
  .command("opt-in")
  .description("Print the RoleBindings that give access to Secrets in namespaces, for kubectl apply -f -")
  .argument("<namespace...>", "Namespaces of the Secrets", namespaceNames)
  .option("--platform-namespace <name>", "Namespace of the service accounts", namespaceName, "denrei")
  .option("--json", "Print a JSON list")
  .addHelpText(
    "after",
    `
The output has a RoleBinding for the bridge and for each function that uses
Secrets. The bridge finds the namespaces by their label. Set it with
kubectl label namespace <namespace> denrei.dev/secrets=true`,
  )
  .action(async (names: string[], options) => (await import("./manifests.ts")).optIn(names, options));

program
  .command("certificates")
  .description(
    "Print Secrets with new certificates for the bus, its users, and webhooks, for kubectl apply -f -",
  )
  .option("--namespace <name>", "Namespace of the bus and its users", namespaceName, "denrei")
  .option("--json", "Print a JSON list")
  .addHelpText(
    "after",
    `
The certificates are valid for a year. The CA key is not kept: to add a
certificate, create all of them again. Then restart the NATS servers, which read
their certificates only at the start. Other processes read theirs for each
connection.`,
  )
  .action(async (options) => (await import("./manifests.ts")).certificates(options));

program
  .command("users")
  .description("Print the NATS users and their permissions, as authorization.conf")
  .option("--cluster <name>", "Name of the cluster", namespaceName, "default")
  .option(
    "--one-account",
    "Put all users in one account: faster, but does not isolate a compromised function",
  )
  .action(async (options) => (await import("./manifests.ts")).users(options));

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

const chartSettings = ["kubeconfig", "context"] as const;
withSettings(
  chart
    .command("rbac")
    .description("Print the roles for the kinds that the site lists, for kubectl apply -f -")
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

program
  .command("new")
  .description("Create code in a checkout of the repository")
  .command("function")
  .description("Create and register a kind, its reconciler, and a test")
  .argument("<name>", "Name of the function: lower-case letters, digits, and dashes")
  .requiredOption("--for <Kind>", "Kind that the function reconciles, in PascalCase")
  .option(
    "--group <group>",
    "API group of the kind (default: the group of the system, or <system>.denrei.dev)",
  )
  .option("--system <folder>", "Folder in functions/ (default: the name)")
  .option("--owns <Kind...>", "Kinds of the children: ConfigMap, Deployment, or kinds of the system")
  .option("--dry-run", "Only print the names of the files")
  .action(async (name: string, options) =>
    (await import("./new/function.ts")).newFunction({ ...options, name }),
  );

addOperatorCommands(program);

/** Runs a command line, given without the program name. Returns the exit code after an error or a request for help. */
export async function runCommandLine(args: readonly string[]): Promise<number | undefined> {
  try {
    await program.parseAsync(args, { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode;
    return report(error);
  }
}
