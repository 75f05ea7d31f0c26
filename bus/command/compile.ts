/** Fills Node's compile cache (NODE_COMPILE_CACHE) when an image is built. Its processes then start without compiling. */
import { openProject } from "../project/project.ts";

/** Loads the modules of all processes, and the functions of the project. */
export async function loadProcesses(): Promise<void> {
  await Promise.all([
    import("./admission.ts"),
    import("./bridge.ts"),
    import("./failures.ts"),
    import("./gateway.ts"),
    import("./run.ts"),
    import("./worker.ts"),
  ]);
  await (await openProject()).all();
}
