/** The overlays and components beside the base, and sites made of them. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { render } from "./kustomize.ts";
import { type Manifest, root } from "./manifests.ts";

const kubernetes = join(root, "deploy/kubernetes");

/** The objects of an overlay. */
export const overlay = (name: string): Promise<Manifest[]> => render(join(kubernetes, "overlays", name));

/** The objects of the production overlay with these components on top, as a site would have them. */
export const siteWith = (...components: readonly string[]): Promise<Manifest[]> =>
  site((at) =>
    JSON.stringify({
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      resources: [at("overlays/production")],
      components: components.map((name) => at(`components/${name}`)),
    }),
  );

/** The objects of a kustomization in a folder of its own, which names the project's by their paths. */
export async function site(text: (at: (path: string) => string) => string): Promise<Manifest[]> {
  const folder = await mkdtemp(join(tmpdir(), "test-site-"));
  try {
    const at = (path: string) => relative(folder, join(kubernetes, path));
    await writeFile(join(folder, "kustomization.yaml"), text(at));
    return await render(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
