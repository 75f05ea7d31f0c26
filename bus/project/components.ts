/** The components of a project that an installation uses. */
import { didYouMean } from "../values/nearest.ts";
import type { Component } from "./config.ts";
import { ProjectError } from "./errors.ts";

/** The environment variable with the names of the enabled components, separated by commas, or `none`. Unset: all of the project. */
export const componentsVariable = "DENREI_COMPONENTS";

/** The enabled components. Throws a {@link ProjectError} for a name that the project does not have. */
export function enabledComponents(
  components: readonly Component[],
  env: Readonly<Record<string, string | undefined>>,
): readonly Component[] {
  const text = env[componentsVariable];
  if (text === undefined || text === "") return components;
  if (text === "none") return [];
  const names = text.split(",").map((name) => name.trim());
  const known = components.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new ProjectError(
      `${componentsVariable}: unknown component "${unknown}"${didYouMean(unknown, known)}: ` +
        (known.length === 0 ? "the project has no components" : `expected some of ${known.join(", ")}`),
    );
  return components.filter(({ name }) => names.includes(name));
}
