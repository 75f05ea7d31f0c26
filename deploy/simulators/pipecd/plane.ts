/** What the services of one control plane share, whatever its version. */

/** Stores that tests put out of reach, and back. */
export interface Outage {
  /** MySQL, or MongoDB. */
  datastore: boolean;
  /** Redis. */
  cache: boolean;
}

/** Of every control plane. */
export interface Plane {
  readonly encryptionKey: Buffer;
  /** Projects of the configuration file. */
  readonly projects: ReadonlySet<string>;
  readonly outage: Outage;
  /** The next change of a row is told as a success, and not there: see `ControlPlane.loseUpdate`. */
  readonly race: { isLost: boolean };
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** What is stored as a time: seconds since the epoch. */
  readonly seconds: () => bigint;
}

/** What tests do to the datastore. */
export const tableFaults = ({ outage, race }: Plane) => ({
  isDown: () => outage.datastore,
  isOverwritten() {
    const { isLost } = race;
    race.isLost = false;
    return isLost;
  },
});
