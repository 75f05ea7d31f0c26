/** `denrei uninstall`: removes the objects of a project, or only its finalizers, so that nothing stays in deletion. */
import { kindText } from "denrei/kinds";
import { aligned, connectCluster, isNotFound, type KubeClient, removeFinalizer } from "denrei/kubernetes";
import { type Settings, say, UsageError } from "denrei/runtime";
import { allFunctions } from "../named.ts";
import { deleteAll } from "./deletion.ts";
import { type Claim, claimOf, finalizersOf, type Inventory, takeInventory } from "./inventory.ts";
import { expectStopped } from "./stopped.ts";

/** Options of the command line. */
export interface UninstallOptions {
  readonly yes?: boolean;
  readonly keepObjects?: boolean;
  readonly crds?: boolean;
  /** Seconds. */
  readonly timeout: number;
}

const fieldManager = "denrei.dev/uninstall";

/**
 * Prints what would be removed, and with `yes` removes it. Throws an `ExpectedError` that names the objects that remain after the timeout,
 * or the functions whose workers add their finalizers again.
 */
export async function uninstall(
  settings: Settings<"kubeconfig" | "context">,
  options: UninstallOptions,
): Promise<void> {
  const { yes = false, keepObjects = false, crds = false } = options;
  if (keepObjects && crds)
    throw new UsageError(
      "--crds also deletes all objects of the kinds: it cannot be combined with --keep-objects",
    );
  const claim = claimOf(await allFunctions());
  const client = await connectCluster({ path: settings.kubeconfig, context: settings.context });
  try {
    const inventory = await takeInventory(client, claim);
    printInventory(inventory, claim, keepObjects);
    if (!yes) return say("\nNothing is changed. Add --yes to do this.");
    if (keepObjects) await releaseAll(client, claim, inventory);
    else await deleteAll(client, claim, { timeoutSeconds: options.timeout, onProgress: say });
    if (crds) await deleteCrds(client, claim);
    say(nextSteps(claim, keepObjects ? [] : inventory.others, crds));
  } finally {
    await client.connection.close();
  }
}

function printInventory({ own, others, unseen }: Inventory, claim: Claim, keepObjects: boolean): void {
  const all = [...own, ...others];
  if (all.length === 0) say("The cluster has no objects of this project.");
  else {
    const kinds = Map.groupBy(all, ({ kind }) => kindText(kind));
    const rows = [...kinds].map(([kind, objects]) => {
      const finalizers = new Set(objects.flatMap(({ object }) => finalizersOf(object, claim)));
      const isOwn = objects.some((one) => own.includes(one));
      const outcome = keepObjects || !isOwn ? "remove the finalizers" : "delete";
      const isLater = !keepObjects && !isOwn;
      return [
        kind,
        String(objects.length),
        [...finalizers].join(", "),
        isLater ? `later: ${outcome}` : outcome,
      ];
    });
    say(aligned([["KIND", "OBJECTS", "FINALIZERS OF THIS PROJECT", "ACTION"], ...rows]));
  }
  if (unseen.length > 0) say(`You may not list these kinds, whose objects stay: ${unseen.join(", ")}.`);
}

/** Removes the project's finalizers from all objects. Functions do not run for this. */
async function releaseAll(client: KubeClient, claim: Claim, inventory: Inventory): Promise<void> {
  for (const one of [...inventory.own, ...inventory.others])
    for (const finalizer of finalizersOf(one.object, claim))
      await removeFinalizer(client, one, finalizer, fieldManager);
  say("\nThe finalizers are removed. Checking that no worker sets them again.");
  await expectStopped(client, claim);
}

async function deleteCrds(client: KubeClient, { kinds }: Claim): Promise<void> {
  for (const { plural, group } of kinds)
    try {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`;
      await client.request({ method: "DELETE", path });
      say(`The CRD ${plural}.${group} is deleted.`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
}

/** What this command does not remove, with the commands that do. */
function nextSteps(claim: Claim, others: Inventory["others"], areCrdsDeleted: boolean): string {
  const crds = claim.kinds.map(({ plural, group }) => `${plural}.${group}`);
  return [
    "\nWhat remains, in this order:",
    "  The workloads: delete what you applied, such as kubectl delete -k . or helm uninstall",
    ...(others.length > 0
      ? ["  Finalizers on objects of other kinds: npx denrei uninstall --keep-objects --yes"]
      : []),
    "  Roles: npx denrei rbac | kubectl delete --ignore-not-found -f -",
    ...(areCrdsDeleted || crds.length === 0
      ? []
      : [`  CRDs, and with them all objects of these kinds: kubectl delete crd ${crds.join(" ")}`]),
    "  Data on a bus that other projects use: in one of them, for each function,",
    ...claim.functions.map((name) => `    npx denrei prune ${name}`),
  ].join("\n");
}
