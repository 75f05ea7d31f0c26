/** Module of each function by name. A worker loads only the functions that it runs. */
/** Module of each built-in function by name. */
import type { FunctionModules } from "denrei/project";
import { ghapp, paas, pipecd, zundoko } from "./components.ts";

export const catalog: FunctionModules = Object.assign(
  {},
  ...[zundoko, ghapp, paas, pipecd].map(({ functions }) => functions),
);
