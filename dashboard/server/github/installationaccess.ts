/**
 * Access check for Installations. The owner of an Installation gets its token, and its ID is only a number, so a user could name an
 * installation of another account. GitHub therefore has to confirm that the user can see the repositories, and push to them if
 * the token can write.
 *
 * This check covers requests through the dashboard. `spec.allowed` of the App limits its Installations for all clients.
 */
import { GitHubError } from "denrei/github";
import { z } from "zod";
import { mayCoverAll } from "../../api/github.ts";
import type { Session } from "../auth/sessions.ts";
import { errorBody } from "../errorbody.ts";
import type { GitHubClient, VisibleInstallation, VisibleRepository } from "./client.ts";
import { notConnected, notSetUp } from "./errorresponses.ts";

/** The fields that the check reads. Lenient, because the API server validates the object. */
const installationSchema = z.object({
  spec: z.object({
    installationID: z.int(),
    repositories: z.array(z.string()).nullish(),
    repositoryIDs: z.array(z.int()).nullish(),
    permissions: z.record(z.string(), z.string()).nullish(),
    apiPermissions: z.record(z.string(), z.string()).nullish(),
  }),
});

type ErrorBody = ReturnType<typeof errorBody>;

/** Why the user may not write the Installation; undefined if allowed. Throws a `GitHubError` if GitHub does not answer. */
export async function denialOf(
  github: GitHubClient | undefined,
  { github: user }: Pick<Session, "github">,
  object: unknown,
  signal: AbortSignal,
): Promise<ErrorBody | undefined> {
  if (github === undefined) return notSetUp;
  const read = installationSchema.safeParse(object);
  if (!read.success)
    return errorBody("NotAllowed", "The body is not an Installation with an integer installationID.");
  if (user === undefined) return notConnected;
  const { installationID, repositories, repositoryIDs, permissions, apiPermissions } = read.data.spec;
  const installations = await github.installations(user.token, signal);
  const installation = installations.find(({ id }) => id === installationID);
  if (installation === undefined) {
    return errorBody(
      "NotYourInstallation",
      `${user.login} cannot see the installation ${installationID} on GitHub. Choose another one, or ask its owner.`,
    );
  }
  if (!repositories?.length && !repositoryIDs?.length) return denialOfAll(installation, user.login);
  const seen = await visibleRepositories(github, user.token, installation, signal);
  const requested = [
    ...(repositories ?? []).map(
      (name) => [name, seen.find((one) => isNamed(one, installation, name))] as const,
    ),
    ...(repositoryIDs ?? []).map((id) => [id, seen.find((one) => one.id === id)] as const),
  ];
  const missing = requested.filter(([, found]) => found === undefined).map(([named]) => named);
  if (missing.length > 0) {
    return errorBody(
      "NotYourRepository",
      `${user.login} cannot see these repositories of ${installation.account} on GitHub: ${missing.join(", ")}.`,
    );
  }
  const readOnly = requested.filter(([, found]) => !found?.canPush).map(([named]) => named);
  const isReading = onlyReads(permissions ?? apiPermissions) && onlyReads(apiPermissions ?? permissions);
  return isReading || readOnly.length === 0
    ? undefined
    : errorBody(
        "ReadOnlyRepository",
        `${user.login} may not push to these repositories: ${readOnly.join(", ")}. Choose permissions that only read, or other repositories.`,
      );
}

/** Without listed permissions, a token has all permissions of the App. */
const onlyReads = (permissions: Readonly<Record<string, string>> | null | undefined): boolean => {
  const levels = Object.values(permissions ?? {});
  return levels.length > 0 && levels.every((level) => level === "read");
};

function denialOfAll(installation: VisibleInstallation, login: string): ErrorBody | undefined {
  if (mayCoverAll(installation, login)) return undefined;
  return errorBody(
    "AllRepositories",
    `Without repository names, the Installation covers all repositories of ${installation.account}. Name the repositories.`,
  );
}

async function visibleRepositories(
  github: GitHubClient,
  token: string,
  { id }: VisibleInstallation,
  signal: AbortSignal,
): Promise<readonly VisibleRepository[]> {
  try {
    return await github.repositories(token, id, signal);
  } catch (error) {
    // The installation was removed a moment ago.
    if (error instanceof GitHubError && error.status === 404) return [];
    throw error;
  }
}

/** GitHub names are case-insensitive. */
const isNamed = ({ fullName }: VisibleRepository, { account }: VisibleInstallation, name: string): boolean =>
  fullName.toLowerCase() === `${account}/${name}`.toLowerCase();
