import { digestOf } from "denrei";

/** Shortens a name to fit into a label value. A digest keeps shortened names distinct. */
export const shorten = (name: string, longest = 63): string =>
  name.length <= longest ? name : `${name.slice(0, longest - 9).replace(/[-.]+$/, "")}-${digestOf(name, 8)}`;
