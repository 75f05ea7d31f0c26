/** Every function of this project, by name. */
import type { ReconcileFunction } from "../bus/worker/function.ts";
import hikawa from "./zundoko/hikawa.ts";

export const functions: readonly ReconcileFunction[] = [hikawa];
