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
  /** The project's own functions: their modules, or, if all of them may be loaded by every process, the functions themselves. */
  readonly functions?: FunctionModules | readonly ReconcileFunction[];
  /** Functions of other packages. Without a component there are no workers, watches, permissions, or CRDs of it. */
  readonly components?: readonly Component[];
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
