/** `denrei adopt` */
import { adopt, ownerOf } from "denrei/bus";
import { openProject, say } from "denrei/runtime";
import { type AddressSettings, withBus } from "./bus.ts";
import { checkFunctionNames } from "./named.ts";

/** Makes functions on the bus part of this project, after they moved here or after the project got a new name. */
export async function adoptFunctions(names: readonly string[], settings: AddressSettings): Promise<void> {
  await checkFunctionNames(names);
  const project = await openProject();
  const selected = names.includes("all") ? project.functionNames : names;
  await withBus(settings, async ({ jsm }) => {
    for (const name of selected) {
      const owner = await ownerOf(jsm, name);
      if (owner === undefined) {
        say(`${name} belongs to no project on this bus: nothing to adopt.`);
        continue;
      }
      await adopt(jsm, name, project.name);
      say(`${name} belongs to ${project.name} now, and belonged to ${owner} before.`);
    }
  });
}
