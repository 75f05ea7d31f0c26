/** Which processes an installation has, and which functions share workers. */
import type { Groups, Project, ReconcileFunction } from "denrei/runtime";

/** Functions that share workers: a Deployment, a service account, a bus user, and a certificate, with the rights of all of them. */
export interface WorkerSet {
  /** The name of a group, or of the only function, or {@link sharedName}. Names the Deployment, the account, and the user. */
  readonly name: string;
  readonly functions: readonly ReconcileFunction[];
}

/** The processes of an installation. */
export interface Layout {
  readonly functions: readonly ReconcileFunction[];
  /** Disjoint sets of all functions. */
  readonly workers: readonly WorkerSet[];
  /** `one`: a single process, `denrei run`, is bridge, gateway, and worker. */
  readonly processes: "separate" | "one";
}

/** How much an installation needs, and which failures it tolerates. */
export const profiles = ["small", "standard", "production"] as const;
export type Profile = (typeof profiles)[number];

/** What the user chooses. */
export interface LayoutOptions {
  readonly profile: Profile;
  readonly oneProcess?: boolean | undefined;
}

/** The set of all functions without a group in a small installation. */
export const sharedName = "worker";
/** The process that is bridge, gateway, and worker: its role on the bus, and the only set of its layout. */
export const runName = "run";

/** The layout of a project. Loads all functions. */
export async function projectLayout(project: Project, options: LayoutOptions): Promise<Layout> {
  return layoutOf(await project.all(), project.groups, options);
}

/** The layout of these functions. */
export function layoutOf(
  functions: readonly ReconcileFunction[],
  groups: Groups,
  { profile, oneProcess = false }: LayoutOptions,
): Layout {
  if (oneProcess) return { functions, workers: [{ name: runName, functions }], processes: "one" };
  return { functions, workers: workerSets(functions, groups, profile), processes: "separate" };
}

/** The layout with separate workers for each function. */
export const separateLayout = (functions: readonly ReconcileFunction[]): Layout =>
  layoutOf(functions, new Map(), { profile: "standard" });

/** The sets of a profile, in the order of their first functions. */
function workerSets(functions: readonly ReconcileFunction[], groups: Groups, profile: Profile): WorkerSet[] {
  const groupOf = new Map([...groups].flatMap(([group, names]) => names.map((name) => [name, group])));
  const setOf = ({ name }: ReconcileFunction): string =>
    groupOf.get(name) ?? (profile === "small" ? sharedName : name);
  return [...Map.groupBy(functions, setOf)].map(([name, members]) => ({ name, functions: members }));
}

/**
 * Memory for a further function in the same worker, in MiB: 3 MiB while it is idle (measured: deploy/kubernetes/README.md), and the
 * rest for the objects that it reconciles concurrently, which have at most 1 MB each.
 */
const furtherFunctionMebibytes = 16;

/**
 * The memory limit of a worker, in MiB: that of its most demanding function, and a little for each further one. The sum of the limits
 * would be too much: the program and Node's unused heap, most of each limit, exist once, and peaks of functions rarely coincide.
 */
export const memoryOf = ({ functions }: WorkerSet): number =>
  Math.max(...functions.map(({ memoryMebibytes }) => memoryMebibytes)) +
  furtherFunctionMebibytes * (functions.length - 1);

/** Whether a function has webhooks. Otherwise there is no gateway. */
export const needGateway = (functions: readonly ReconcileFunction[]): boolean =>
  functions.some(({ webhooks }) => webhooks.length > 0);
