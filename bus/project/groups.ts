/** Groups of functions that share workers. */
import { didYouMean } from "../values/nearest.ts";
import { nameProblem } from "../worker/names.ts";
import type { ProjectConfig } from "./config.ts";
import { ProjectError } from "./errors.ts";

/** Names of functions, by the name of their group. */
export type Groups = ReadonlyMap<string, readonly string[]>;

/** Checks groups, and returns them. Throws a {@link ProjectError} that names the group and what is wrong with it. */
export function checkedGroups(
  file: string,
  groups: NonNullable<ProjectConfig["groups"]>,
  functionNames: readonly string[],
): Groups {
  const groupOf = new Map<string, string>();
  for (const [group, members] of Object.entries(groups)) {
    const problem = nameProblem("group", group);
    if (problem !== undefined) throw new ProjectError(`${file}: ${problem}`);
    if (functionNames.includes(group))
      throw new ProjectError(`${file}: the group ${group} has the name of a function: rename the group`);
    if (members.length === 0)
      throw new ProjectError(`${file}: the group ${group} has no functions: list some, or remove it`);
    for (const name of members) {
      if (!functionNames.includes(name))
        throw new ProjectError(
          `${file}: the group ${group} lists the unknown function "${name}"${didYouMean(name, functionNames)}: ` +
            `expected some of ${functionNames.join(", ")}`,
        );
      const other = groupOf.get(name);
      if (other !== undefined)
        throw new ProjectError(
          other === group
            ? `${file}: the group ${group} lists the function ${name} twice: remove one of them`
            : `${file}: the function ${name} is in the groups ${other} and ${group}: keep it in one of them`,
        );
      groupOf.set(name, group);
    }
  }
  return new Map(Object.entries(groups));
}

/** The groups without other functions than these, and without empty ones. */
export const groupsWithin = (groups: Groups, functionNames: readonly string[]): Groups =>
  new Map(
    [...groups]
      .map(([group, members]) => [group, members.filter((name) => functionNames.includes(name))] as const)
      .filter(([, members]) => members.length > 0),
  );
