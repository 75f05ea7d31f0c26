/** Records what bridge and gateway need to know about functions, when a bundle is built. */
import { bundleFolder } from "../project/bundle.ts";
import { writeNeeds } from "../project/needs.ts";
import { openProject } from "../project/project.ts";
import { needsOf } from "../worker/needs.ts";
import { report } from "./explain.ts";

/** Loads all functions of the bundle, with those of components that an installation may lack. Returns the exit code. */
export async function recordNeeds(): Promise<number> {
  try {
    const project = await openProject(undefined, {});
    await writeNeeds(bundleFolder() ?? project.folder, needsOf(await project.all()));
    return 0;
  } catch (error) {
    return report(error);
  }
}
