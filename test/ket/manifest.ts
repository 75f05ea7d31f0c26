/** Manifests: objects in YAML. */
import { readFile } from "node:fs/promises";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

/** Identifies an object like the head of a manifest. Without a namespace it is in the run's own. */
export interface Named {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined };
}

/** An object to apply. */
export interface Manifest extends Named {
  readonly [field: string]: unknown;
}

const manifestSchema = z.looseObject({
  apiVersion: z.string("expected an API version, such as v1").min(1),
  kind: z.string("expected a kind, such as ConfigMap").min(1),
  metadata: z.looseObject(
    { name: z.string("expected a name").min(1), namespace: z.string("expected text").optional() },
    "expected metadata with a name",
  ),
});

/** An invalid fixture. The message names the file. */
export class FixtureError extends Error {
  override readonly name = "FixtureError";
}

/** `Kind name` or `Kind namespace/name`. */
export const nameText = ({ kind, metadata: { name, namespace } }: Named): string =>
  `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;

/** The objects of a file, in their order. Throws {@link FixtureError}. */
export async function readManifests(path: string): Promise<Manifest[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new FixtureError(`expected a file with manifests at ${path}, but ${(error as Error).message}`);
  }
  return manifestsIn(text, path);
}

/** The objects in a text. Throws {@link FixtureError}. */
export function manifestsIn(text: string, path: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document, at) => {
    const [error] = document.errors;
    if (error) throw new FixtureError(`expected YAML in ${path}, but ${error.message}`);
    const value: unknown = document.toJS();
    return value === null || value === undefined ? [] : [manifestOf(value, `${path}, document ${at + 1}`)];
  });
}

function manifestOf(value: unknown, where: string): Manifest {
  const result = manifestSchema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join(".") || "it"}: ${message}`);
  throw new FixtureError(`expected a manifest as ${where}, but ${problems.join("; ")}`);
}
