/** Commands of those who run the platform: what waits, what was given up, what came in, and what nobody uses any more. */
import type { Command } from "commander";
import { busSettings, readSettings } from "../../bus/config/config.ts";
import type { RequestState } from "../../bus/inspect/requests.ts";
import { listLimit, pointInTime, repositoryName, someOf } from "./arguments.ts";
import { withSettings } from "./flags.ts";

const connectionSettings = [...busSettings, "cluster"] as const;
const pruneSettings = ["kubeconfig", "context", ...connectionSettings] as const;

const requestStates: readonly RequestState[] = ["pending", "in-flight", "retrying", "delayed"];

/** Adds the options that say which webhooks. */
const withRange = (command: Command): Command =>
  command
    .option("--since <time>", "how long ago, such as 2h, or a time (RFC 3339)", (text) => pointInTime(text))
    .option("--until <time>", "the same for the end", (text) => pointInTime(text))
    .option("--repository <owner/name>", "of one repository", repositoryName)
    .option("--event <name>", "of one event, such as pull_request");

/** Adds them to the command line. */
export function addOperatorCommands(program: Command): void {
  addQueueCommands(program);
  addActivityCommands(program);
  addLetterCommands(program);
  addWebhookCommands(program);
  addPruneCommand(program);
}

function addQueueCommands(program: Command): void {
  withSettings(
    program
      .command("status")
      .description("per function: queue and dead letters; per kind: objects and the bridge's position")
      .option("--json", "as JSON"),
    connectionSettings,
  )
    .addHelpText(
      "after",
      `
Per function: EVENTS that no worker has looked at yet; in objects: PENDING wait
for a free worker, PARKED have changed while they were reconciled, IN FLIGHT are
being reconciled, DELAYED wait for their time, of which RETRYING have failed, and
DEAD LETTERS were given up. \`denrei requests\` names the objects.
Per kind: OBJECTS on the bus (deleted ones stay for some days), the BRIDGE that
watches it, the resourceVersion up to which it has published, and since when.`,
    )
    .action(async (flags) => {
      const settings = readSettings(connectionSettings, flags, process.env);
      await (await import("./status.ts")).status(settings, flags);
    });

  withSettings(
    program
      .command("requests")
      .description("objects that wait for a worker, that a worker has, or that wait for their next attempt")
      .argument("[function]", "of one function")
      .option(
        "--state <states>",
        `only these, separated by commas: ${requestStates.join(", ")}`,
        someOf(requestStates),
      )
      .option("--limit <count>", "at most so many", listLimit, 50)
      .option("--json", "as JSON"),
    connectionSettings,
  )
    .addHelpText(
      "after",
      `
PENDING, IN FLIGHT, RETRYING and DELAYED of \`denrei status\`, object by object:
those that are due first, the oldest first, then the others by the time when they
fall due. FAILED counts attempts, and REASON says why the last one failed;
\`denrei history\` and the object's conditions have the details.`,
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
      .description("which worker works on what: asked of the workers themselves")
      .option("--json", "as JSON"),
    connectionSettings,
  ).action(async (flags) => {
    const settings = readSettings(connectionSettings, flags, process.env);
    await (await import("./working.ts")).working(settings, flags);
  });

  withSettings(
    program
      .command("history")
      .description("what happened to an object within a day, from the webhook to the write: the oldest first")
      .argument("[kind]", "of the object, or the name of a function that reconciles it")
      .argument("[object]", "namespace/name, or the name of a cluster-scoped object")
      .option("--trace <id>", "instead: everything of a trace, by its id or a traceparent")
      .option("--limit <count>", "at most so many reconciles, the newest", listLimit, 50)
      .option("--json", "as JSON"),
    connectionSettings,
  ).action(async (kind: string | undefined, object: string | undefined, flags) => {
    const settings = readSettings(connectionSettings, flags, process.env);
    await (await import("./history.ts")).history(kind, object, settings, flags);
  });
}

function addLetterCommands(program: Command): void {
  const letters = program.command("deadletters").description("requests that were given up");
  withSettings(
    letters
      .command("list")
      .description("every dead letter, the newest first")
      .option("--function <name>", "of one function")
      .option("--json", "as JSON"),
    connectionSettings,
  ).action(async (flags) => {
    const settings = readSettings(connectionSettings, flags, process.env);
    await (await import("./deadletters.ts")).list(settings, flags);
  });
  withSettings(
    letters
      .command("show")
      .description("one dead letter, whole")
      .argument("<function>", "whose")
      .argument("<object>", "namespace/name, or the name of a cluster-scoped object")
      .option("--json", "as JSON"),
    connectionSettings,
  ).action(async (fn: string, object: string, flags) => {
    const settings = readSettings(connectionSettings, flags, process.env);
    await (await import("./deadletters.ts")).show(fn, object, settings, flags);
  });
  withSettings(
    letters
      .command("replay")
      .description("ask for the reconcile again and take the letter away")
      .argument("<function>", "whose")
      .argument("[object]", "namespace/name, or the name of a cluster-scoped object")
      .option("--all", "every dead letter of the function"),
    connectionSettings,
  ).action(async (fn: string, object: string | undefined, flags) => {
    const settings = readSettings(connectionSettings, flags, process.env);
    await (await import("./deadletters.ts")).replayLetters(fn, object, settings, flags);
  });
}

function addWebhookCommands(program: Command): void {
  const webhooks = program.command("webhooks").description("webhooks of the last three days");
  withSettings(
    withRange(webhooks.command("list").description("the newest first"))
      .option("--limit <count>", "at most so many", listLimit, 50)
      .option("--json", "as JSON"),
    busSettings,
  ).action(async (flags) => {
    const settings = readSettings(busSettings, flags, process.env);
    await (await import("./webhooks.ts")).list(settings, flags);
  });
  withSettings(
    webhooks
      .command("show")
      .description("one webhook, whole: the fields of its payload that are kept")
      .argument("<delivery>", "GitHub's id of the delivery")
      .option("--json", "as JSON"),
    busSettings,
  ).action(async (delivery: string, flags) => {
    const settings = readSettings(busSettings, flags, process.env);
    await (await import("./webhooks.ts")).show(delivery, settings, flags);
  });
  withSettings(
    withRange(
      webhooks
        .command("replay")
        .description("wake the functions with webhooks again: those named, or all of a range")
        .argument("[delivery...]", "GitHub's ids of deliveries"),
    ).option("--dry-run", "only print which"),
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
      .description(
        "remove what functions that are gone have left on the bus; of one that is named, its finalizers as well",
      )
      .argument("[function]", "one that was removed")
      .option("--dry-run", "only print what")
      .option("--force", "also what was used within the last hour, or is not empty"),
    pruneSettings,
  )
    .addHelpText(
      "after",
      `
That is streams of functions that this program does not have, and consumers that
none of its functions uses, in one cluster. What somebody waits at is never
touched. No role of the platform may delete on the bus: ask as a user who may
do everything there.

With the name of a function that was removed: all that this one has left on the
bus, also requests, dead letters and index entries, and its finalizer on objects
of all kinds and namespaces. Objects that are being deleted then go, and what
the function made outside Kubernetes stays. Stop its workers first.`,
    )
    .action(async (fn: string | undefined, flags) => {
      const settings = readSettings(pruneSettings, flags, process.env);
      if (fn === undefined) await (await import("./prune.ts")).prune(settings, flags);
      else await (await import("./prunefunction.ts")).pruneFunction(fn, settings, flags);
    });
}
