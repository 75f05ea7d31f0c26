/** All functions of this project. Code that needs only some of them loads these from the catalog. */
/** All built-in functions. Code that needs only some of them loads these from the catalog. */
import type { ReconcileFunction } from "denrei";
import { catalog } from "./catalog.ts";

const modules = await Promise.all(Object.values(catalog).map((load) => load()));

export const functions: readonly ReconcileFunction[] = modules.map((module) => module.default);
