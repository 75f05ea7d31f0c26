/** The commands: `denrei <command>`. Each is loaded when it runs, so that a worker starts quickly. */
import { Argument, Command, CommanderError } from "commander";
import {
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
  .version("0.1.0")
  .showHelpAfterError("(denrei --help, or denrei <command> --help, shows what is possible)")
  .configureHelp({ sortSubcommands: false })
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "denrei: ")) })
  .exitOverride()
  .addHelpText("after", "\nExit codes: 0 done, 1 failed, 2 wrong command line or setting, 130 Ctrl-C.");

const stageHelp = `
With KUBECONFIG and NATS_URL set, that cluster and that bus are used. Otherwise
etcd, kube-apiserver, kube-controller-manager and nats-server are started on
free ports; the first time they are downloaded, or built if that fails.
DENREI_ZUNDOKO_WORDS=Doko,Zun,Zun,Zun,Zun,Doko fixes the words, which chance
chooses otherwise.`;

program
  .command("demo")
  .description("start everything locally, show what it does, and stop everything again")
  .addArgument(
    new Argument(
      "[name]",
      "song: a Hikawa sings until Kiyoshi; github: a GitHub App's token is kept in a Secret and refreshed, and a webhook comes to the bus; paas: pull requests become previews; pipecd: PipeCD comes up and goes again; dashboard: all of it in a browser",
    )
      .choices(["song", "github", "paas", "pipecd", "dashboard"])
      .default("song"),
  )
  .option("--workers <count>", "worker replicas (default: 3, and 2 for github)", workerCount)
  .addHelpText("after", stageHelp)
  .action(async (act, options) =>
    (await import("./demo/demo.ts")).demo({ ...options, name: act, mode: "demo" }),
  );

program
  .command("up")
  .description("start everything locally and stay up until Ctrl-C")
  .option("--workers <count>", "worker replicas", workerCount, 3)
  .option("--no-dashboard", "no dashboard in front")
  .addHelpText(
    "after",
    `${stageHelp}

The dashboard is at http://127.0.0.1:8090, or at the next free port. In a cluster
of your own it needs DENREI_OIDC_ISSUER and DENREI_OIDC_CLIENT_ID, and whatever
else denrei dashboard --help names.`,
  )
  .action(async (options) => (await import("./demo/demo.ts")).demo({ ...options, name: "song", mode: "up" }));

program
  .command("dev")
  .description("run functions locally while they are written: what is saved takes the place of what runs")
  .argument("[function...]", "names of functions (default: all)")
  .option("--workers <count>", "worker replicas (default: 1)", workerCount)
  .option("--inspect", "let a debugger attach to the worker, at 9229 or the next free port")
  .option("--inspect-port <port>", "the same, at this port", portNumber)
  .option("--gateway", "receive webhooks, at 8080 or the next free port")
  .option("--gateway-port <port>", "the same, at this port", portNumber)
  .option(
    "--simulate <services>",
    "services to simulate: github (with webhooks), kpack, and pipecd, separated by commas",
    someOf(simulated),
  )
  .option(
    "--nodes <count>",
    "nodes, of which kwok says that pods run (default: 1 for kpack and pipecd)",
    nodeCount,
  )
  .option("--dashboard", "a dashboard in front, at 8090 or the next free port")
  .addHelpText(
    "after",
    `
With KUBECONFIG and NATS_URL set, that cluster and that bus are used; the CRDs
there follow the code, but lose nothing; a dashboard there needs what it needs
for up. Otherwise everything is local, as it is for up.`,
  )
  .action(async (names: string[], options) => (await import("./dev/dev.ts")).dev(names, options));

const tracingHelp = `
OTEL_EXPORTER_OTLP_ENDPOINT, the URL of a collector, exports traces to it. Then
OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER(_ARG),
OTEL_EXPORTER_OTLP_(TRACES_)*, OTEL_BSP_* and OTEL_SDK_DISABLED are read, too:
docs/tracing.md says what they do.`;

withSettings(
  program
    .command("bridge")
    .description("watch the kinds of all functions and publish every change on the bus"),
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
    .description("run functions")
    .argument("<function...>", "names of functions, or 'all'"),
  processSettings,
)
  .addHelpText("after", tracingHelp)
  .action(async (names: string[], flags) => {
    const settings = readSettings(processSettings, flags, process.env);
    await (await import("./worker.ts")).worker(names, settings);
  });

withSettings(
  program.command("gateway").description("receive webhooks of GitHub and publish them on the bus"),
  gatewaySettings,
)
  .addHelpText(
    "after",
    `
POST <path>/<hook>, with the content type application/json or
application/x-www-form-urlencoded, is answered with 202 when the bus has stored
it. To change a secret, add the new one in a line of its own, change it on
GitHub's page, then take the old one away.
${tracingHelp}`,
  )
  .action(async (flags) => {
    const settings = readSettings(gatewaySettings, flags, process.env);
    await (await import("./gateway.ts")).gateway(settings);
  });

withSettings(
  program
    .command("dashboard")
    .description("serve the page for people who would rather look than type, in the name of the user"),
  dashboardSettings,
)
  .addHelpText(
    "after",
    `
Every request reaches the API server with the token of the logged-in user: it
has to take the tokens of the issuer (--authentication-config, or --oidc-*), and
what somebody may see and do is what RBAC says. Of the kubeconfig only the
server's address and authority are used.`,
  )
  .action(async (flags) => {
    const settings = readSettings(dashboardSettings, flags, process.env);
    const { functions } = await import("../../functions/index.ts");
    await (await import("./dashboard.ts")).dashboard(settings, functions);
  });

program
  .command("crds")
  .description("print the CustomResourceDefinitions, for kubectl apply -f -")
  .option("--json", "as a JSON list")
  .action(async (options) => (await import("./manifests.ts")).crds(options));

program
  .command("rbac")
  .description("print the service accounts and roles that functions, bridge and gateway need")
  .argument("[name...]", "functions, 'all' of them, 'bridge' or 'gateway' (default: everything)")
  .option("--namespace <name>", "where the service accounts live", namespaceName, "denrei")
  .option("--json", "as a JSON list")
  .action(async (names: string[], options) => (await import("./manifests.ts")).rbac(names, options));

program
  .command("opt-in")
  .description("print what lets the platform look at the Secrets of namespaces, for kubectl apply -f -")
  .argument("<namespace...>", "whose Secrets", namespaceNames)
  .option("--platform-namespace <name>", "where the service accounts live", namespaceName, "denrei")
  .option("--json", "as a JSON list")
  .addHelpText(
    "after",
    `
That is a RoleBinding for the bridge and for each function that has to do with
Secrets. The label, by which the bridge knows the namespace, is set beside it:
kubectl label namespace <namespace> denrei.dev/secrets=true`,
  )
  .action(async (names: string[], options) => (await import("./manifests.ts")).optIn(names, options));

program
  .command("certificates")
  .description(
    "print Secrets with new certificates for the bus and each of its users, for kubectl apply -f -",
  )
  .option("--namespace <name>", "where the bus and its users live", namespaceName, "denrei")
  .option("--json", "as a JSON list")
  .addHelpText(
    "after",
    `
They are valid for a year. The key of the authority that signs them is not kept:
who needs one more makes all of them anew, and restarts the NATS servers, which
read theirs at the start only. Processes read theirs at each connection.`,
  )
  .action(async (options) => (await import("./manifests.ts")).certificates(options));

program
  .command("users")
  .description("print the users of the NATS servers and their rights, as authorization.conf")
  .option("--cluster <name>", "the cluster whose processes they are", namespaceName, "default")
  .option(
    "--one-account",
    "all in one account: faster, and no protection from functions that were taken over",
  )
  .action(async (options) => (await import("./manifests.ts")).users(options));

const chart = program.command("chart").description("charts, which make the objects of Applications");
chart
  .command("print")
  .description("print the built-in chart, as something to start one of your own from")
  .action(async () => (await import("./chart.ts")).print());
chart
  .command("render")
  .description("print what a chart makes of the Applications in a file, without a cluster")
  .argument("<file>", "YAML with Applications")
  .option("--chart <path>", "a chart, .ts or .js (default: the built-in one)")
  .option("--config <path>", "the site's config.yaml")
  .option("--modules <folder>", "a folder with node_modules and imports that the chart imports from")
  .action(async (file: string, options) => (await import("./chart.ts")).render(file, options));

const chartSettings = ["kubeconfig", "context"] as const;
withSettings(
  chart
    .command("rbac")
    .description("print the roles for the kinds that the site lists, for kubectl apply -f -")
    .option(
      "--config <path>",
      "the site's config.yaml, or - for standard input (default: that in the cluster)",
    )
    .option(
      "--namespace <name>",
      "where the service accounts and the site's ConfigMap are",
      namespaceName,
      "denrei",
    )
    .option("--json", "as a JSON list"),
  chartSettings,
).action(async (flags) => {
  const settings = readSettings(chartSettings, flags, process.env);
  await (await import("./chart.ts")).rbac(flags, settings);
});

program
  .command("new")
  .description("begin something new in a checkout of the repository")
  .command("function")
  .description("write a kind, its reconciler, a case and a test, and register them")
  .argument("<name>", "of the function: lower-case letters, digits and dashes")
  .requiredOption("--for <Kind>", "the kind that it reconciles, in PascalCase")
  .option("--group <group>", "API group of the kind (default: that of the system, or <system>.denrei.dev)")
  .option("--system <folder>", "folder under functions/ (default: the name)")
  .option("--owns <Kind...>", "kinds of its children: ConfigMap, Deployment, or the system's own")
  .option("--dry-run", "only print which files")
  .action(async (name: string, options) =>
    (await import("./new/function.ts")).newFunction({ ...options, name }),
  );

addOperatorCommands(program);

/** Runs a command line, without the name of the program. Resolves to the exit code when it is wrong, asks for help, or fails. */
export async function runCommandLine(args: readonly string[]): Promise<number | undefined> {
  try {
    await program.parseAsync(args, { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode;
    return report(error);
  }
}
