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
  readonly #scopes = new Set<Scope>();
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

  /** Options of a scope's lease. */
  leaseOf(kind: Kind, namespace?: string): NamedLeaseOptions {
    const { kv, cluster, replica, leaseTimes } = this.#options;
    return { kv, key: leaseKey(cluster, kind, namespace), holder: replica, times: leaseTimes };
  }

  /** Starts a kind: one scope per namespace if the bridge watches only some, otherwise one. */
  startKind(kind: Kind, options?: StartOptions): StopScope[] {
    return scopesOf(kind, this.#options.namespaces).map((namespace) => this.start(kind, namespace, options));
  }

  /** Starts one scope. */
  start(
    kind: Kind,
    namespace: string | undefined,
    { lease = ownLease(this.leaseOf(kind, namespace)), rightsCommand }: StartOptions = {},
  ): StopScope {
    const name = scopeText(kind, namespace);
    const scope = startScope({
      ...this.#options,
      kind,
      namespace,
      lease,
      rightsCommand,
      onState: (state) => this.#states.set(name, state),
      onProblem: (error) => {
        // A missing role for a listed kind does not make the bridge unready.
        if (rightsCommand === undefined) this.#readiness.setWatchError(name, error);
      },
    });
    this.#scopes.add(scope);
    return async () => {
      this.#scopes.delete(scope);
      await scope.stop();
      this.#states.delete(name);
    };
  }

  /** Restarts all scopes from what is on the bus. */
  restart(why: string): void {
    for (const scope of this.#scopes) scope.restart(why);
  }
}
