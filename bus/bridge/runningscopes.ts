/** The scopes that run on one replica of the bridge. */
import type { Kind } from "../kube/kind.ts";
import type { LeaseTimes } from "./lease.ts";
import { type Lease, type NamedLeaseOptions, ownLease } from "./leases.ts";
import { leaseKey } from "./position.ts";
import type { Readiness } from "./readiness.ts";
import { type Scope, type ScopeState, type ScopeTools, scopesOf, scopeText, startScope } from "./scope.ts";

/** Options of {@link RunningScopes}. */
export interface RunningScopesOptions extends ScopeTools {
  /** Watch only these namespaces. Default: all. */
  readonly namespaces?: readonly string[];
  readonly leaseTimes?: LeaseTimes | undefined;
}

/** Options of one scope. */
export interface StartOptions {
  /** Default: a lease of its own. */
  readonly lease?: Lease;
  /** For a kind that the installation lists: the command that prints its roles. */
  readonly rightsCommand?: string;
}

/** Stops a scope. */
export type StopScope = () => Promise<void>;

/** Starts scopes, and keeps their states until they are stopped. */
export class RunningScopes {
  readonly #options: RunningScopesOptions;
  readonly #readiness: Readiness;
  readonly #scopes = new Map<Scope, Kind>();
  readonly #states = new Map<string, ScopeState>();

  constructor(options: RunningScopesOptions, readiness: Readiness) {
    this.#options = options;
    this.#readiness = readiness;
  }

  /** The state of each scope by its name. */
  get states(): ReadonlyMap<string, ScopeState> {
    return this.#states;
  }

  /** Number of existing objects in all scopes that this replica leads. */
  get objects(): number {
    return this.#options.metrics.progress.objects();
  }

  /** Options of a lease with this key. */
  leaseOf(key: string): NamedLeaseOptions {
    const { kv, replica, leaseTimes } = this.#options;
    return { kv, key, holder: replica, times: leaseTimes };
  }

  /** Starts a kind: one scope per namespace if the bridge watches only some, otherwise one. */
  startKind(kind: Kind, options?: StartOptions): StopScope[] {
    return scopesOf(kind, this.#options.namespaces).map((namespace) => this.start(kind, namespace, options));
  }

  /** Starts one scope. */
  start(kind: Kind, namespace: string | undefined, { lease, rightsCommand }: StartOptions = {}): StopScope {
    const name = scopeText(kind, namespace);
    const key = leaseKey(this.#options.cluster, kind, namespace);
    const scope = startScope({
      ...this.#options,
      kind,
      namespace,
      lease: lease ?? ownLease(this.leaseOf(key)),
      yields: lease === undefined,
      rightsCommand,
      onState: (state) => this.#states.set(name, state),
      onProblem: (error) => {
        // A missing role for a listed kind does not make the bridge unready.
        if (rightsCommand === undefined) this.#readiness.setWatchError(name, error);
      },
    });
    this.#scopes.set(scope, kind);
    return async () => {
      this.#scopes.delete(scope);
      await scope.stop();
      this.#states.delete(name);
    };
  }

  /** Restarts the scopes of all kinds, or of some, from what is on the bus. */
  restart(why: string, isAffected: (kind: Kind) => boolean = () => true): void {
    for (const [scope, kind] of this.#scopes) if (isAffected(kind)) scope.restart(why);
  }
}
