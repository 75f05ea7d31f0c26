/**
 * `denrei/project`: the configuration of a project. It loads nothing else, because every process reads it.
 *
 * @packageDocumentation
 */
import "../nodeversion.ts";

export { type Component, defineConfig, type FunctionModules, type ProjectConfig } from "../project/config.ts";
