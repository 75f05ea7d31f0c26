/** `denrei prune --project`: removes everything that a project has on the bus, and its finalizers. */
import { forgetProject, knownProject } from "denrei/bus";
import { kindText } from "denrei/kinds";
import { AbsentError, say } from "denrei/runtime";
import { withBus } from "./bus.ts";
import type { PruneOptions } from "./prune.ts";
import { type FunctionSettings, removeFunctions } from "./prunefunction.ts";

/**
 * Removes a project from the bus, or only prints what it has there (`dryRun`): its functions, its record, and the objects of kinds that
 * no other project needs. Throws an {@link AbsentError} if the bus does not know the project, or while one of its workers runs.
 */
export async function pruneProject(
  project: string,
  settings: FunctionSettings,
  options: PruneOptions,
): Promise<void> {
  const { cluster } = settings;
  const known = await withBus(settings, (bus) => knownProject(bus, cluster, project));
  if (known === undefined)
    throw new AbsentError(`the bus knows no project "${project}" in the cluster "${cluster}"`);
  await removeFunctions(known.functions, project, settings, options);
  if (!options.dryRun) await withBus(settings, (bus) => forgetProject(bus, cluster, project, known.kinds));
  const kinds = known.kinds.map(kindText).join(", ") || "none";
  say(
    options.dryRun
      ? `The project ${project} would be removed, with the objects of kinds that no other project needs: ${kinds}.`
      : `Removed the project ${project} from the bus, with the objects of kinds that no other project needs: ${kinds}.`,
  );
}
