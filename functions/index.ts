/**
 * `@denrei/functions`: all built-in functions. Programs that need only some of them load these from a component.
 *
 * @packageDocumentation
 */
import type { ReconcileFunction } from "denrei";
import { catalog } from "./catalog.ts";

const modules = await Promise.all(Object.values(catalog).map((load) => load()));

/** The built-in functions. */
export const functions: readonly ReconcileFunction[] = modules.map((module) => module.default);
