/** The image of a project, and the package that it is named after. */
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

/** The image and the version of a project. */
export interface ProjectPackage {
  /** Name of the image, without a tag. */
  readonly image: string;
  readonly version: string;
  readonly description: string;
}

/**
 * The package of a project, from its `package.json`. Throws a {@link UsageError} with this advice if that has no name and version.
 */
export async function projectPackage({ folder, image }: Project, advice: string): Promise<ProjectPackage> {
  const path = join(folder, "package.json");
  const manifest = await readFile(path, "utf8").then(JSON.parse, () => ({}));
  const { name = "", version = "", description = "" } = manifest as Readonly<Record<string, string>>;
  // The scope becomes the first part of the path.
  const repository = image ?? name.replace(/^@/, "");
  if (repository === "" || version === "") throw new UsageError(`${path} has no name and version: ${advice}`);
  return { image: repository, version, description };
}

/** The image that is named after the project. */
export async function projectImage(project: Project): Promise<Image> {
  const { image, version } = await projectPackage(project, "set --image <name:tag>");
  return { name: image, version: { tag: version } };
}

/** Replaces the image of the manifests in a kustomization. */
export const imageTransformer = ({ name, version }: Image) => ({
  name: imageName,
  newName: name,
  ...("tag" in version ? { newTag: version.tag } : { digest: version.digest }),
});
