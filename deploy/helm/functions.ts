/** The functions of the chart: those of this repository. */
import { openProject } from "denrei/runtime";

export const functions = await (await openProject(import.meta.dirname)).all();
