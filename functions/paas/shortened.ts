/** Names that become parts of others. */
import { digestOf } from "../../bus/values/digest.ts";

/** A name that is not too long to be the value of a label: what is cut is told apart by a digest. */
export const shortened = (name: string, longest = 63): string =>
  name.length <= longest ? name : `${name.slice(0, longest - 9).replace(/[-.]+$/, "")}-${digestOf(name, 8)}`;
