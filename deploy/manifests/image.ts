/** The image of a project. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Project, UsageError } from "denrei/runtime";
import { imageName } from "../generate/workloads.ts";

/** An image: its name, and either its tag or its digest. */
export interface Image {
  readonly name: string;
  readonly version: { readonly tag: string } | { readonly digest: string };
}

const expected = "expected name:tag, such as registry.example.com/my-operator:0.1.0, or name@sha256:…";

/** Parses the name of an image. Throws a {@link UsageError} for one without a tag or digest. */
export function imageNamed(text: string): Image {
  const [, name, tag, digest] =
    /^((?:[\w.-]+(?::\d+)?\/)?[a-z0-9][a-z0-9._/-]*)(?::([\w][\w.-]{0,127})|@(sha256:[0-9a-f]{64}))$/.exec(
      text,
    ) ?? [];
  if (name !== undefined && tag !== undefined) return { name, version: { tag } };
  if (name !== undefined && digest !== undefined) return { name, version: { digest } };
  throw new UsageError(`--image: ${expected}, found "${text}"`);
}

/** The image that is named after the project: name and version of its `package.json`. */
export async function projectImage({ folder, image }: Project): Promise<Image> {
  const path = join(folder, "package.json");
  const manifest = await readFile(path, "utf8").then(JSON.parse, () => ({}));
  const { name = "", version = "" } = manifest as { readonly name?: string; readonly version?: string };
  // The scope becomes the first part of the path.
  const repository = image ?? name.replace(/^@/, "");
  if (repository === "" || version === "")
    throw new UsageError(`${path} has no name and version for the image: set --image <name:tag>`);
  return { name: repository, version: { tag: version } };
}

/** Replaces the image of the manifests in a kustomization. */
export const imageTransformer = ({ name, version }: Image) => ({
  name: imageName,
  newName: name,
  ...("tag" in version ? { newTag: version.tag } : { digest: version.digest }),
});
