/**
 * `denrei/command`: the command line, for bundles. It has the processes of the platform, and the commands that other packages of the
 * project add. Each command loads its code when it runs, so that workers start quickly.
 *
 * @packageDocumentation
 */
import "../nodeversion.ts";
import { Command, CommanderError } from "commander";
import { accountSettings, admissionSettings, busProcessSettings, readSettings } from "../config/config.ts";
import manifest from "../package.json" with { type: "json" };
import { usageExitCode } from "./errors.ts";
import { report } from "./explain.ts";
import { addInstalledCommands, installedCommandLine } from "./extensions.ts";
import { withSettings } from "./flags.ts";

const webhookSettings = ["webhookAddress", "webhookPath", "webhookSecrets"] as const;
const gatewaySettings = [...busProcessSettings, ...webhookSettings] as const;
const bridgeSettings = [...accountSettings, "namespaces", "watchSeconds"] as const;

const program = new Command("denrei")
  .description("Kubernetes reconcilers as stateless functions on a NATS bus")
  .version(manifest.version, "-V, --version", "Print the version")
  .helpOption("-h, --help", "Show help")
  .helpCommand("help [command]", "Show help for a command")
  .showHelpAfterError("(For help, run denrei --help or denrei <command> --help)")
  .configureHelp({ sortSubcommands: false })
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "denrei: ")) })
  .exitOverride()
  .addHelpText("after", "\nExit codes: 0 success, 1 failure, 2 invalid command line or setting, 130 Ctrl-C.");

program.commandsGroup("Start:");

program
  .command("init")
  .description("Create a project with an example function")
  .argument("<folder>", "Folder of the project, whose name becomes that of the package")
  .action(async (folder: string) => (await import("./init/init.ts")).init(folder));

program.commandsGroup("Run:");

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
  accountSettings,
)
  .addHelpText("after", tracingHelp)
  .action(async (names: string[], flags) => {
    const settings = readSettings(accountSettings, flags, process.env);
    await (await import("./worker.ts")).worker(names, settings);
  });

withSettings(
  program.command("gateway").description("Receive webhooks and publish them on the bus"),
  gatewaySettings,
)
  .addHelpText(
    "after",
    `
The gateway accepts POST <path>/<provider>/<hook>, such as /github/app, with the
content type application/json or application/x-www-form-urlencoded. It answers
with 202 when the bus has stored the webhook. To rotate a secret, add the new
one on its own line, change it at the sender, then remove the old line.
${tracingHelp}`,
  )
  .action(async (flags) => {
    const settings = readSettings(gatewaySettings, flags, process.env);
    await (await import("./gateway.ts")).gateway(settings);
  });

withSettings(
  program
    .command("run")
    .description("Run the bridge, the gateway, and functions in one process")
    .argument("[function...]", "Names of functions (default: all)"),
  [...bridgeSettings, ...webhookSettings],
)
  .addHelpText(
    "after",
    `
Bridge and gateway serve all functions of the project. The gateway runs if a
function has webhooks, and only then needs --webhook-secrets. The process has
the rights of all its parts: see docs/security.md. Start more replicas for
availability; separate processes of denrei bridge, gateway, and worker may run
beside them.
${tracingHelp}`,
  )
  .action(async (names: string[], flags) => {
    const settings = readSettings(bridgeSettings, flags, process.env);
    const received = () => readSettings(webhookSettings, flags, process.env);
    await (await import("./run.ts")).run(names, settings, received);
  });

withSettings(
  program
    .command("admission")
    .description(
      "Convert objects between the versions of their kinds, and run admission hooks, for the API server",
    ),
  admissionSettings,
)
  .addHelpText(
    "after",
    `
The API server calls POST /convert, /mutate, and /validate over TLS. The process
keeps no state, and needs neither the bus nor the API server.`,
  )
  .action(async (flags) => {
    const settings = readSettings(admissionSettings, flags, process.env);
    await (await import("./admission.ts")).admission(settings);
  });

/** Runs a command line, given without the program name. Returns the exit code after an error or a request for help. */
export async function runCommandLine(args: readonly string[]): Promise<number | undefined> {
  const installed = await installedCommandLine(args);
  if (installed !== undefined) return installed(args);
  try {
    await addInstalledCommands(program, args);
    await program.parseAsync(args, { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode;
    return report(error);
  }
}
