/** `denrei.config.ts`: what a project consists of. */
import type { ReconcileFunction } from "../worker/function.ts";

/** The module of each function, by the function's name. A process loads only the functions that it runs. */
export type FunctionModules = Readonly<
  Record<string, () => Promise<{ readonly default: ReconcileFunction }>>
>;

/** Functions that belong together, as a package provides them. */
export interface Component {
  /** A lower-case word for the command line. */
  readonly name: string;
  readonly functions: FunctionModules;
}

/** The content of `denrei.config.ts`. */
export interface ProjectConfig {
  /** Distinguishes the project from others on the same bus. Default: the name in `package.json`. */
  readonly name?: string;
  /** The project's own functions: their modules, or, if all of them may be loaded by every process, the functions themselves. */
  readonly functions?: FunctionModules | readonly ReconcileFunction[];
  /** Functions of other packages. Without a component there are no workers, watches, permissions, or CRDs of it. */
  readonly components?: readonly Component[];
  /**
   * Functions that share workers in a cluster, by the name of their group: one Deployment, service account, bus user, and
   * certificate, with the rights of all of them. `denrei worker <group>` runs them. Functions without a group have their own workers.
   */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
  /** Name of the project's image, without a tag. Default: the name in its `package.json`. */
  readonly image?: string;
}

/**
 * Defines a project, as the default export of `denrei.config.ts`.
 *
 * @example
 * ```ts
 * export default defineConfig({
 *   functions: { greeting: () => import("./functions/greeting/greeting.ts") },
 * });
 * ```
 */
export const defineConfig = (config: ProjectConfig): ProjectConfig => config;
