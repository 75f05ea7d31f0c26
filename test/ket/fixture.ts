/** Fixtures: a folder per case, with the given objects and the expectations. */
import { readdir } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { FixtureError, type Manifest, nameText, readManifests } from "./manifest.ts";
import { isAbsence, mistakes } from "./match.ts";

/** One case. */
export interface Fixture {
  readonly name: string;
  /** From `given.yaml`, applied in this order. */
  readonly given: readonly Manifest[];
  /** From `expect.yaml`. */
  readonly expected: readonly Manifest[];
}

/** The expectation for an object, without the fields that identify it. */
export function expectationOf({ apiVersion: _, kind: __, metadata, ...rest }: Manifest): unknown {
  const {
    name: ___,
    namespace: ____,
    ...others
  } = metadata as Manifest["metadata"] & Record<string, unknown>;
  if (isAbsence(rest)) return rest;
  return Object.keys(others).length === 0 ? rest : { metadata: others, ...rest };
}

/** Reads the case with this name in a folder, or at this path. Throws {@link FixtureError} when it is invalid. */
export async function readFixture(folder: string | undefined, name: string): Promise<Fixture> {
  const path = isAbsolute(name) ? name : join(folder ?? expectFolder(name), name);
  const entries = await readdir(path).catch(() => undefined);
  if (entries === undefined) {
    const cases = folder === undefined ? [] : await readdir(folder).catch(() => []);
    throw new FixtureError(
      `expected the folder of a case at ${path}, found none. Cases are: ${cases.sort().join(", ") || "none"}`,
    );
  }
  for (const file of ["given.yaml", "expect.yaml"])
    if (!entries.includes(file))
      throw new FixtureError(`expected given.yaml and expect.yaml in ${path}, but there is no ${file}`);
  const [given, expected] = await Promise.all([
    readManifests(join(path, "given.yaml")),
    readManifests(join(path, "expect.yaml")),
  ]);
  if (expected.length === 0)
    throw new FixtureError(`expected at least one object in ${join(path, "expect.yaml")}, found none`);
  const wrong = expected.flatMap((one) => mistakes(expectationOf(one), nameText(one)));
  if (wrong.length > 0) throw new FixtureError(`${join(path, "expect.yaml")}: ${wrong.join("; ")}`);
  return { name, given, expected };
}

function expectFolder(name: string): never {
  throw new FixtureError(
    `expected the option fixtures, the folder that the case "${name}" is in, or the absolute path of the case`,
  );
}
