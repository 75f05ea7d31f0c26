/** Renders overlays and components, and sites made of them. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { site } from "../../deploy/helm/sources.ts";
import { type Manifest, root } from "./manifests.ts";
import { rendered, renderedOnce } from "./rendered.ts";

const kubernetes = "deploy/kubernetes";

/** The objects of the base. */
export const baseObjects = (): Promise<Manifest[]> => rendered(`${kubernetes}/base`);

/** The objects of an overlay. */
export const overlay = (name: string): Promise<Manifest[]> => rendered(`${kubernetes}/overlays/${name}`);

/** The objects of a separate kustomization, such as `users`. */
export const beside = (name: string): Promise<Manifest[]> => rendered(`${kubernetes}/${name}`);

/** The objects of the example site in deploy/kubernetes/README.md. */
export async function shownSite(): Promise<Manifest[]> {
  const readme = await readFile(join(root, kubernetes, "README.md"), "utf8");
  const [, text = ""] = /```yaml\n(.*?)```/s.exec(readme) ?? [];
  const shown = (at: (path: string) => string) =>
    text.replaceAll(/<denrei>\/deploy\/kubernetes\/(\S+)/g, (_, path: string) => at(path));
  return renderedOnce("shown site", () => site<Manifest>(shown));
}

/** The objects of a site with the production overlay and these components. */
export const siteWith = (...components: readonly string[]): Promise<Manifest[]> =>
  renderedOnce(`site with ${components}`, () =>
    site<Manifest>((at) =>
      JSON.stringify({
        apiVersion: "kustomize.config.k8s.io/v1beta1",
        kind: "Kustomization",
        resources: [at("overlays/production")],
        components: components.map((name) => at(`components/${name}`)),
      }),
    ),
  );
