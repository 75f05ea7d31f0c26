/** State shared by the services of one control plane, in every version. */

/** Simulated outages of the stores. */
export interface Outage {
  /** MySQL, or MongoDB. */
  datastore: boolean;
  /** Redis. */
  cache: boolean;
}

/** State of every control plane. */
export interface Plane {
  readonly encryptionKey: Buffer;
  /** Projects of the configuration file. */
  readonly projects: ReadonlySet<string>;
  readonly outage: Outage;
  /** If set, the next change of a row is reported as a success but lost: see `ControlPlane.loseUpdate`. */
  readonly race: { isLost: boolean };
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Current time in the unit of stored times: seconds since the epoch. */
  readonly seconds: () => bigint;
}

/** Datastore faults that tests inject. */
export const tableFaults = ({ outage, race }: Plane) => ({
  isDown: () => outage.datastore,
  isOverwritten() {
    const { isLost } = race;
    race.isLost = false;
    return isLost;
  },
});
