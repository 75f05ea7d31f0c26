/** `denrei build` */
import { relative, resolve } from "node:path";
import { openProject, say } from "denrei/runtime";
import { bundleProject } from "../bundle/bundle.ts";

/** Bundles the project into a folder. */
export async function build({
  out,
  external = [],
}: {
  readonly out: string;
  readonly external?: readonly string[];
}): Promise<void> {
  const project = await openProject();
  const folder = resolve(out);
  await bundleProject({
    project,
    out: folder,
    external,
    onWarning: (text) => console.error(`denrei: warning: ${text}`),
  });
  say(`Bundled ${project.name} into ${relative(process.cwd(), folder) || folder}.`);
}
