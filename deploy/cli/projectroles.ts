/** Roles on the bus of several projects: each prints its own as a file, and one of them includes the files of the others. */
import { readFile } from "node:fs/promises";
import { mergePermissions, type Role } from "denrei/bus";
import { openProject, UsageError } from "denrei/runtime";
import { z } from "zod";
import { clusterRoles } from "../authorization.ts";
import type { Layout } from "../generate/layout.ts";

const rolesSchema = z.object({
  project: z.string(),
  /** Where the processes run. Undefined: in the namespace of the bus, or in another cluster. */
  namespace: z
    .string()
    .regex(/^[a-z0-9-]{1,63}$/)
    .optional(),
  /** The roles of functions. The others are those of the platform, which projects share. */
  functions: z.array(z.string()),
  roles: z.array(
    z.object({
      name: z.string(),
      account: z.enum(["bus", "own"]),
      permissions: z.object({ publish: z.array(z.string()), subscribe: z.array(z.string()) }),
    }),
  ),
});

/** The roles of one project in one cluster. */
export type ProjectRoles = z.infer<typeof rolesSchema>;

/** The roles of this project, in a layout, and the namespace for a project that includes them. */
export async function ownRoles(layout: Layout, cluster: string, namespace?: string): Promise<ProjectRoles> {
  const project = await openProject();
  const roles = clusterRoles(layout, cluster);
  // Every role of a cluster has limits.
  return rolesSchema.parse({ project: project.name, namespace, functions: project.functionNames, roles });
}

/** Reads what `denrei users --json` has printed. Throws a {@link UsageError} for another file. */
export async function readRoles(path: string): Promise<ProjectRoles> {
  try {
    return rolesSchema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new UsageError(
      `--include: expected a file that denrei users --json has printed, found ${path}: ${problem}`,
      { cause: error },
    );
  }
}

/**
 * The roles of all projects: their functions, and the platform's roles with the union of their permissions. Throws a
 * {@link UsageError} if two projects have a function of the same name.
 */
export function mergeRoles(all: readonly ProjectRoles[]): Role[] {
  const owners = new Map<string, string>();
  for (const { project, functions } of all)
    for (const fn of functions) {
      const owner = owners.get(fn) ?? project;
      if (owner !== project)
        throw new UsageError(
          `the projects "${owner}" and "${project}" both have a function ${fn}: rename it in one of them, because functions on one bus need different names`,
        );
      owners.set(fn, project);
    }
  const roles = all.flatMap((one) => one.roles);
  return [...Map.groupBy(roles, ({ name }) => name)].map(([name, same]) => ({
    name,
    account: same.some(({ account }) => account === "bus") ? "bus" : "own",
    permissions: mergePermissions(...same.map(({ permissions }) => permissions)),
  }));
}

/** The namespaces of projects that run in another one than the bus. */
export const furtherNamespaces = (all: readonly ProjectRoles[], ofBus: string): string[] => [
  ...new Set(
    all.flatMap(({ namespace }) => (namespace === undefined || namespace === ofBus ? [] : namespace)),
  ),
];
