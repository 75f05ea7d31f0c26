/** Whether a bridge works: which kinds it fails to watch, and whether the bus has its topology. */
import { isNotStored, notStored } from "../nats/publishbacklog.ts";

/** Most broken watches reopen at once. After this long, the bridge reports that it is not ready. Milliseconds. */
const unreadyAfterMillis = 5000;

/** The current errors of one bridge. */
export class Readiness {
  readonly #watchErrors = new Map<string, { readonly since: number; readonly error: Error }>();
  #topologyError: Error | undefined;

  /** Records the error that keeps the named kind from being watched; undefined when it is watched. */
  setWatchError(name: string, error: Error | undefined): void {
    if (error === undefined) this.#watchErrors.delete(name);
    else {
      const since = this.#watchErrors.get(name)?.since ?? performance.now();
      this.#watchErrors.set(name, { since, error });
    }
  }

  /** Records why the topology cannot be ensured; undefined when it is. */
  setTopologyError(error: Error | undefined): void {
    this.#topologyError = error;
  }

  /** Why the bridge is not ready; undefined when it is. */
  notReady(): string | undefined {
    for (const [name, { since, error }] of this.#watchErrors) {
      if (performance.now() - since <= unreadyAfterMillis) continue;
      // The lease is stored on the bus: if the bus stores nothing, no replica can hold it.
      return isNotStored(error) ? notStored(error) : `${name} is not watched: ${error.message}`;
    }
    return this.#topologyError && `failed to ensure the bus topology: ${this.#topologyError.message}`;
  }
}
