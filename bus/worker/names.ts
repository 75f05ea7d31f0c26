/** Names of functions and groups, which become names of Deployments, service accounts, bus users, and Secrets. */
import { optedInRole } from "../kube/domain.ts";
import { functionNamePattern } from "../subjects.ts";

/** Names of bus users, accounts, and Secrets that belong to the platform itself, and the word for all functions. */
const reservedNames = [
  "admin",
  "admission",
  "all",
  "backup",
  "bridge",
  "ca",
  "dashboard",
  "gateway",
  "nats",
  "operator",
  "restore",
  "run",
  "worker",
];

/** Says why a function or a group cannot have this name. Undefined if it can. */
export function nameProblem(what: "function" | "group", name: string): string | undefined {
  if (!functionNamePattern.test(name))
    return `expected a ${what} name of lower-case letters, digits and dashes (at most 40, a letter first), found "${name}"`;
  if (reservedNames.includes(name) || name.endsWith(optedInRole("")))
    return `expected a ${what} name other than "${name}": the platform uses it for its own accounts and users`;
  return undefined;
}
