/** Commands for operators: queues, history, dead letters, webhooks, and leftovers. */
import type { Command } from "commander";
import type { RequestState } from "denrei/bus";
import { busSettings, readSettings, UsageError, withSettings } from "denrei/runtime";
import { listLimit, pointInTime, repositoryName, seconds, someOf } from "./arguments.ts";

const connectionSettings = [...busSettings, "cluster"] as const;
const clusterSettings = ["kubeconfig", "context"] as const;
const pruneSettings = [...clusterSettings, ...connectionSettings] as const;

const requestStates: readonly RequestState[] = ["pending", "in-flight", "retrying", "delayed"];

const withRange = (command: Command): Command =>
  command
    .option("--since <time>", "Only webhooks since this age (2h) or time (RFC 3339)", (text) =>
      pointInTime(text),
    )
    .option("--until <time>", "Only webhooks until this age or time", (text) => pointInTime(text))
    .option("--repository <owner/name>", "Only webhooks of this repository", repositoryName)
    .option("--event <name>", "Only webhooks of this event, such as pull_request");

/** Adds the commands. */
export function addOperatorCommands(program: Command): void {
  addQueueCommands(program);
  addActivityCommands(program);
  addDeadLetterCommands(program);
  addWebhookCommands(program);
  addPruneCommand(program);
  addMigrateCommand(program);
  addUninstallCommand(program);
  addAdoptCommand(program);
}

function addAdoptCommand(program: Command): void {
  withSettings(
    program
      .command("adopt")
      .description(
        "Take over functions on the bus that belonged to another project, or to another name of this one",
      )
      .argument("<function...>", "Names of functions, or 'all'"),
    busSettings,
  )
    .addHelpText(
      "after",
      `
Processes of the other project refuse to run the functions from then on. Remove
them from that project first. The platform's own users may not do this: connect
as a user who may do everything on the bus.`,
    )
    .action(async (names: string[], flags) => {
      const settings = readSettings(busSettings, flags, process.env);
      await (await import("./adopt.ts")).adoptFunctions(names, settings);
    });
}

function addQueueCommands(program: Command): void {
  withSettings(
    program
      .command("status")
      .description("Show the queues of functions, and the kinds that bridges watch")
      .option("--json", "Print JSON"),
    connectionSettings,
  )
    .addHelpText(
      "after",
      `
Columns of a function:
  EVENTS        events that no worker has routed yet
  PENDING       objects that wait for a free worker
  PARKED        objects that changed while they were reconciled
  IN FLIGHT     objects that a worker reconciles now
  DELAYED       objects that are due later, including RETRYING
  RETRYING      objects whose last attempt failed
  DEAD LETTERS  objects that workers have given up
denrei requests lists these objects.

Columns of a kind:
  OBJECTS       objects on the bus (deleted ones stay for some days)
  BRIDGE        bridge that watches the kind
  POSITION      resourceVersion up to which changes are published
  MOVED         time of the last change of POSITION`,
    )
    .action(async (flags) => {
      const settings = readSettings(connectionSettings, flags, process.env);
      await (await import("./status.ts")).status(settings, flags);
    });

  withSettings(
    program
      .command("requests")
      .description("List pending, in-flight, retrying, and delayed objects")
      .argument("[function]", "Name of a function (default: all)")
      .option(
        "--state <states>",
        `Comma-separated states: ${requestStates.join(", ")}`,
        someOf(requestStates),
      )
      .option("--limit <count>", "Maximum number of entries", listLimit, 50)
      .option("--json", "Print JSON"),
    connectionSettings,
  )
    .addHelpText(
      "after",
      `
Objects that are due come first, oldest first; the others follow by due time.
FAILED is the number of failed attempts, and REASON is the reason of the last
one. For details, see denrei history and the conditions of the object.`,
    )
    .action(async (fn: string | undefined, flags) => {
      const settings = readSettings(connectionSettings, flags, process.env);
      await (await import("./requests.ts")).requests(fn, settings, flags);
    });
}

function addActivityCommands(program: Command): void {
  withSettings(
    program
      .command("working")
      .description("Show what each worker reconciles now; the workers answer themselves")
      .option("--json", "Print JSON"),
    connectionSettings,
  ).action(async (flags) => {
    const settings = readSettings(connectionSettings, flags, process.env);
    await (await import("./working.ts")).working(settings, flags);
  });

  withSettings(
    program
      .command("history")
      .description("Show the last day of an object, from webhooks to writes, oldest first")
      .argument("[kind]", "Kind of the object, or name of its function")
      .argument("[object]", "namespace/name, or the name of a cluster-scoped object")
      .option("--trace <id>", "Show a trace instead, by its ID or a traceparent")
      .option("--limit <count>", "Maximum number of reconciles; shows the newest", listLimit, 50)
      .option("--json", "Print JSON"),
    connectionSettings,
  ).action(async (kind: string | undefined, object: string | undefined, flags) => {
    const settings = readSettings(connectionSettings, flags, process.env);
    await (await import("./history.ts")).history(kind, object, settings, flags);
  });
}

function addDeadLetterCommands(program: Command): void {
  const deadLetters = program.command("deadletters").description("List, show, and replay dead letters");
  withSettings(
    deadLetters
      .command("list")
      .description("List dead letters, newest first")
      .option("--function <name>", "Only dead letters of this function")
      .option("--json", "Print JSON"),
    connectionSettings,
  ).action(async (flags) => {
    const settings = readSettings(connectionSettings, flags, process.env);
    await (await import("./deadletters.ts")).list(settings, flags);
  });
  withSettings(
    deadLetters
      .command("show")
      .description("Show a dead letter with its stack and cause")
      .argument("<function>", "Name of the function")
      .argument("<object>", "namespace/name, or the name of a cluster-scoped object")
      .option("--json", "Print JSON"),
    connectionSettings,
  ).action(async (fn: string, object: string, flags) => {
    const settings = readSettings(connectionSettings, flags, process.env);
    await (await import("./deadletters.ts")).show(fn, object, settings, flags);
  });
  withSettings(
    deadLetters
      .command("replay")
      .description("Replay one or all dead letters: enqueue the object and remove the dead letter")
      .argument("<function>", "Name of the function")
      .argument("[object]", "namespace/name, or the name of a cluster-scoped object")
      .option("--all", "Replay all dead letters of the function"),
    connectionSettings,
  ).action(async (fn: string, object: string | undefined, flags) => {
    const settings = readSettings(connectionSettings, flags, process.env);
    await (await import("./deadletters.ts")).replay(fn, object, settings, flags);
  });
}

function addWebhookCommands(program: Command): void {
  const webhooks = program
    .command("webhooks")
    .description("List, show, and replay the webhooks of the last three days");
  withSettings(
    withRange(webhooks.command("list").description("List webhooks, newest first"))
      .option("--limit <count>", "Maximum number of entries", listLimit, 50)
      .option("--json", "Print JSON"),
    busSettings,
  ).action(async (flags) => {
    const settings = readSettings(busSettings, flags, process.env);
    await (await import("./webhooks.ts")).list(settings, flags);
  });
  withSettings(
    webhooks
      .command("show")
      .description("Show a webhook with the stored fields of its payload")
      .argument("<delivery>", "Delivery ID of GitHub")
      .option("--json", "Print JSON"),
    busSettings,
  ).action(async (delivery: string, flags) => {
    const settings = readSettings(busSettings, flags, process.env);
    await (await import("./webhooks.ts")).show(delivery, settings, flags);
  });
  withSettings(
    withRange(
      webhooks
        .command("replay")
        .description("Publish webhooks again: by delivery ID, or all in a range")
        .argument("[delivery...]", "Delivery IDs of GitHub"),
    ).option("--dry-run", "Only print the webhooks"),
    busSettings,
  ).action(async (ids: string[], flags) => {
    const settings = readSettings(busSettings, flags, process.env);
    await (await import("./webhooks.ts")).replay(ids, settings, flags);
  });
}

function addPruneCommand(program: Command): void {
  withSettings(
    program
      .command("prune")
      .description("Remove unused streams and consumers, or everything that a removed function has left")
      .argument("[function]", "Name of a removed function")
      .option("--project <name>", "Remove everything of this project, after it was uninstalled")
      .option("--dry-run", "Only print what would be removed")
      .option("--force", "Also remove what was used within the last hour or is not empty"),
    pruneSettings,
  )
    .addHelpText(
      "after",
      `
Without a function, the command removes streams of functions that this project
no longer has, and consumers that none of its functions uses, in one cluster. It
never removes a consumer with a waiting client, or anything of other projects. The platform's own users may not
delete on the bus: connect as a user who may do everything there.

With a removed function, the command removes all of its data on the bus,
including requests, dead letters, and index entries, and its finalizer on
objects of all kinds in all namespaces. Kubernetes then completes pending
deletions; resources that the function created outside Kubernetes remain. Stop
its workers first.

With --project, the command does that for all functions of a project, which may
be this one, and removes the objects of kinds that no other project needs. Stop
the project's bridge and workers first.`,
    )
    .action(async (fn: string | undefined, flags) => {
      const settings = readSettings(pruneSettings, flags, process.env);
      if (fn !== undefined && flags.project !== undefined)
        throw new UsageError("name a function or a project, not both");
      if (flags.project !== undefined)
        await (await import("./pruneproject.ts")).pruneProject(flags.project, settings, flags);
      else if (fn === undefined) await (await import("./prune.ts")).prune(settings, flags);
      else await (await import("./prunefunction.ts")).pruneFunction(fn, settings, flags);
    });
}

function addMigrateCommand(program: Command): void {
  withSettings(
    program
      .command("migrate-storage")
      .description("Rewrite objects in the stored version of their kind, before an older version is removed")
      .argument("[kind...]", "Kinds, such as Parcel or parcels.example.com (default: all of the project)")
      .option("--dry-run", "Write nothing, but let the API server check every object"),
    clusterSettings,
  )
    .addHelpText(
      "after",
      `
The API server keeps each object in the version in which it was last written.
The command writes every object once, without a change, and then sets
status.storedVersions of the CRD to the stored version alone. Run it when all
API servers use the CRD of this program, and all processes its code.`,
    )
    .action(async (kinds: string[], flags) => {
      const settings = readSettings(clusterSettings, flags, process.env);
      await (await import("./migratestorage.ts")).migrateStorage(kinds, settings, flags);
    });
}

function addUninstallCommand(program: Command): void {
  withSettings(
    program
      .command("uninstall")
      .description(
        "Delete the objects of this project's kinds, or only its finalizers; without --yes, print them",
      )
      .option("--yes", "Do it")
      .option(
        "--keep-objects",
        "Only remove the finalizers of this project's functions, after its workers have stopped",
      )
      .option("--crds", "Then delete the CRDs of this project's kinds")
      .option("--timeout <seconds>", "How long to wait for deletions", seconds, 300),
    clusterSettings,
  )
    .addHelpText(
      "after",
      `
Run it while the workers run: their functions clean up what is outside
Kubernetes, and then remove their finalizers. It names the objects that remain
after the timeout, and why. Afterwards, delete the workloads; the output lists
the commands for the rest.

If the workers no longer run, deletions wait for them forever. Then use
--keep-objects, and clean up by hand what the functions created elsewhere.`,
    )
    .action(async (flags) => {
      const settings = readSettings(clusterSettings, flags, process.env);
      await (await import("./uninstall/uninstall.ts")).uninstall(settings, flags);
    });
}
