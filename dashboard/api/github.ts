/** The installations that GitHub shows to a user: what the server checks and the page explains. */

/** An installation of the dashboard's GitHub App. */
export interface ShownInstallation {
  readonly id: number;
  /** Login of the user or organization, or slug of the enterprise. */
  readonly account: string;
  readonly accountType: string;
}

/**
 * Whether an Installation of the user may cover all repositories: only with an account of the user's own. GitHub does not report
 * whether a user can see all repositories of an organization, including future ones.
 */
export const mayCoverAll = ({ account, accountType }: ShownInstallation, login: string): boolean =>
  accountType === "User" && account.toLowerCase() === login.toLowerCase();
