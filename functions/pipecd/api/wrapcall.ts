/** Errors of calls. Loads the client's packages, unlike `errors.ts`. */
import { ConnectError } from "@connectrpc/connect";
import { PipecdError } from "./errors.ts";

/** Wraps an error of a call in a {@link PipecdError} with the name of the method. */
export async function wrapCall<T>(method: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw new PipecdError(method, ConnectError.from(error));
  }
}
